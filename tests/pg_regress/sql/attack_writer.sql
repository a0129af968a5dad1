-- A writer that is bound to its own targets cannot affect others; an unbound one cannot do so unseen.
\i store.sql
\set ECHO all
SET client_min_messages = warning;
CREATE ROLE regress_oss1;
CREATE ROLE regress_oss2;
CREATE ROLE regress_evil;
CREATE ROLE regress_targets;
CREATE ROLE regress_any;
GRANT USAGE ON SCHEMA texts TO PUBLIC;
GRANT SELECT ON texts.clock TO PUBLIC;
RESET client_min_messages;
CREATE FUNCTION count_of(cluster text, target text, calls numeric) RETURNS text LANGUAGE sql AS $$
SELECT ost(target, record('4711:1000:n1', calls, calls * 4096))
$$;
CREATE VIEW stored AS
SELECT t.cluster, t.name AS target, o.server, count(*) AS texts, sum(i.write) AS write
FROM jobstats.observations o JOIN jobstats.targets t USING (target_id)
LEFT JOIN (SELECT target_id, observed, sum(write) AS write FROM jobstats.increments GROUP BY 1, 2) i
    ON i.target_id = o.target_id AND i.observed = o."time"
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
CREATE VIEW rejected AS
SELECT cluster, server, target, reason, count(*) FROM jobstats.rejects GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4;

-- An unbound writer feeds the target of another server. Between two texts of the true server it is rejected. Later it is accepted, and then
-- text of the true server in between is rejected. Its sender gets a warning, and health names both.
SELECT jobstats_grant_writer('regress_any');
SET SESSION AUTHORIZATION regress_any;
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'free', 'oss1', now() - n * interval '2 minutes', count_of('free', 'fs-OST0000', 10 - n) FROM generate_series(2, 5) n ORDER BY n DESC;
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('free', 'evil', now() - interval '5 minutes', count_of('free', 'fs-OST0000', 900)),
    ('free', 'evil', now() - interval '3 minutes', count_of('free', 'fs-OST0000', 1)),
    ('free', 'evil', now() + interval '4 minutes 59 seconds', count_of('free', 'fs-OST0000', 2));
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('free', 'oss1', count_of('free', 'fs-OST0000', 10) || count_of('free', 'fs-OST0001', 1));
RESET SESSION AUTHORIZATION;
SELECT * FROM rejected WHERE cluster = 'free';
SELECT target, server, states, remedy FROM jobstats.health WHERE cluster = 'free' AND target = 'fs-OST0000';
-- It also sends false additional parameters.
CREATE FUNCTION theft() RETURNS timestamptz LANGUAGE sql AS $$ SELECT date_trunc('hour', now()) - interval '1 hour' $$;
CREATE FUNCTION beside(server text, ago interval, n integer) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (cluster, server, "time", body) SELECT 'free', server, now() - ago, stats('obdfilter.fs-OST0000.stats', now() - ago, theft() - interval '1 day', jsonb_build_object('punch', n))
    || stats('ost.OSS.ost_io.stats', now() - ago, theft() - interval '1 day', jsonb_build_object('req_waittime', n)) || format(E'osd-zfs.fs-OST0000.kbytesavail=%s\n', n)
    || CASE server WHEN 'evil' THEN format(E'osd-zfs.fs-OST0000.kbytesfree=%s\n', n) ELSE '' END
    || format(E'osd-zfs.fs-OST0000.quota_slave.acct_user=\nusr_accounting:\n- id: 1000\n  usage: { inodes: 1, kbytes: %s }\n', n)
