-- Steps and coverage: what was counted between observations, as it is shown in any window and in steps of any width.
\getenv source PG_ABS_SRCDIR
\set reading :source '/include/reading.sql'
\set ECHO none
\i :reading
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'


-- Four targets over three hours, none observed at the same times as another: OST0001 with gaps, OST0002 on two servers,
-- one after the other. Eight entries do something of every operation now and then. One row in eight begins before the
-- observation that gave it does, as where Lustre had skipped the entry.
SELECT setseed(0.25);
DO $$ BEGIN
    PERFORM observe('work-MDT0000', 'mds1', VARIADIC ARRAY(SELECT n * 2.0 FROM generate_series(0, 90) AS n));
    PERFORM observe('work-OST0000', 'oss1', VARIADIC ARRAY(SELECT 0.3 + n * 1.7 FROM generate_series(0, 100) AS n));
    PERFORM observe('work-OST0001', 'oss2', VARIADIC ARRAY(SELECT 20.9 + n * 3.1 + 30 * (n / 10) FROM generate_series(0, 29) AS n));
    PERFORM observe('work-OST0002', 'oss1', VARIADIC ARRAY(SELECT n * 4.0 + 1 FROM generate_series(0, 20) AS n));
    PERFORM observe('work-OST0002', 'oss2', VARIADIC ARRAY(SELECT n * 4.0 + 1.5 FROM generate_series(21, 40) AS n));
    PERFORM observe('b', 'work-OST0000', 'oss1', ARRAY(SELECT at(n * 5.5) FROM generate_series(0, 30) AS n));
END $$;
CREATE TABLE rows AS
SELECT t.cluster, t.name AS target, format(entry, n) AS entry,
    CASE WHEN n = 1 THEN coalesce(p.since, o.since) ELSE o.since END AS since, o."time"
FROM jobstats.observations o JOIN jobstats.targets t USING (target_id)
LEFT JOIN jobstats.observations p ON p.target_id = o.target_id AND p."time" = o.since AND p.server = o.server,
    generate_series(1, 4) AS n, unnest(ARRAY['10%s:1001:n01', '%s.1002']) AS entry
WHERE o.since IS NOT NULL AND o."time" - coalesce(p.since, o.since) < interval '50 minutes' AND random() < 0.4;
CREATE TABLE counters AS
SELECT attname AS counter FROM pg_attribute
WHERE attrelid = 'jobstats.increments'::regclass AND atttypid = 'bigint'::regtype AND attname <> 'entry_id';
DO $$ BEGIN
    PERFORM act(cluster, target, entry, since, "time", (
        SELECT jsonb_object_agg(counter, (random() * 1000)::integer) FROM counters
        WHERE random() < 0.2 AND rows.entry IS NOT NULL))
    FROM rows ORDER BY cluster, target, "time", entry;
END $$;
SELECT count(*) > 500 AS many, count(DISTINCT since) > 200 AS at_many_times FROM jobstats.increments;

-- A window around all of it, divided at random instants.
CREATE TABLE edges AS
SELECT row_number() OVER (ORDER BY edge) AS n, edge
FROM (SELECT at(0) UNION SELECT at(180) UNION SELECT at(0) + random() * interval '180 minutes' FROM generate_series(1, 6)) AS edges (edge);
CREATE VIEW windows AS SELECT e.edge AS since, f.edge AS until FROM edges e JOIN edges f ON f.n = e.n + 1;
CREATE TABLE dimensions AS
SELECT unnest(ARRAY['cluster', 'filesystem', 'kind', 'target', 'server', 'workload', 'job', 'node', 'executable', 'status', 'uid']) AS dimension;

