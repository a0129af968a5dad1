-- What reading functions read: the coarsest rollup that gives the answer, and of increments only the days that are needed.
\i reading.sql
\set ECHO all
SELECT jobstats_setup(retention => '100 years', compress_after => '100 years') IS NOT NULL AS ready \gset
-- What other processes read is counted elsewhere.
SET max_parallel_workers_per_gather = 0;

-- A quarter of a year in which a target is observed every hour. One user works all the time, one job on three days in February.
SELECT jobstats_internal.add_partitions('increments', 'day', '2024-01-01', '2024-03-31') IS NOT NULL AS ready \gset
SELECT observe('', 'scratch-OST0000', 'oss1', ARRAY(SELECT generate_series(timestamptz '2024-01-01', '2024-04-01', '1 hour')));
SELECT enter('cp.1000'), enter('4711:1001:n01');
UPDATE jobstats.entries SET first_seen = CASE job WHEN '4711' THEN timestamptz '2024-02-06' ELSE '2024-01-01' END;
INSERT INTO jobstats.increments ("time", since, observed, entry_id, target_id, reset, write, write_bytes)
SELECT t + interval '10 minutes', t, date_trunc('hour', t) + interval '1 hour', e.entry_id, o.target_id, false, 1, 4096
FROM generate_series(timestamptz '2024-01-01', '2024-03-31 23:30', interval '30 minutes') t, jobstats.entries e, jobstats.targets o
WHERE e.job IS NULL OR t BETWEEN '2024-02-06' AND '2024-02-08 23:59';
CALL jobstats_maintain();
ANALYZE;

-- What a partition or chunk is part of.
CREATE FUNCTION relation_of(part oid) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    root oid;
    name text;
BEGIN
    WITH RECURSIVE up (oid) AS (SELECT part UNION ALL SELECT i.inhparent FROM up JOIN pg_inherits i ON i.inhrelid = up.oid)
    SELECT c.oid, c.relname INTO root, name FROM up JOIN pg_class c USING (oid)
    WHERE NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = up.oid);
    RETURN name;
END
$$;
CREATE FUNCTION reads(query text) RETURNS TABLE (rows bigint, relation text, days text) LANGUAGE plpgsql AS $$
DECLARE
    before jsonb := (SELECT jsonb_object_agg(relid, seq_scan + coalesce(idx_scan, 0)) FROM pg_stat_xact_user_tables);
    parts regclass[];
BEGIN
    EXECUTE 'SELECT count(*) FROM ' || query INTO rows;
    FOR relation, parts IN
        SELECT relation_of(s.relid), array_agg(s.relid::regclass)
        FROM pg_stat_xact_user_tables s
        WHERE s.seq_scan + coalesce(s.idx_scan, 0) > (before ->> s.relid::text)::bigint
            AND relation_of(s.relid) ~ '^(raw|increments|rollup_..m?(_users)?)$'
        GROUP BY 1 ORDER BY 1
    LOOP
        days := NULL;
        IF relation = 'increments' THEN
            EXECUTE format('SELECT string_agg(DISTINCT to_char(since, ''MM-DD''), '' '') FROM (%s) parts',
                (SELECT string_agg(format('SELECT min(since) AS since FROM %s', part), ' UNION ALL ') FROM unnest(parts) part))
            INTO days;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;