$$;
SELECT beside('oss1', '10 min', 10), beside('oss1', '8 min', 12), beside('evil', '6 min', 1000), beside('evil', '4 min', 2000);
CREATE VIEW lies AS
SELECT (SELECT sum(i.punch) FROM jobstats.target_increments i) AS increments, (SELECT sum(r.punch) FROM jobstats.rollup_10m_targets r) AS of_10_minutes,
    (SELECT sum(r.punch) FROM jobstats.rollup_1h_targets r) AS of_hours, (SELECT sum(r.punch) FROM jobstats.rollup_1d_targets r) AS of_days,
    (SELECT sum(i.requests) FROM jobstats.server_increments i) AS requests, (SELECT sum(i.requests) FROM jobstats.server_hours i) AS requests_of_hours,
    (SELECT array_agg(s.name || ' ' || s.value ORDER BY s.name) FROM jobstats.sample_series s WHERE s.target_id IS NOT NULL) AS gauges,
    (SELECT sum(u.kbytes) FROM jobstats.used_now u) AS used;
SELECT * FROM lies;
-- Its false texts are removed, and later observations computed again.
CALL jobstats_maintain();
WITH observed AS (
    DELETE FROM jobstats.observations WHERE server = 'evil' AND received > now() - interval '1 hour' RETURNING target_id, "time"
), text AS (
    DELETE FROM jobstats.raw r USING observed o WHERE r.target_id = o.target_id AND r."time" = o."time"
), counted AS (
    DELETE FROM jobstats.increments i USING observed o WHERE i.target_id = o.target_id AND i.observed = o."time"
    RETURNING i.target_id, i.since, i."time"
)
INSERT INTO jobstats.dirty (target_id, span_from, span_to)
SELECT target_id, min(since), max("time") FROM counted GROUP BY target_id;
WITH readings AS (
    DELETE FROM jobstats.target_snapshots WHERE server = 'evil' AND received > now() - interval '1 hour' RETURNING target_id, "time"
)
DELETE FROM jobstats.target_increments i USING readings r WHERE i.target_id = r.target_id AND i.observed = r."time";
DELETE FROM jobstats.rollup_10m_targets WHERE bucket > theft() - interval '10 minutes';
DELETE FROM jobstats.rollup_1h_targets WHERE bucket > theft() - interval '1 hour';
DELETE FROM jobstats.rollup_1d_targets WHERE bucket > theft() - interval '1 day';
SELECT name, computed, changed FROM jobstats_reprocess(theft(), now() + interval '1 hour');
-- Queues of the server.
DELETE FROM jobstats.server_snapshots WHERE server = 'evil' AND "time" > theft();
DELETE FROM jobstats.server_increments WHERE server = 'evil' AND "time" > theft();
DELETE FROM jobstats.server_hours WHERE server = 'evil' AND bucket > theft();
-- Gauges: false series go, the others have no value until the next text.
WITH said AS (
    UPDATE jobstats.sample_series SET "time" = theft(), value = NULL, counter = NULL WHERE server = 'evil' AND "time" > theft() RETURNING series_id
), hours AS (
    DELETE FROM jobstats.samples_1h h USING said s WHERE h.series_id = s.series_id AND h.bucket > theft()
), energy AS (
    DELETE FROM jobstats.energy e USING said s WHERE e.series_id = s.series_id AND e.bucket > theft()
)
DELETE FROM jobstats.samples_1d d USING said s WHERE d.series_id = s.series_id AND d.bucket > theft() - interval '1 day';
DELETE FROM jobstats.sample_series s WHERE s.server = 'evil' AND s."time" = theft()
    AND NOT EXISTS (SELECT FROM jobstats.samples_1d d WHERE d.series_id = s.series_id);
