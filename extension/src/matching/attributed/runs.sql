-- The runs of a user that lie in the span or reach into it, at most $4. A very long list of nodes counts as unknown, as in matches.
SELECT i.job_no, j.scheduler, (extract(epoch FROM j.started) * 1000000)::bigint AS started,
    (extract(epoch FROM j.ended) * 1000000)::bigint AS ended, (extract(epoch FROM j.updated) * 1000000)::bigint AS updated,
    CASE WHEN octet_length(j.node_list) <= 2048 THEN j.node_list END AS node_list, j.nodes
FROM jobstats.job_ids i
JOIN jobstats.jobs j ON j.scheduler = i.scheduler AND j.job = i.job AND j.started >= i.started AND j.started <= i.last_started
WHERE i.uid = $1 AND i.started < $3 AND coalesce(i.ended, timestamptz 'infinity') > $2
    AND j.started < $3 AND (j.ended > $2) IS NOT FALSE
LIMIT $4
