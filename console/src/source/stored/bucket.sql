-- The targets that did something in a bucket of a rollup ($1), as if they had been observed at its end; $2 and $3 are patterns.
SELECT now() AS now, t.target_id, t.cluster, t.name, t.kind, '' AS server, b.since + interval '@width@' AS "time", b.since,
    interval '@width@' AS usual, 0 AS entries, 0 AS problems, 0 AS added, 0 AS resets, 0 AS removed
FROM (SELECT $1::timestamptz - interval '1 microsecond' AS since) b
CROSS JOIN (SELECT DISTINCT i.target_id FROM jobstats.@view@ i WHERE i.bucket = $1) i
JOIN jobstats.targets t ON t.target_id = i.target_id
WHERE ($2 IS NULL OR t.cluster LIKE $2) AND ($3 IS NULL OR t.filesystem LIKE $3)
ORDER BY t.cluster, t.name
