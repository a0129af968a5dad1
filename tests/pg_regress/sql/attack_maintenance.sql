-- One span that cannot be summed, because a version without limits stored it, breaks neither maintenance nor answers.
\getenv source PG_ABS_SRCDIR
\set store :source '/include/store.sql'
\set ECHO none
\i :store
\set ECHO all
\set SHOW_CONTEXT never
SET client_min_messages = error;
SELECT jobstats_setup(rejects_retention => interval '1 day') IS NOT NULL AS ready;

-- Two targets work for a while; what entries of one user did on one of them within a minute adds up to more than 2^63.
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(n * 7), ost('fs-OST0000', record('1:1000:n', n, n * 4096)) || ost('fs-OST0001', record('2:1001:n', n, n * 4096))
FROM generate_series(0, 8) n;
INSERT INTO jobstats.entries (entry_id, name, uid, status, workload, first_seen)
SELECT n, format('3:1000:n%s', n), 1000, 'ok', '3', at(0) FROM generate_series(1, 1100) n;
INSERT INTO jobstats.increments ("time", since, observed, entry_id, target_id, reset, punch)
SELECT at(30), at(29), at(30), e.entry_id, t.target_id, false, 9007199254740991
FROM jobstats.entries e, jobstats.targets t WHERE e.entry_id BETWEEN 1 AND 1100 AND t.name = 'fs-OST0000';
-- And what one entry did within an hour, in rows a microsecond apart.
INSERT INTO jobstats.increments ("time", since, observed, entry_id, target_id, reset, punch)
SELECT at(45) + n * interval '1 microsecond', at(45) + (n - 1) * interval '1 microsecond', at(49), 1, t.target_id, false, 9007199254740991
FROM generate_series(1, 1100) n, jobstats.targets t WHERE t.name = 'fs-OST0000';
UPDATE jobstats.settings SET limited_since = now();
INSERT INTO jobstats.rejects ("time", received, cluster, reason) VALUES ('2020-01-01', '2020-01-01', '', 'test');

CALL jobstats_maintain();
-- All other steps are done, and the rollups of the other target, and of other times, are up to date.
SELECT count(*) FROM jobstats.rejects WHERE reason = 'test';
SELECT level, refreshed > at(60) AS refreshed, users_refreshed = refreshed AS users FROM jobstats.rollups WHERE level <> '1d' ORDER BY width;
SELECT t.name, minute(d.span_from) AS since, minute(d.span_to) AS until, d.known, regexp_replace(d.problem, '\(.*\]', '(…]') AS problem
FROM jobstats.dirty d JOIN jobstats.targets t USING (target_id) WHERE d.span_to - d.span_from < interval '1 day' ORDER BY 2, 3, 1, 5;
SELECT t.name, sum(r.write_bytes) FROM jobstats.rollup_1h r JOIN jobstats.targets t USING (target_id) WHERE r.write_bytes > 0 GROUP BY 1 ORDER BY 1;
-- It is said at once, and by name.
SELECT DISTINCT step, regexp_replace(problem, '\(.*?\]', '(…]', 'g') AS problem FROM jobstats.maintenance
WHERE problem IS NOT NULL AND step !~ 'all|1d' ORDER BY step;
SELECT remedy ~ 'target fs-OST0000, entry 3:1000:n' AS named FROM jobstats.health WHERE status = 'maintenance';
SELECT unnest(regexp_matches(jobstats_metrics(), 'jobstats_maintenance_problem \d', 'g'));

-- Answers of other times and targets, and those that hold what was too large.
SELECT target, operation, total FROM jobstats_totals(at(0), at(60), '{write_bytes}', '{target}') ORDER BY target;
SELECT target, operation, total FROM jobstats_totals(at(0), at(60), '{punch}', '{target}') ORDER BY target;
SELECT count(*) FROM jobstats.increments_1h;

-- What was too large is gone: the next call computes the rest.
DELETE FROM jobstats.increments WHERE punch = 9007199254740991;
CALL jobstats_maintain();
SELECT count(*) FROM jobstats.dirty;
SELECT count(*) FROM jobstats.health WHERE status = 'maintenance';
SELECT t.name, sum(r.write_bytes) FROM jobstats.rollup_1h r JOIN jobstats.targets t USING (target_id) WHERE r.write_bytes > 0 GROUP BY 1 ORDER BY 1;