-- Used space of its targets: the next lists, within an hour, take their place.
DELETE FROM jobstats.used_now u USING jobstats.targets t WHERE t.target_id = u.target_id AND t.name LIKE 'fs-OST0000';
DELETE FROM jobstats.used_first u USING jobstats.targets t WHERE t.target_id = u.target_id AND t.name LIKE 'fs-OST0000' AND u.day >= (theft() AT TIME ZONE 'UTC')::date;
DELETE FROM jobstats.used_lists u USING jobstats.targets t WHERE t.target_id = u.target_id AND t.name LIKE 'fs-OST0000' AND u.day >= (theft() AT TIME ZONE 'UTC')::date;
DELETE FROM jobstats.used WHERE filesystem = 'fs' AND day >= (theft() AT TIME ZONE 'UTC')::date;
SELECT * FROM lies;
SELECT beside('oss1', '2 min', 17);
SELECT * FROM lies;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('free', 'oss1', count_of('free', 'fs-OST0000', 10));
SELECT * FROM stored WHERE cluster = 'free';
SELECT target, what FROM jobstats_audit(now() - interval '1 hour', now() + interval '1 hour');
-- Where no text is rejected, a target that moves back and forth is named.
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'back', CASE WHEN n % 2 = 0 THEN 'oss1' ELSE 'evil' END, now() - n * interval '2 minutes', count_of('back', 'fs-OST0000', n)
FROM generate_series(1, 8) n ORDER BY n DESC;
SELECT target, server, states, remedy FROM jobstats.health WHERE cluster = 'back';

-- Bound to their own: the two servers of a pair to the targets that they have in common, another one to its own.
SELECT jobstats_grant_writer('regress_oss1', 'c1', 'oss1', 'fs-OST000*');
SELECT jobstats_grant_writer('regress_oss2', 'c1', 'oss2', 'fs-OST000*');
SELECT jobstats_grant_writer('regress_evil', 'c1', 'oss9*', 'fs-OST009*');
SELECT jobstats_grant_writer('regress_targets', 'c1', target => 'fs-OST008*');
SELECT role, cluster, server, target FROM jobstats.writers ORDER BY role::text;
SET SESSION AUTHORIZATION regress_oss1;
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'c1', 'oss1', now() - n * interval '2 minutes', count_of('c1', 'fs-OST0000', 10 - n) || count_of('c1', 'fs-OST0001', 10 - n)
FROM generate_series(2, 5) n ORDER BY n DESC;
-- Texts of a compromised server are accepted for its own targets only. Its clock is nine seconds ahead.
SET SESSION AUTHORIZATION regress_evil;
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('c1', 'oss9', clock_timestamp() + interval '9 seconds',
        count_of('c1', 'fs-OST0000', 1) || count_of('c1', 'fs-OST0090', 1) || count_of('c1', 'fs-OST0099', 1) || count_of('c1', 'new-OST0000', 1));
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'oss9b', E'obdfilter.fs-OST0000.job_cleanup_interval=7\n');
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'oss1', count_of('c1', 'fs-OST0090', 1));
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c2', 'oss9', count_of('c2', 'fs-OST0090', 1));
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (server, body) VALUES ('oss9', count_of('', 'fs-OST0090', 1));
INSERT INTO jobstats.feed (cluster, body) VALUES ('c1', count_of('c1', 'fs-OST0090', 1));
COPY jobstats.feed (cluster, server, body) FROM stdin;
c1	oss9	obdfilter.fs-OST0001.job_stats=job_stats:\n
\.
SET SESSION AUTHORIZATION regress_oss1;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'oss1', count_of('c1', 'fs-OST0000', 10) || count_of('c1', 'fs-OST0001', 10));
RESET SESSION AUTHORIZATION;
SELECT * FROM stored WHERE cluster = 'c1';
SELECT * FROM rejected WHERE cluster = 'c1';
SELECT count(*) FROM jobstats.targets WHERE name = 'new-OST0000' OR cleanup_interval IS NOT NULL;
SELECT target, server, states, remedy FROM jobstats.health WHERE cluster = 'c1' ORDER BY target;
-- Only a star in a name is a pattern.
SELECT jobstats_grant_writer('regress_oss1', 'c9', 'oss_1', 'scratch_1-OST0000');
SET SESSION AUTHORIZATION regress_oss1;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c9', 'ossX1', count_of('c9', 'scratch_1-OST0000', 1));
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c9', 'oss_1', count_of('c9', 'scratch_1-OST0000', 1) || count_of('c9', 'scratchX1-OST0000', 1));
RESET SESSION AUTHORIZATION;
SELECT * FROM stored WHERE cluster = 'c9';
SELECT * FROM rejected WHERE cluster = 'c9';