-- The parts add up to the whole: of every operation, by every dimension. (A part without bytes has no row of bytes, and
-- so no calls for them.)
CREATE TABLE parts AS
SELECT d.dimension, p.* FROM dimensions d, windows w, jobstats_totals(w.since, w.until, by => d.dimension) p;
CREATE TABLE wholes AS
SELECT d.dimension, p.* FROM dimensions d, jobstats_totals(at(0), at(180), by => d.dimension) p;
SELECT count(*) > 2000 AS many, count(DISTINCT operation) AS operations FROM parts;
SELECT dimension, name, operation, sum(p.total) AS total, CASE WHEN operation NOT LIKE '%bytes' THEN sum(p.calls) END AS calls
FROM parts p GROUP BY 1, 2, 3 HAVING sum(p.total) <> 0
EXCEPT
SELECT dimension, name, operation, total, CASE WHEN operation NOT LIKE '%bytes' THEN calls END FROM wholes;
SELECT dimension, count(*) FROM wholes WHERE total <> 0
GROUP BY dimension, operation
HAVING sum(total) <> (SELECT sum(total) FROM wholes w WHERE w.dimension = 'target' AND w.operation = wholes.operation);
-- So do service times, which are not among the operations that are shown by default, and the rows of a summary.
SELECT name, p.service_time - w.service_time AS service_time, p.read_bytes - w.read_bytes AS read_bytes,
    p.write_bytes - w.write_bytes AS write_bytes, p.read - w.read AS read, p.write - w.write AS write,
    p.opens - w.opens AS opens, p.metadata - w.metadata AS metadata,
    p.first = w.first AND p.last_active = w.last_active AND p.nodes <= w.nodes AS same_span
FROM (
    SELECT name, sum(service_time) AS service_time, sum(read_bytes) AS read_bytes, sum(write_bytes) AS write_bytes,
        sum(read) AS read, sum(write) AS write, sum(opens) AS opens, sum(metadata) AS metadata,
        min(first) AS first, max(last_active) AS last_active, max(nodes) AS nodes
    FROM windows, jobstats_summary(since, until, 'uid') GROUP BY name
) p
JOIN jobstats_summary(at(0), at(180), 'uid') w USING (name)
ORDER BY name;
-- A summary says what totals do.
SELECT s.name FROM windows, jobstats_summary(since, until, 'target,job') s, LATERAL (
    SELECT array_agg(total ORDER BY operation) AS totals
    FROM jobstats_totals(since, until, 'metadata,open,read,read_bytes,service_time,write,write_bytes', 'target,job') t
    WHERE t.labels = s.labels AND t.total <> 0
) t
WHERE array_remove(ARRAY[s.metadata, s.opens, s.read, s.read_bytes, s.service_time, s.write, s.write_bytes], 0)
    IS DISTINCT FROM coalesce(t.totals, '{}');

-- Rates, times the seconds that were observed, are totals: in steps finer than the intervals between observations, or
-- coarser, that begin anywhere.
CREATE TABLE steps AS
SELECT since, until, step FROM (VALUES
    (at(30), at(34), interval '700 milliseconds'), (at(30), at(40), '7 seconds'), (at(20), at(50), '41 seconds'),
    (at(0), at(180), '2 minutes'), (at(7.77), at(177.7), '9 minutes 11 seconds'), (at(0), at(180), '50 minutes'),
    (at(3.21), at(179.9), '1 hour'), (at(0), at(180), '1 day')) AS steps (since, until, step);
CREATE TABLE rates AS
SELECT s.step, r.* FROM steps s,
    jobstats_rates(since, until, 'read_bytes,punch,open_time,metadata,service_time', 'cluster,target,uid,job', s.step) r;
SELECT step, count(*) > 20 AS many FROM rates GROUP BY step ORDER BY step;
SELECT s.step, t.name, t.operation, t.total, r.total AS of_steps
FROM steps s
CROSS JOIN LATERAL jobstats_totals(since, until, 'read_bytes,punch,open_time,metadata,service_time', 'cluster,target,uid,job') t
LEFT JOIN LATERAL (
    SELECT sum(r.total) AS total FROM rates r WHERE (r.step, r.labels, r.operation) = (s.step, t.labels, t.operation)
) r ON true
WHERE t.total IS DISTINCT FROM r.total;
-- Coverage is rounded down to four decimals.
SELECT * FROM rates WHERE total NOT BETWEEN rate * seconds * coverage * (1 - 1e-9) AND rate * seconds * (coverage + 0.0001);

