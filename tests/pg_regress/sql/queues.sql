-- jobstats_queues(): how long requests waited for a thread of a server.
\i store.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
-- A service with this many requests since it began, and the queueing time of each.
CREATE FUNCTION service(service text, minute numeric, requests numeric, wait_usecs numeric, start numeric DEFAULT -60) RETURNS text LANGUAGE sql STABLE AS $$
SELECT stats(service || '.stats', at(minute), at(start), jsonb_build_object('req_waittime', requests, 'req_waittime_usecs', requests * wait_usecs,
    'req_qdepth', requests, 'req_qdepth_usecs', 3 * requests, 'req_active', requests, 'req_active_usecs', 8 * requests, 'mds_getattr', requests))
$$;
CREATE FUNCTION feed(server text, minute numeric, VARIADIC texts text[]) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES ('', server, at(minute), array_to_string(texts, ''))
$$;
CREATE VIEW queued AS
SELECT server, service, minute(since) AS since, minute("time") AS until, requests, wait_usecs, depth, active
FROM jobstats.server_increments ORDER BY server, service, "time";
CREATE FUNCTION queues(since numeric, until numeric, step interval DEFAULT NULL)
RETURNS TABLE ("time" numeric, server text, service text, requests numeric, wait numeric, waiting numeric, depth numeric) LANGUAGE sql AS $$
SELECT minute(q."time"), q.server, q.service, q.requests, round(q.wait::numeric, 6), round(q.waiting::numeric, 6), round(q.depth::numeric, 3)
FROM jobstats_queues(at(since), at(until), step) q
$$;

-- Before any feed; a single text makes no row. The text has no target.
SELECT * FROM jobstats_queues();
SELECT feed('mds1', 0, service('mds.MDS.mdt', 0, 1000, 2000));
SELECT * FROM jobstats_queues(at(0), at(10));

-- 60 requests a minute, each queued for 2 ms. The server is not read at minute 10, where rows are divided.
SELECT feed('mds1', m, service('mds.MDS.mdt', m, 1000 + 60 * m, 2000), service('mds.MDS.mdt_readpage', m, 7, 1)) FROM unnest('{4,8,12,16}'::numeric[]) m;
SELECT * FROM queued;
SELECT * FROM queues(0, 16);
SELECT * FROM queues(8, 16, '4 min');
-- Windows that meet add up, wherever they divide a row.
SELECT sum(requests) AS requests, sum(wait_usecs) AS wait_usecs FROM queued WHERE service = 'mdt';
SELECT sum(q.requests), sum(round(q.requests * q.wait::numeric * 1000000)) FROM generate_series(-1, 16) m, jobstats_queues(at(m + 0.3), at(m + 1.3)) q;
SELECT * FROM queues(0, 60, '6 min') WHERE service = 'mdt';
SELECT time, wait FROM queues(-600, 60, '1 hour') WHERE service = 'mdt';

-- The same again; a late text divides the next row; a text whose counters do not fit in between has a wrong clock.
SELECT feed('mds1', 12, service('mds.MDS.mdt', 12, 1720, 2000));
SELECT feed('mds1', 14, service('mds.MDS.mdt', 14, 1930, 2000)), feed('mds1', 15, service('mds.MDS.mdt', 15, 5000, 2000));
SELECT * FROM queued WHERE service = 'mdt' AND until > 10;
SELECT * FROM queues(0, 16) WHERE service = 'mdt';
-- The service restarts, and is full from then on.
SELECT feed('mds1', 18, service('mds.MDS.mdt', 18, 100, 500000, 17));
SELECT * FROM queued WHERE service = 'mdt' AND until > 16;
SELECT * FROM queues(17, 18);
-- Seven hours pass without a reading. Two servers, and what their names are like.
SELECT feed('oss1', m, service('ost.OSS.ost_io', m, 600 + m, 10, -600)) FROM unnest('{-430,-5,5}'::numeric[]) m;
SELECT * FROM queued WHERE server = 'oss1';
SELECT server, service, requests FROM jobstats_queues(at(-430), at(60), filter => 'server=mds*,oss*');
SELECT server, service, requests FROM jobstats_queues(at(-430), at(60), filter => 'server=none');
SELECT server, service, requests FROM jobstats_queues(at(-430), at(60), filter => 'cluster=""', exclude => 'server=oss*');
SELECT * FROM jobstats_queues(filter => 'service=mdt');
SELECT * FROM jobstats_queues(filter => 'target=fs-*');
SELECT * FROM jobstats_queues(at(0), at(10), '-1 min');

