-- settings.keep: answers have NULL for details that are not kept; calls and sums stay exact.
\i store.sql
\i calls.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

-- Invalid settings, with a HINT; leaving the argument out keeps the setting.
\set VERBOSITY default
UPDATE jobstats.settings SET keep = 'nothing';
\echo :LAST_ERROR_SQLSTATE
UPDATE jobstats.settings SET keep = NULL;
SELECT keep FROM jobstats.settings;
\set VERBOSITY terse

-- The same writes on OSTs of Lustre 2.16 and 2.14, of a job in each of three clusters; and an operation that has no column.
CREATE FUNCTION feed(minute numeric, job text, cluster text DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT coalesce(feed.cluster, s.keep), 'oss1', at(minute), body
FROM jobstats.settings s,
    unnest(CASE WHEN minute = 0 THEN ARRAY[ost('fs-OST0016'), ost('fs-OST0014')] ELSE ARRAY[
        ost('fs-OST0016', calls('hist', job || ':1000:n1', at(1), '{}', ('{4096,4096,1000,1048576,5000}'::numeric[])[:minute])),
        ost('fs-OST0014', calls('squares', job || ':1000:n1', at(1), '{}', ('{2,4,4,4,5,5,7,9}'::numeric[])[:minute])
            || format(E'  fly: { samples: %1$s, unit: usecs, min: 1, max: 9, sum: %2$s, sumsq: %2$s }\n', minute, minute * 3))] END) body
$$;
DO $$ BEGIN
    PERFORM feed(minute, '1') FROM unnest('{0,4,8}'::numeric[]) minute;
    UPDATE jobstats.settings SET keep = 'no detail';
    PERFORM feed(minute, '2') FROM unnest('{0,4,8}'::numeric[]) minute;
    UPDATE jobstats.settings SET keep = 'counts';
    PERFORM feed(minute, '3') FROM unnest('{0,4,8}'::numeric[]) minute;
END $$;
SELECT t.cluster, t.name AS target, minute(i.observed) AS minute, o.kept, i.write, i.write_usecs, i.write_bytes,
    i.write_bytes_hist IS NOT NULL AS histogram, i.detail
FROM jobstats.increments_rows i JOIN jobstats.targets t USING (target_id)
JOIN jobstats.observations o ON o.target_id = i.target_id AND o."time" = i.observed
ORDER BY t.cluster, target, minute;

-- Calls, sums and rates are the same. A single NOTICE names the columns that are NULL.
SELECT name, operation, calls, total FROM jobstats_totals(at(0), at(8), 'write_bytes,service_time', 'cluster') ORDER BY operation, name;
SELECT operation, calls, per_call, min, max, round(stddev::numeric, 6) AS stddev FROM jobstats_job_usage('1', '');
SELECT operation, calls, per_call, min, max, round(stddev::numeric, 6) AS stddev FROM jobstats_job_usage('2', '');
SELECT operation, calls, per_call, min, max, round(stddev::numeric, 6) AS stddev FROM jobstats_job_usage('3', '');
SELECT name, source, lower, upper, calls, share, mean, stddev FROM jobstats_io_sizes(at(0), at(8), 'target', filter => 'cluster=everything');
SELECT name, source, lower, upper, calls, share, mean, stddev FROM jobstats_io_sizes(at(0), at(8), 'target', filter => 'cluster="no detail"');
SELECT name, source, lower, upper, calls, share, mean, stddev FROM jobstats_io_sizes(at(0), at(8), 'target', filter => 'cluster=counts');
-- Histograms are kept completely.
SELECT count(*) FROM jobstats_io_sizes(at(0), at(8), filter => 'cluster="no detail" target=*16');
-- The parts add up where some of them have histograms.
SELECT source, sum(calls) AS calls, sum(share) AS share FROM jobstats_io_sizes(at(0), at(8)) GROUP BY source ORDER BY source;

-- Stored rows are right, and under the setting there is no row to correct.
SELECT * FROM jobstats_audit(at(-1), at(60));
SELECT name, computed, changed FROM jobstats_reprocess(at(-1), at(60)) WHERE cluster = 'everything';
-- A row that lost kept details, and one with details that are not kept, are wrong.
BEGIN;
UPDATE jobstats.increments i SET detail = NULL FROM jobstats.targets t
WHERE t.target_id = i.target_id AND t.cluster = 'everything' AND t.name = 'fs-OST0014' AND i.observed = at(8);
UPDATE jobstats.increments i SET detail = '\x040201' FROM jobstats.targets t
WHERE t.target_id = i.target_id AND t.cluster = 'counts' AND t.name = 'fs-OST0016' AND i.observed = at(8);
SELECT cluster, target, minute("time") AS minute, what FROM jobstats_audit(at(-1), at(60)) ORDER BY 1, 2;
-- Kept details remain when the row is computed again.
SELECT cluster, name, changed, deleted, inserted FROM jobstats_reprocess(at(-1), at(60)) WHERE changed > 0;
SELECT t.cluster, t.name AS target, i.detail FROM jobstats.increments_rows i JOIN jobstats.targets t USING (target_id)
WHERE i.observed = at(8) AND (t.cluster, t.name) IN (('everything', 'fs-OST0014'), ('counts', 'fs-OST0016')) ORDER BY 1;
SELECT * FROM jobstats_audit(at(-1), at(60));
ROLLBACK;

-- Late text is new; later rows that are computed again keep their details.
SELECT feed(6, '1', 'everything');
SELECT t.name AS target, minute(i.observed) AS minute, o.kept, i.write, i.write_bytes, i.write_bytes_hist IS NOT NULL AS histogram, i.detail
FROM jobstats.increments_rows i JOIN jobstats.targets t USING (target_id)
JOIN jobstats.observations o ON o.target_id = i.target_id AND o."time" = i.observed
WHERE t.cluster = 'everything' ORDER BY target, minute;
SELECT * FROM jobstats_audit(at(-1), at(60));
SELECT operation, calls, min, max, stddev FROM jobstats_job_usage('1', '') WHERE operation = 'write_bytes';
SELECT name, source, sum(calls) AS calls FROM jobstats_io_sizes(at(0), at(8), 'target', filter => 'cluster=everything') GROUP BY 1, 2 ORDER BY 1, 2;
-- Details from before the setting are shown for jobs and windows before it.
SELECT count(*) AS rows, bool_and(stddev IS NULL) AS none FROM jobstats_io_sizes(at(0), at(4), 'target', filter => 'cluster=everything');

-- Sums by user go with counts, and come back. Answers stay.
CREATE VIEW answers AS
SELECT to_jsonb(r) AS answer FROM jobstats_top(at(0), at(10), 'write_bytes', 'cluster,uid') r
UNION ALL SELECT to_jsonb(r) FROM jobstats_totals(at(0), at(10), NULL, 'uid') r;
CREATE VIEW users AS
SELECT (SELECT count(*) FROM jobstats.rollup_10m_users) AS "10m", (SELECT count(*) FROM jobstats.rollup_1h_users) AS "1h",
    (SELECT count(*) FROM jobstats.rollup_1d_users) AS "1d";
CREATE TABLE before AS TABLE answers;
CREATE VIEW changed AS (TABLE before EXCEPT ALL TABLE answers) UNION ALL (TABLE answers EXCEPT ALL TABLE before);
CALL jobstats_maintain();
TABLE users;
TABLE changed;
UPDATE jobstats.settings SET keep = 'no detail';
CALL jobstats_maintain();
SELECT "10m", "1h" FROM users;
TABLE changed;
UPDATE jobstats.settings SET keep = 'counts';
TABLE changed;
CALL jobstats_maintain();
TABLE users;
TABLE changed;
SELECT count(*) AS problems FROM jobstats.maintenance WHERE problem IS NOT NULL;

-- The other way: details from raw text are stored again. The second call changes no row.
UPDATE jobstats.settings SET keep = 'everything';
SELECT * FROM jobstats_audit(at(-1), at(60));
SELECT cluster, name, computed, changed, deleted, inserted FROM jobstats_reprocess(at(-1), at(60));
SELECT sum(changed) AS changed FROM jobstats_reprocess(at(-1), at(60));
SELECT count(*) AS brief FROM jobstats.observations WHERE kept IS NOT NULL;
SELECT operation, calls, min, max, round(stddev::numeric, 6) AS stddev FROM jobstats_job_usage('3', '');
SELECT name, source, lower, upper, calls, stddev FROM jobstats_io_sizes(at(0), at(8), 'target', filter => 'cluster=counts');
SELECT * FROM jobstats_audit(at(-1), at(60));
