-- After a change of formats maintenance identifies all entries again, in portions, while feeds and questions go on.
\i store.sql
\set ECHO all
\set VERBOSITY terse
CREATE VIEW under_way AS
SELECT states, remedy FROM jobstats.health WHERE target IS NULL AND remedy LIKE 'Identifiers%';
CREATE VIEW by_user AS
SELECT uid, total FROM (SELECT * FROM jobstats_totals(at(0), at(60), 'write', 'uid') r, dims(r.labels)) AS jobstats_totals ORDER BY uid;

-- 25,000 entries of three portions, some of them active.
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(0), ost('fs-OST0000'));
INSERT INTO jobstats.feed (server, "time", body) SELECT 'oss1', at(5), ost('fs-OST0000', VARIADIC ARRAY(
    SELECT record(format('%s:%s:n1', 100 + n % 7, n % 3), n, n * 4096) FROM generate_series(1, 1000) n));
INSERT INTO jobstats.entries (entry_id, name, job, uid, node, format, status, workload, first_seen)
SELECT hashint8extended(n, 0), format('%s:%s:n2', n, n % 3), n, n % 3, 'n2', '%j:%u:%H', 'ok', n, now() FROM generate_series(1, 25000) n;
SELECT name FROM jobstats.entries WHERE name LIKE '%:n1' ORDER BY name COLLATE "C" LIMIT 3;
SET client_min_messages = warning;
CALL jobstats_maintain();
RESET client_min_messages;
TABLE under_way;
TABLE by_user;
SELECT level, users_refreshed = refreshed AS sums FROM jobstats.rollups ORDER BY width;

-- The user comes first. A feed follows at once, stored entries follow step by step.
UPDATE jobstats.entry_formats SET format = '%u:%j:%H' WHERE format = '%j:%u:%H';
TABLE under_way;
SELECT jobstats_internal.reidentify_some() AS begun;
TABLE under_way;
SELECT jobstats_internal.reidentify_some() > 0 AS changed;
SELECT states, regexp_replace(remedy, '\d+ %', CASE WHEN substring(remedy FROM '(\d+) %')::integer BETWEEN 30 AND 50 THEN 'a third or so' ELSE '\&' END) AS remedy FROM under_way;
INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(10), ost('fs-OST0000', record('5:500:n9', 7, 7 * 4096)));
SELECT job, uid FROM jobstats.entries WHERE name = '5:500:n9';
-- Each entry has one user, so the sums equal the total, for any user; sums of changed users are not read any more.
SELECT (SELECT sum(total) FROM by_user) = (SELECT sum(total) FROM (SELECT * FROM jobstats_totals(at(0), at(60), 'write', '') r, dims(r.labels)) AS jobstats_totals) AS consistent;
SELECT level, users_refreshed = 'epoch' AS forgotten FROM jobstats.rollups ORDER BY width;
-- Another change begins again, and an invalid format has no effect.
UPDATE jobstats.entry_formats SET format = 'no code' WHERE format = '%e.%u';
SELECT jobstats_internal.reidentify_some();
SET client_min_messages = error;
CALL jobstats_maintain();
RESET client_min_messages;
SELECT problem FROM jobstats.maintenance WHERE step = 'identification' AND problem IS NOT NULL;
SELECT remedy FROM jobstats.health WHERE target IS NULL ORDER BY remedy;
DELETE FROM jobstats.entry_formats WHERE format = 'no code';
SELECT remedy LIKE '%: 0 \% are done%' AS from_the_start FROM under_way;
-- Maintenance does the rest.
CALL jobstats_maintain();
TABLE under_way;
SELECT count(*) FILTER (WHERE format <> '%u:%j:%H'), min(affected) > 0 AS recorded
FROM jobstats.entries, (SELECT affected FROM jobstats.maintenance WHERE step = 'identification' AND problem IS NULL) m;
SELECT count(*) AS users, sum(total) FROM by_user;
SELECT level, users_refreshed = refreshed AS sums FROM jobstats.rollups ORDER BY width;
SELECT formats, under_way, after, again FROM jobstats.identification;
-- The result equals a single run; then maintenance checks once more for entries that feeds have stored meanwhile.
SELECT jobstats_reidentify();
UPDATE jobstats.entries SET uid = 999, job = NULL, status = 'ok' WHERE name = '5:500:n9';
SELECT again FROM jobstats.identification;
CALL jobstats_maintain();
SELECT job, uid FROM jobstats.entries WHERE name = '5:500:n9';
SELECT again FROM jobstats.identification;
-- All portions are done.
SELECT jobstats_internal.reidentify_some();
SELECT count(*) FROM jobstats.maintenance WHERE step = 'identification' AND problem IS NULL;

-- Jobs of entries whose identity has changed are forgotten, and found again.
SELECT action FROM jobstats_ingest('', 'slurm', at(30), source => 'slurm',
    body => format(replace(E'JobIDRaw|Submit|Start|End|UID|User|Account\n500|%s|%1$s|%s|5|eva|physics\n', '|', chr(31)),
        extract(epoch FROM at(0))::bigint, extract(epoch FROM at(20))::bigint));
CALL jobstats_maintain();
SELECT i.job, i.account, j.status FROM jobstats.entry_jobs j JOIN jobstats.entries e USING (entry_id) JOIN jobstats.job_ids i USING (job_no) WHERE e.name = '5:500:n9';
UPDATE jobstats.entry_formats SET format = '%j:%u:%H' WHERE format = '%u:%j:%H';
DO $$ BEGIN
    WHILE jobstats_internal.reidentify_some() IS NOT NULL LOOP END LOOP;
END $$;
SELECT count(*) FROM jobstats.entry_jobs;
UPDATE jobstats.entry_formats SET format = '%u:%j:%H' WHERE format = '%j:%u:%H';
CALL jobstats_maintain();
SELECT i.job, i.account, j.status FROM jobstats.entry_jobs j JOIN jobstats.entries e USING (entry_id) JOIN jobstats.job_ids i USING (job_no) WHERE e.name = '5:500:n9';

-- A row that somebody deleted is restored by setup.
DELETE FROM jobstats.identification;
SELECT jobstats_reidentify();
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_setup() IS NOT NULL AS ready \gset
CALL jobstats_maintain();
SELECT formats IS NOT NULL AS known FROM jobstats.identification;
