-- Updates event $12. Of an earlier event ($13) only the end and additions are known.
UPDATE jobstats.events event
SET (began, found, confirmed, until, ended, targets, servers, value, usual, rate, details, withdrawn, updated) = (
    new.began, new.found, new.confirmed, new.until, new.ended, new.targets, new.servers, new.value, new.usual, new.rate, new.details, NULL, now())
FROM (
    SELECT e.event_id, $1 AS began, $3 AS until, CASE WHEN $4 THEN $3 END AS ended,
        CASE WHEN $13 THEN e.found ELSE $2 END AS found,
        CASE WHEN $13 THEN coalesce(e.confirmed, $11) ELSE $11 END AS confirmed,
        CASE WHEN $13 THEN ARRAY(SELECT DISTINCT unnest(e.targets || $5) ORDER BY 1) ELSE $5 END AS targets,
        CASE WHEN $13 THEN ARRAY(SELECT DISTINCT unnest(e.servers || $6) ORDER BY 1) ELSE $6 END AS servers,
        CASE WHEN $13 THEN e.value ELSE $7 END AS value,
        CASE WHEN $13 THEN e.usual ELSE $8 END AS usual,
        CASE WHEN $13 THEN e.rate ELSE $9 END AS rate,
        CASE WHEN $13 THEN e.details ELSE $10::jsonb END AS details
    FROM jobstats.events e
    WHERE e.event_id = $12
) new
WHERE event.event_id = new.event_id
    AND (event.began, event.found, event.confirmed, event.until, event.ended, event.targets, event.servers, event.value, event.usual, event.rate, event.details, event.withdrawn)
        IS DISTINCT FROM (new.began, new.found, new.confirmed, new.until, new.ended, new.targets, new.servers, new.value, new.usual, new.rate, new.details, NULL::timestamptz)