-- Additional parameters about space and owners of other targets are rejected too. Services and health belong to the server, to which it is
-- bound.
SET SESSION AUTHORIZATION regress_evil;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'oss9', count_of('c1', 'fs-OST0091', 1)
    || E'health_check=NOT HEALTHY\nost.OSS.ost_io.stats=\nsnapshot_time 1 secs.usecs\nreq_waittime 7 samples [usec] 1 1 7 7\n'
    || E'osd-zfs.fs-OST0000.kbytesavail=0\nosd-zfs.fs-OST0091.kbytesavail=5\nobdfilter.fs-OST0000.recovery_status=status: RECOVERING\n'
    || E'osd-zfs.fs-OST0000.quota_slave.acct_user=\nusr_accounting:\n- id: 1000\n  usage: { inodes: 1, kbytes: 1 }\n'
    || E'osd-zfs.fs-OST0091.quota_slave.acct_user=\nusr_accounting:\n- id: 1000\n  usage: { inodes: 1, kbytes: 2 }\n');
-- A writer that is bound to targets only could send these for any server.
SET SESSION AUTHORIZATION regress_targets;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'oss8', count_of('c1', 'fs-OST0081', 1) || E'health_check=NOT HEALTHY\n');
RESET SESSION AUTHORIZATION;
SELECT s.server, s.target, s.name, s.value, (SELECT sum(u.kbytes) FROM jobstats.used_now u) AS used, (SELECT count(*) FROM jobstats.server_snapshots r) AS services
FROM jobstats.samples s ORDER BY s.name;
SELECT target, reason, text FROM jobstats.rejects WHERE server IN ('oss8', 'oss9') AND received > now() - interval '1 hour' AND (text LIKE '%of the server' OR text IS NULL);

-- Who feeds is who inserts, whoever's session it is. The function of an index runs with the rights of the table's owner where a superuser, or
-- autovacuum, analyzes the table.
CREATE ROLE regress_anon;
CREATE SCHEMA evil AUTHORIZATION regress_evil;
GRANT USAGE ON SCHEMA evil TO regress_anon;
SET SESSION AUTHORIZATION regress_evil;
CREATE TABLE evil.t AS SELECT count_of('c1', 'fs-OST0005', 5) AS body;
CREATE FUNCTION evil.f(body text) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 1; END';
CREATE INDEX ON evil.t (evil.f(body));
CREATE FUNCTION evil.feed(server text, body text) RETURNS void LANGUAGE sql AS 'INSERT INTO jobstats.feed (cluster, server, body) VALUES (''c1'', server, body)';
CREATE FUNCTION evil.ingest(server text, body text) RETURNS void LANGUAGE sql AS 'SELECT jobstats_internal.ingest(''c1'', server, NULL, body, NULL, NULL, NULL, NULL, NULL)';
CREATE OR REPLACE FUNCTION evil.f(body text) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    way text;
BEGIN
    FOREACH way IN ARRAY ARRAY['feed', 'ingest'] LOOP
        BEGIN
            EXECUTE format('SELECT evil.%I(''oss1'', $1)', way) USING body;
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING '% as % in a session of %: %', way, current_user, CASE session_user WHEN 'regress_evil' THEN session_user ELSE 'a superuser' END, SQLERRM;
        END;
    END LOOP;
    RETURN 1;