-- By targets alone there is a row for every step: zero where nothing was done, NULL exactly where nothing was observed.
CREATE TABLE seen AS
SELECT s.step, r.* FROM steps s, jobstats_rates(since, until, 'read,metadata', 'cluster,target', s.step) r;
SELECT step, count(DISTINCT "time") AS steps, count(DISTINCT name) AS targets, count(*) AS rows,
    count(*) FILTER (WHERE rate = 0) > 0 AS some_idle, count(*) FILTER (WHERE rate IS NULL) > 0 AS some_unseen,
    bool_and((rate IS NULL) = (coverage = 0)) AS null_if_unseen
FROM seen WHERE operation = 'read'
GROUP BY step ORDER BY step;
-- Coverage adds up as well, and is what observations say.
SELECT s.step, w.name, w.coverage, r.coverage AS of_steps
FROM steps s
CROSS JOIN LATERAL jobstats_rates(since, until, 'read', 'cluster,target') w
JOIN LATERAL (
    SELECT sum(r.coverage * r.seconds) / sum(r.seconds) AS coverage FROM seen r
    WHERE (r.step, r.name, r.operation) = (s.step, w.name, w.operation)
) r ON abs(r.coverage - w.coverage) > 0.0001;
SELECT name, coverage FROM jobstats_rates(at(0), at(60), 'read', by => 'target', filter => 'cluster=""') ORDER BY name;
SELECT o.target, o.coverage FROM (
    SELECT t.name AS target, sum(extract(epoch FROM least(o."time", at(60)) - greatest(o.since, at(0))))::double precision / 3600 AS coverage
    FROM jobstats.observations o JOIN jobstats.targets t USING (target_id)
    WHERE t.cluster = '' AND o.since < at(60) AND o."time" > at(0) GROUP BY t.name
) o ORDER BY o.target;

-- A rate over targets is the sum of theirs, each by its own observations.
SELECT a."time", a.operation, a.rate, s.rate AS sum
FROM jobstats_rates(at(0), at(180), 'read_bytes,punch,metadata', '', '4 minutes 4 seconds') a
JOIN (
    SELECT "time", operation, sum(rate) AS rate
    FROM jobstats_rates(at(0), at(180), 'read_bytes,punch,metadata', 'cluster,target', '4 minutes 4 seconds') GROUP BY 1, 2
) s USING ("time", operation)
WHERE round(a.rate::numeric, 9) IS DISTINCT FROM round(s.rate::numeric, 9);

-- A row belongs to the steps that it lies in. What ends on an edge belongs to the step before it; what crosses an edge
-- is divided in proportion to time: 50 of 60 seconds, in whole numbers.
DO $$ BEGIN
    PERFORM observe('edge-OST0000', 'oss1', 0, 1, 2, 3);
    PERFORM act('edge-OST0000', '1:1:n1', 0, 1, '{"read": 100}');
    PERFORM act('edge-OST0000', '1:1:n1', 1, 2, '{"read": 1000}');
END $$;
SELECT to_char("time", 'MI:SS') AS "time", round(rate * seconds) AS reads FROM jobstats_rates(at(0), at(3), 'read', '', '1 minute', filter => 'target=edge*');
SELECT to_char("time", 'MI:SS') AS "time", seconds, round(rate * seconds * coverage) AS reads
FROM jobstats_rates(at(0), at(3), 'read', 'target', '50 seconds', filter => 'target=edge*');
SELECT to_char("time", 'MI:SS.US') AS "time", seconds, round(rate * seconds * coverage) AS reads
FROM jobstats_rates(at(1) - interval '1 microsecond', at(1) + interval '1 microsecond', 'read', 'target', '1 microsecond', filter => 'target=edge*');