-- Sums by the hour equal the rows at any moment, and answer after the rows are gone.
SELECT h.server, h.service, minute(h.bucket - interval '1 microsecond') AS hour, h.requests, h.observed_usecs / 1000000 AS seconds,
    h.requests = sum(i.requests) AND h.wait_usecs = sum(i.wait_usecs) AND h.active = sum(i.active) AS is_sum
FROM jobstats.server_hours h JOIN jobstats.server_increments i USING (server, service)
WHERE i."time" > h.bucket AND i."time" <= h.bucket + interval '1 hour' GROUP BY h.server, h.service, h.bucket, h.requests, h.wait_usecs, h.active, h.observed_usecs
ORDER BY 1, 2, 3;
CREATE TABLE before AS SELECT * FROM queues(-240, 60, '1 hour');
UPDATE jobstats.refresh SET horizon = at(-60), dropped = at(-60);
DELETE FROM jobstats.server_increments WHERE "time" <= at(-60);
TABLE before EXCEPT SELECT * FROM queues(-240, 60, '1 hour');
SELECT server, requests FROM queues(-210, -90);
UPDATE jobstats.refresh SET horizon = 'epoch', dropped = 'epoch';

-- Bad input: job_stats in the same text is stored. A wrong clock, impossible counters, an invalid line.
SELECT target, action, entries FROM jobstats_ingest('', 'mds1', at(20), service('mds.MDS.mdt', 20, 200, 500000, 17) || E'req_waittime x\n'
    || mdt('fs-MDT0000', life('1.1', at(0), 1, 10)) || E'mds.MDS.mdt_out.stats=snapshot_time 1 secs.usecs\nreq_waittime 99999999999999999999 samples [usec] 1 1 1 1\n');
SELECT feed('mds1', 22, service('mds.MDS.mdt', 22, 4000000000000000, 2, 17));
SELECT feed('mds1', 24, service('mds.MDS.mdt', 24, 4000000000000100, 2, 17));
SELECT feed('mds1', 1000000, service('mds.MDS.mdt', 24, 9, 2, 17));
SELECT feed('mds1', -1000000, service('mds.MDS.mdt', 24, 9, 2, 17));
SELECT * FROM queued WHERE service = 'mdt' AND until > 18;
SELECT "time", line, reason, text FROM rejects;
-- The row of the server in locks is kept while it is fed, and made again.
SELECT name FROM jobstats.locks WHERE name LIKE 'server%' ORDER BY 1;
INSERT INTO jobstats.locks VALUES ('server ''''/''gone''');
SELECT jobstats_internal.forget_samples();
DELETE FROM jobstats.locks WHERE name = 'server ''''/''mds1''';
SELECT feed('mds1', 26, service('mds.MDS.mdt', 26, 4000000000000200, 2, 17));
SELECT name FROM jobstats.locks WHERE name LIKE 'server%' ORDER BY 1;
-- Names of clusters and servers may have any characters; two servers never have one row.
BEGIN;
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT s.cluster, s.server, at(28), service('mds.MDS.mdt', 28, 1, 2, 1) FROM (VALUES ('a/b', 'c'), ('a', 'b/c'), ('a''/''b', 'c'), ('a', 'b''/''c')) AS s (cluster, server);
SELECT count(*) FROM jobstats.locks WHERE name LIKE 'server ''a%';
ROLLBACK;
