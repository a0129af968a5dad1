INSERT INTO jobstats.events (began, found, until, ended, targets, servers, value, usual, rate, details, confirmed, kind, cluster, filesystem, severity, updated)
VALUES ($1, $2, $3, CASE WHEN $4 THEN $3 END, $5, $6, $7, $8, $9, $10::jsonb, $11, $12, $13, $14, 'info', now())
RETURNING event_id
