-- A server was cut off for three days. Its shipper sends the backlog, oldest first, while maintenance drops raw text older than two days.
-- The newest text of a target is retained whatever its age, so that the next one continues it; so is the newest reading of its target
-- counters and of each service.
\i store.sql
\set ECHO all
SELECT jobstats_setup(raw_retention => '10 days', retention => '20 days') IS NOT NULL AS ready;
UPDATE texts.clock SET zero = date_trunc('minute', now()) - interval '73 hours';

-- Eleven texts from 73 hours to one hour ago: job 77, which opens one more file before each, and one job for each text that lives
-- for an hour and opens one file. That makes 10 + 10 calls after the first text.
CREATE TABLE readings AS
SELECT n, at(n * 432) AS "time", mdt('fs-MDT0000', life('77:1:c1', at(-60), n + 1, n + 1),
    CASE WHEN n > 0 THEN life('short' || n || '.1', at(n * 432 - 60), 1, 1) END)
    || stats('mdt.fs-MDT0000.md_stats', at(n * 432), at(-60), jsonb_build_object('open', 100 * (n + 1)))
    || stats('mds.MDS.mdt.stats', at(n * 432), at(-60), jsonb_build_object('req_waittime', 1000 * (n + 1), 'req_waittime_usecs', 5000 * (n + 1)))
    || stats('mds.MDS.mdt_out.stats', at(n * 432), at(-60), jsonb_build_object('req_waittime', 10 * (n + 1), 'req_waittime_usecs', 50 * (n + 1)))
    || format(E'osd-ldiskfs.fs-MDT0000.kbytesfree=%s\n', 1000 - n) AS body
FROM generate_series(0, 10) n;

-- Before the outage: one text of the target, and two of targets that fell silent longer ago. The job 77 also works on another
-- target, which is not cut off.
INSERT INTO jobstats.feed (cluster, server, "time", body) SELECT 'backlog', 'mds1', "time", body FROM readings WHERE n = 0;
SELECT jobstats_internal.add_partitions('raw', 'day', now() - interval '8 days', now()) >= 0 AS made;
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'silent', 'mds1', now() - days * interval '1 day', mdt(target, life('x.1', at(-60 * 24 * 8), 1, 1))
FROM (VALUES (6, 'fs-MDT0001'), (6.01, 'fs-MDT0001'), (5.99, 'fs-MDT0002'), (4, 'fs-MDT0002')) AS v (days, target);

INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'elsewhere', 'mds2', now() - minutes * interval '1 minute', mdt('fs-MDT0003', life('77:1:c1', at(-60), 5 - minutes, 5 - minutes))
FROM generate_series(4, 1, -1) AS minutes;
SELECT jobstats_setup(raw_retention => '2 days') IS NOT NULL AS ready;
CALL jobstats_maintain();
SELECT t.name AS target, array_agg(round(extract(epoch FROM now() - r."time") / 86400, 2) ORDER BY r."time") AS days
FROM jobstats.raw r JOIN jobstats.targets t USING (target_id) WHERE t.cluster = 'silent' AND r."time" < now() - interval '4 days'
GROUP BY t.name ORDER BY t.name;
-- TimescaleDB reports empty steps.
SET client_min_messages = warning;
\o /dev/null
SELECT format('INSERT INTO jobstats.feed (cluster, server, "time", body) SELECT %L, %L, "time", body FROM readings WHERE n = %s',
        'backlog', 'mds1', n), 'CALL jobstats_maintain()'
FROM readings WHERE n > 0 ORDER BY n
\gexec
\o
RESET client_min_messages;

-- Text that does not continue the newest of its target is too late still, here of a day that is dropped at any time of the day.
INSERT INTO jobstats.feed (cluster, server, "time", body) SELECT 'backlog', 'mds1', "time" - interval '1 minute', body FROM readings WHERE n = 0;
INSERT INTO jobstats.feed (cluster, server, "time", body) SELECT 'other', 'mds1', "time", body FROM readings WHERE n = 1;

-- The whole job is found, though it was seen on the other target three days later.
SELECT target, total AS opened FROM (SELECT * FROM jobstats_job_usage('77') r, dims(r.labels)) AS jobstats_job_usage WHERE operation = 'open' ORDER BY target;

-- Without an outage, for comparison.
SELECT jobstats_setup(raw_retention => '10 days') IS NOT NULL AS ready;
INSERT INTO jobstats.feed (cluster, server, "time", body) SELECT 'in order', 'mds1', "time", body FROM readings ORDER BY n;
SELECT t.cluster, sum(i.open) AS opened, count(DISTINCT i.entry_id) AS jobs
FROM jobstats.increments i JOIN jobstats.targets t USING (target_id) WHERE t.cluster IN ('backlog', 'in order') GROUP BY t.cluster ORDER BY t.cluster;
CREATE VIEW counted AS
SELECT t.cluster, t.name AS of, sum(i.open) AS first, sum(i.open_usecs) AS second, min(i.since) AS since, max(i."time") AS until
FROM jobstats.target_increments i JOIN jobstats.targets t USING (target_id) GROUP BY 1, 2
UNION ALL
SELECT cluster, service, sum(requests), sum(wait_usecs), min(since), max("time") FROM jobstats.server_increments GROUP BY 1, 2;
SELECT cluster, of, first, second, until - since AS span FROM counted WHERE cluster IN ('backlog', 'in order') ORDER BY 2, 1;
SELECT s.cluster, s.name, count(*) AS buckets, sum(h.count) AS values
FROM jobstats.samples_1h h JOIN jobstats.sample_series s USING (series_id) WHERE s.cluster IN ('backlog', 'in order') GROUP BY 1, 2 ORDER BY 2, 1;
SELECT * FROM differences('in order', 'backlog') WHERE relation <> 'raw';
SELECT reason, count(*) FROM jobstats.rejects GROUP BY reason;
SELECT step, problem FROM jobstats.maintenance WHERE problem IS NOT NULL;
SELECT * FROM wrong_spans();