-- Days of 23 and 25 hours, an hour of work in each hour. Days begin at midnight; of the first and the last there may be a part.
DO $$ BEGIN
    PERFORM observe('', 'home-OST0000', 'oss9', ARRAY(SELECT generate_series(timestamptz '2025-10-24 00:00+03', '2025-10-29 00:00+02', '1 hour')));
    PERFORM act('', 'home-OST0000', 'cp.1', hour, hour + interval '1 hour', '{"write": 3600}')
        FROM generate_series(timestamptz '2025-10-24 00:00+03', '2025-10-28 00:00+02', '1 hour') AS hour;
    PERFORM observe('', 'home-OST0001', 'oss9', ARRAY(SELECT generate_series(timestamptz '2026-03-27 00:00+02', '2026-03-31 00:00+03', '1 hour')));
    PERFORM act('', 'home-OST0001', 'cp.1', hour, hour + interval '1 hour', '{"write": 3600}')
        FROM generate_series(timestamptz '2026-03-28 00:00+02', '2026-03-30 11:00+03', '1 hour') AS hour;
END $$;
SET TimeZone = 'Europe/Helsinki';
SELECT "time", seconds, rate, rate * seconds AS writes, coverage
FROM jobstats_rates('2025-10-25', '2025-10-29', 'write', 'target', '1 day', filter => 'target=home-OST0000');
SELECT "time", seconds, rate, rate * seconds AS writes, coverage
FROM jobstats_rates('2026-03-28', '2026-03-31', 'write', 'target', '1 day', filter => 'target=home-OST0001');
SELECT "time", seconds / 3600 AS hours, rate FROM jobstats_rates('2026-03-28 18:00', '2026-03-30 18:00', 'write', 'target', '1 day', filter => 'target=home-OST0001');
SELECT "time", seconds / 3600 AS hours, round(rate::numeric, 3) AS rate FROM jobstats_rates('2026-03-23', '2026-04-06', 'write', 'target', '1 week', filter => 'target=home-OST0001');
-- Steps of hours are hours, whatever clocks show.
SELECT "time", seconds / 3600 AS hours, rate FROM jobstats_rates('2025-10-26', '2025-10-27', 'write', 'target', '12 hours', filter => 'target=home-OST0000');
SET TimeZone = 'UTC';

-- A window that reaches now ends for all functions where all targets were observed: after minute 8 of 10, here.
BEGIN;
DO $$ BEGIN
    PERFORM observe('now', 'x-OST0000', 'oss1', ARRAY(SELECT now() - n * interval '2 minutes' - interval '1 minute' FROM generate_series(0, 20) AS n));
    PERFORM observe('now', 'x-OST0001', 'oss2', ARRAY(SELECT now() - n * interval '2 minutes' - interval '2 minutes' FROM generate_series(0, 20) AS n));
    PERFORM act('now', 'x-OST0000', '1:1:n1', now() - interval '3 minutes', now() - interval '1 minute', '{"write": 120, "write_bytes": 1200}');
    PERFORM act('now', 'x-OST0001', '1:1:n1', now() - interval '4 minutes', now() - interval '2 minutes', '{"write": 240, "write_bytes": 2400}');
END $$;
SELECT name, seconds, rate * seconds AS writes, coverage FROM jobstats_rates(operations => 'write', filter => 'cluster=now');
SELECT name, total FROM jobstats_totals(operations => 'write', filter => 'cluster=now');
SELECT total FROM jobstats_top(operation => 'write', filter => 'cluster=now');
SELECT name, now() - first AS first, now() - last_active AS last_active, write, busiest_target FROM jobstats_summary(filter => 'cluster=now');
SELECT target, rate * 480 AS bytes, coverage FROM jobstats_balance(filter => 'filesystem=x');
-- A job is shown as far as it is known.
SELECT name, total, now() - last_active AS last_active, coverage FROM jobstats_job_usage('1', since => now() - interval '10 minutes', until => now()) WHERE operation = 'write';
SELECT name, total, now() - last_active AS last_active, coverage FROM jobstats_job_usage('1', since => now() - interval '3 minutes') WHERE operation = 'write';
ROLLBACK;

-- Reading writes nothing, not even a transaction id.
BEGIN READ ONLY;
SELECT count(*) > 0 AS any FROM jobstats_summary(at(0), at(20));
SELECT count(*) > 0 AS any FROM jobstats_balance(at(0), at(20));
SELECT count(*) > 0 AS any FROM jobstats_densities(at(0), at(20));
SELECT count(*) > 0 AS any FROM jobstats_job_usage('101');
SELECT pg_current_xact_id_if_assigned();
COMMIT;