-- A month by day, three months by month, a day by hour, an hour by ten minutes.
SELECT * FROM reads($$jobstats_rates('2024-03-01', '2024-04-01', 'write_bytes', 'workload', '1 day')$$);
SELECT * FROM reads($$jobstats_rates('2024-01-01', '2024-04-01', 'write_bytes', 'workload', '1 month')$$);
SELECT * FROM reads($$jobstats_rates('2024-03-01', '2024-03-02', 'write_bytes', 'workload', '1 hour')$$);
SELECT * FROM reads($$jobstats_rates('2024-03-01 10:00', '2024-03-01 11:00', 'write_bytes', 'workload', '10 minutes')$$);
SELECT * FROM reads($$jobstats_top('2024-03-01', '2024-03-31', 'write_bytes')$$);
SELECT * FROM reads($$jobstats_totals('2024-01-01', '2024-04-01')$$);
SELECT * FROM reads($$jobstats_summary('2024-03-01', '2024-04-01', 'uid')$$);
SELECT * FROM reads($$jobstats_densities('2024-03-01', '2024-03-02', 'write_bytes', step => '10 minutes')$$);
SELECT * FROM reads($$jobstats_balance('2024-03-01', '2024-04-01', filter => 'filesystem=scratch')$$);
-- A window that begins and ends anywhere takes only its ends from increments.
SELECT * FROM reads($$jobstats_top('2024-03-01 10:05', '2024-03-31 12:55', 'write_bytes')$$);
SELECT * FROM reads($$jobstats_totals('2024-03-01', '2024-03-31 12:55')$$);
-- Its steps lie on full hours all the same, and what lies between its ends is read from the rollup of hours.
SELECT * FROM reads($$jobstats_densities('2024-03-01 10:07:03.000001', '2024-03-03 10:07:03.000001', 'write_bytes', step => '1 hour')$$);
SELECT * FROM reads($$jobstats_rates('2024-03-01 10:00', '2024-03-31 12:50', 'write_bytes', 'workload', '1 day')$$);
-- Where clocks are half an hour apart from others, steps of an hour are read from ten minutes.
SET TimeZone = 'Asia/Kolkata';
SELECT * FROM reads($$jobstats_rates('2024-03-01 10:00', '2024-03-02 10:00', 'write_bytes', 'workload', '1 hour')$$);
SET TimeZone = 'UTC';
-- Steps finer than ten minutes, and servers, are known to increments alone.
SELECT * FROM reads($$jobstats_rates('2024-03-01 10:00', '2024-03-01 11:00', 'write_bytes', 'workload', '5 minutes')$$);
SELECT * FROM reads($$jobstats_totals('2024-03-01', '2024-03-03', by => 'server')$$);
-- One job of three days of a quarter: its ten-minute buckets, and the increments of those in which it did something.
SELECT * FROM reads($$jobstats_job_usage('4711', since => '2024-02-06', until => '2024-02-09')$$);
SELECT * FROM reads($$jobstats_job_usage('4711')$$);
-- What a late text has changed is taken from increments until it has been summed again.
INSERT INTO jobstats.dirty (target_id, span_from, span_to) SELECT target_id, '2024-03-10 10:01', '2024-03-10 10:09' FROM jobstats.targets;
SELECT * FROM reads($$jobstats_rates('2024-03-01', '2024-04-01', 'write_bytes', 'workload', '1 day')$$);
SELECT * FROM reads($$jobstats_top('2024-03-01', '2024-03-31', 'write_bytes')$$);
-- What many targets did is read once, not for each of them, also by a planner that takes it for hardly any dearer, and not
-- a second time to see which of them report times.
SELECT count(observe('', format('scratch-OST%s', to_char(n, 'FM0000')), 'oss1', ARRAY['2024-02-01', '2024-02-02']::timestamptz[]))
FROM generate_series(1, 20) AS n;
UPDATE jobstats.rollup_1d_users SET service_usecs = write;
ANALYZE;
SELECT count(*) AS stored FROM jobstats.rollup_1d_users \gset
CREATE VIEW read_so_far AS
SELECT coalesce(sum(s.seq_tup_read + coalesce(s.idx_tup_fetch, 0)), 0) AS rows
FROM pg_stat_xact_user_tables s WHERE relation_of(s.relid) = 'rollup_1d_users';
BEGIN;
SET LOCAL cpu_operator_cost = 1;
SELECT rows AS before FROM read_so_far \gset
SELECT count(*) FROM jobstats_top('2024-02-01', '2024-02-02', 'write_bytes', 'uid');
SELECT rows - :before <= :stored AS once FROM read_so_far;
COMMIT;
BEGIN;
SELECT rows AS before FROM read_so_far \gset
SELECT count(*) FROM jobstats_top('2024-02-01', '2024-02-29', 'service_time', 'uid');
SELECT rows - :before <= :stored AS once FROM read_so_far;
COMMIT;