END
$$;
RESET SESSION AUTHORIZATION;
ANALYZE evil.t;
SELECT count(*) FROM jobstats.targets WHERE name = 'fs-OST0005';
-- Rows that its function feeds for another role belong to it, within its limits; so do rows of a role that has become it. No other role
-- gets in.
SET SESSION AUTHORIZATION regress_evil;
ALTER FUNCTION evil.feed(text, text) SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
SET SESSION AUTHORIZATION regress_anon;
SELECT evil.feed('oss9', count_of('c1', 'fs-OST0092', 1) || count_of('c1', 'fs-OST0005', 1));
SELECT evil.feed('oss1', count_of('c1', 'fs-OST0005', 1));
\echo :LAST_ERROR_SQLSTATE
SELECT evil.ingest('oss9', count_of('c1', 'fs-OST0092', 2));
\echo :LAST_ERROR_SQLSTATE
RESET SESSION AUTHORIZATION;
CREATE ROLE regress_login NOINHERIT IN ROLE regress_evil;
SET SESSION AUTHORIZATION regress_login;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'oss9', count_of('c1', 'fs-OST0093', 1));
SET ROLE regress_evil;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'oss9', count_of('c1', 'fs-OST0093', 1));
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'oss1', count_of('c1', 'fs-OST0005', 1));
RESET SESSION AUTHORIZATION;
-- A row of writers alone is no right to feed.
REVOKE INSERT ON jobstats.feed FROM regress_evil;
SET SESSION AUTHORIZATION regress_evil;
SELECT jobstats_internal.ingest('c1', 'oss9', NULL, count_of('c1', 'fs-OST0092', 3), NULL, NULL, NULL, NULL, NULL);
\echo :LAST_ERROR_SQLSTATE
RESET SESSION AUTHORIZATION;
GRANT INSERT ON jobstats.feed TO regress_evil;
SELECT * FROM stored WHERE target IN ('fs-OST0005', 'fs-OST0092', 'fs-OST0093');
-- Its view opens no other way: inserting there feeds for the own role. After an error no rights of the feed remain.
SET SESSION AUTHORIZATION regress_evil;
CREATE VIEW evil.v AS SELECT * FROM jobstats.feed;
GRANT INSERT ON evil.v TO regress_anon;
SET SESSION AUTHORIZATION regress_anon;
INSERT INTO evil.v (cluster, server, body) VALUES ('c1', 'oss9', 'x');
SET SESSION AUTHORIZATION regress_login;
SET ROLE regress_evil;
DO $$ BEGIN
    INSERT INTO jobstats.feed (cluster, server, body_zstd) VALUES ('c1', 'oss9', 'x');
EXCEPTION WHEN invalid_binary_representation THEN
    RAISE NOTICE '%', current_user;
    EXECUTE 'RESET ROLE';
    EXECUTE 'CREATE TEMPORARY TABLE mine () ON COMMIT DROP';
    RAISE NOTICE '%', current_user;
END $$;
RESET SESSION AUTHORIZATION;

-- A failover without a pause: the target restarts on the other server, and the last text of the first server is placed.
SET SESSION AUTHORIZATION regress_oss2;
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES ('c1', 'oss2', clock_timestamp() + interval '2 seconds', count_of('c1', 'fs-OST0000', 3));
SET SESSION AUTHORIZATION regress_oss1;
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('c1', 'oss1', clock_timestamp() + interval '1 second', count_of('c1', 'fs-OST0000', 11) || count_of('c1', 'fs-OST0090', 1));
RESET SESSION AUTHORIZATION;
SELECT * FROM stored WHERE cluster = 'c1' AND target = 'fs-OST0000';
SELECT states, remedy FROM jobstats.health WHERE cluster = 'c1' AND target = 'fs-OST0000';

-- Rights are the rows of writers, for all roles that a role inherits. A dropped role does not unbind others.
CREATE ROLE regress_site;
CREATE ROLE regress_member IN ROLE regress_site, regress_oss2;
GRANT USAGE ON SCHEMA jobstats TO regress_member;
GRANT INSERT ON jobstats.feed TO regress_member;
SELECT jobstats_grant_writer('regress_site', 'c3');
SET SESSION AUTHORIZATION regress_member;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c3', 'oss3', count_of('c3', 'fs-OST0000', 1));
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'oss2', count_of('c1', 'fs-OST0007', 1) || count_of('c1', 'fs-OST0017', 1));
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c4', 'oss2', count_of('c1', 'fs-OST0007', 1));
RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_site;
DROP ROLE regress_site;
SELECT count(*) AS left_over FROM jobstats.writers w WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = w.role);
SET SESSION AUTHORIZATION regress_member;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c3', 'oss3', count_of('c3', 'fs-OST0000', 2));
\echo :LAST_ERROR_SQLSTATE
RESET SESSION AUTHORIZATION;
DELETE FROM jobstats.writers WHERE role = 'regress_oss2'::regrole;
SET SESSION AUTHORIZATION regress_oss2;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'oss2', count_of('c1', 'fs-OST0000', 4));
SET SESSION AUTHORIZATION regress_member;
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c1', 'oss2', count_of('c1', 'fs-OST0000', 4));
RESET SESSION AUTHORIZATION;
SET client_min_messages = warning;
SELECT jobstats_setup() IS NOT NULL AS ready \gset
RESET client_min_messages;
SELECT role, cluster, server, target FROM jobstats.writers ORDER BY role::text;

