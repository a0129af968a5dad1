-- The different lists of nodes of the runs of a job that lie in the span or reach into it, at most $4. Very long ones count as unknown, as
-- in matches.
SELECT DISTINCT j.node_list
FROM jobstats.job_ids i
JOIN jobstats.jobs j ON j.scheduler = i.scheduler AND j.job = i.job AND j.started >= i.started AND j.started <= i.last_started
WHERE i.job_no = $1 AND octet_length(j.node_list) <= 2048 AND j.started < $3 AND (j.ended > $2) IS NOT FALSE
LIMIT $4
