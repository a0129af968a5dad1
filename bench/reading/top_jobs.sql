-- top ten of jobs
-- ours
SELECT rank, labels ->> 'job', total, rate, share, calls, per_call, coverage FROM jobstats_top(:since, :until, 'service_time', 'job');
-- by hand
WITH x AS MATERIALIZED (SELECT * FROM seen(:since, :until, :until - :since)),
done AS (
    SELECT e.job, sum(:service_time) AS usecs, sum(:service_calls) AS calls, sum((:service_time) / x.seconds) / 1e6 AS rate
    FROM jobstats.rollup_1d i JOIN jobstats.entries e USING (entry_id) JOIN x USING (target_id)
    WHERE i.bucket > :since AND i.bucket <= :until GROUP BY 1
)
SELECT row_number() OVER (ORDER BY d.usecs DESC, d.job), d.job, d.usecs / 1e6, d.rate, round(d.usecs / sum(d.usecs) OVER (), 4), d.calls,
    CASE WHEN d.calls >= 10 THEN d.usecs / 1e6 / d.calls END,
    (SELECT trunc((sum(x.seconds) / extract(epoch FROM :until - :since) / count(*))::numeric, 4) FROM x)
FROM done d WHERE d.usecs > 0 ORDER BY d.usecs DESC, d.job LIMIT 10;
