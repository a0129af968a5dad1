-- What an admin wants to see, by the public functions and views alone; run by psql, which prints each statement above its answer.
\pset footer off
\pset null ''
\pset linestyle unicode

\set ECHO queries

\echo
\echo 'Who wrote most, these 24 hours:'
SELECT rank, uid, jobstats_format(total, operation, 'total') AS written, jobstats_format(rate, operation) AS rate,
    round(100 * share) || ' %' AS share, jobstats_format(per_call, operation, 'per_call') AS "per call"
FROM jobstats_top(now() - interval '24 hours', now(), 'write_bytes', '{uid}', 5);

\echo 'Which jobs load the MDT puhti-MDT0001, this hour:'
SELECT rank, job, uid, jobstats_format(total, operation, 'total') AS requests, jobstats_format(rate, operation) AS rate,
    round(100 * share) || ' %' AS share
FROM jobstats_top(now() - interval '1 hour', now(), 'metadata', '{job,uid}', 5, target => '{puhti-MDT0001}');

\echo 'Who loads the file system right now, and what are they doing:'
SELECT target, workload, uid, operation AS mostly, jobstats_format(rate, operation) AS rate,
    jobstats_format(service_time, 'service_time') AS "requests in service", round(100 * share) || ' %' AS "share of target"
FROM jobstats_now(n => 3)
ORDER BY service_time DESC NULLS LAST
LIMIT 5;

\echo 'Who keeps OST puhti-OST0000 busy right now:'
SELECT rank, workload, uid, operation AS mostly, jobstats_format(rate, operation) AS rate,
    jobstats_format(service_time, 'service_time') AS "requests in service", round(100 * share) || ' %' AS share
FROM jobstats_now('puhti-OST0000', 5);

\echo 'How many users write how fast, hour by hour (each column an hour, the last one now; . 1  : 2-4  + 5-9  # 10 and more):'
WITH writing AS MATERIALIZED (
    SELECT extract(epoch FROM date_trunc('hour', "time") - date_trunc('hour', now())) / 3600 + 23 AS hour,
        least(greatest(bucket, 2), 9) AS decade, count
    FROM jobstats_densities(date_trunc('hour', now()) - interval '23 hours', now(), 'write_bytes', step => '1 hour')
), cells AS (
    SELECT decade, hour,
        (SELECT coalesce(sum(w.count), 0) FROM writing w WHERE w.decade = d.decade AND w.hour = h.hour) AS users
    FROM generate_series(2, 9) AS d (decade), generate_series(0, 23) AS h (hour)
)
SELECT CASE decade WHEN 2 THEN 'less'
        ELSE format('%s %s/s and more', 10 ^ (decade % 3), (ARRAY['kB', 'MB', 'GB'])[decade / 3]) END AS "bytes written",
    string_agg(CASE WHEN users = 0 THEN '  ' WHEN users = 1 THEN ' .' WHEN users < 5 THEN ' :' WHEN users < 10 THEN ' +'
        ELSE ' #' END, '' ORDER BY hour) AS users
FROM cells
GROUP BY decade
ORDER BY decade DESC;

\echo 'Is monitoring itself healthy:'
SELECT kind, status, count(*) AS targets, min(usual_interval) AS "usual interval"
FROM jobstats.health
GROUP BY kind, status
ORDER BY kind, status;
SELECT target, remedy FROM jobstats.health WHERE remedy IS NOT NULL ORDER BY target LIMIT 3 \gx

\echo 'What the numbers rest on, these 24 hours:'
SELECT kind, sum(observations) AS observations, sum(added) AS "entries added", sum(resets) AS resets, sum(gaps) AS gaps,
    sum(unknown) AS unknown, sum(problems) AS problems,
    round(100.0 * sum(ok) / sum(ok + missing_job + truncated + partial + malformed), 1) || ' %' AS "identifiers in order",
    round(100 * avg(operations_without_job)::numeric, 1) || ' %' AS "operations without job"
FROM jobstats.quality
WHERE hour > now() - interval '25 hours'
GROUP BY kind
ORDER BY kind;