-- A bound role stays bound; a bound replaces a wider right; others are added.
SELECT jobstats_grant_writer('regress_evil');
SELECT jobstats_grant_writer('regress_any', 'c5');
SELECT jobstats_grant_writer('regress_any', 'c5');
SELECT jobstats_grant_writer('regress_any', 'c5', target => 'a*');
SELECT jobstats_grant_writer('regress_any', 'c5', 'oss1');
SELECT jobstats_grant_writer('regress_any', 'c6', 'oss1', 'b*');
SELECT cluster, server, target FROM jobstats.writers WHERE role = 'regress_any'::regrole ORDER BY 1, 2, 3;
SELECT jobstats_grant_writer(NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_grant_writer('regress_nobody');
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_grant_writer('public');
SELECT jobstats_grant_reader(NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_grant_writer('regress_any', repeat('c', 256));
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_grant_writer('regress_any', E'c\\', E'oss\\\\', E'a\\_');

-- Names have a maximum length. A longer one in a text does not prevent the other rows from being stored.
INSERT INTO jobstats.feed (cluster, server, body) VALUES (repeat('c', 9000), 'oss1', count_of('', 'fs-OST0000', 4));
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (cluster, server, body) VALUES ('c7', repeat('s', 256), count_of('', 'fs-OST0000', 4));
\echo :LAST_ERROR_SQLSTATE
CREATE FUNCTION noise(length integer) RETURNS text LANGUAGE sql AS $$
SELECT left(string_agg(md5(n::text), ''), length) FROM generate_series(1, length / 32 + 1) n
$$;
INSERT INTO jobstats.feed (cluster, server, "time", body, shipper, duration)
SELECT 'c7', 'oss1', at(n), ost('fs-OST0000', record(noise(20000) || ':1000:n1', n, n), record('1:' || noise(20000) || ':n1', n, n),
        record(noise(20000), n, n), record('1:1000:n1', n, n)) || format(E'obdfilter.%s.job_stats=\njob_stats:\n', noise(20000))
    || format(E'error: get_param: obdfilter/%s/job_stats: Input/output error\n', replace(noise(20000), '.', '')),
    repeat('é', 200), '178000000 years'
FROM generate_series(1, 2) n ORDER BY n;
SELECT t.name, octet_length(e.name) AS entry, e.job, e.status, i.write
FROM jobstats.increments i JOIN jobstats.entries e USING (entry_id) JOIN jobstats.targets t USING (target_id)
WHERE t.cluster = 'c7' ORDER BY octet_length(e.name), e.name;
SELECT DISTINCT octet_length(shipper) AS shipper, duration FROM jobstats.observations o JOIN jobstats.targets t USING (target_id) WHERE t.cluster = 'c7';
SELECT states FROM jobstats.health WHERE cluster = 'c7';
SELECT max(octet_length(target)) AS target FROM jobstats.rejects WHERE cluster = 'c7';

SET client_min_messages = warning;
DROP OWNED BY regress_oss1, regress_oss2, regress_evil, regress_targets, regress_any, regress_member, regress_anon CASCADE;
DROP ROLE regress_oss1, regress_oss2, regress_evil, regress_targets, regress_any, regress_member, regress_anon, regress_login;
