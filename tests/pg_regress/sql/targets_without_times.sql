-- Targets that report no times, as before Lustre 2.14: what shows who is busy takes metadata and bytes instead.
\i reading.sql
\set ECHO all
\pset null '(null)'
-- The MDT also has files in it. An OST counts other requests, too.
DO $$ BEGIN
    PERFORM observe(target, 'old1', 0, 5, 10) FROM unnest('{old-MDT0000,old-OST0000,old-OST0001}'::text[]) target;
    PERFORM act('old-MDT0000', '101:1001:n01', 0, 5, '{"open": 600, "close": 600}');
    PERFORM act('old-MDT0000', '102:1002:n02', 5, 10, '{"getattr": 300, "write": 10, "write_bytes": 1000000000}');
    PERFORM act('old-OST0000', '101:1001:n01', 0, 5, '{"read": 3, "read_bytes": 3000000, "write": 1, "write_bytes": 1000000}');
    PERFORM act('old-OST0000', '102:1002:n02', 0, 5, '{"write": 12, "write_bytes": 12000000, "setattr": 5}');
    PERFORM act('old-OST0001', 'rsync.1003', 5, 10, '{"read": 20, "read_bytes": 4000000}');
END $$;
-- Two rankings, each with its own ranks and shares.
SELECT rank, name, operation, total, round(rate::numeric, 2) AS rate, share, calls, per_call, coverage
FROM jobstats_top('2025-11-03 08:00', '2025-11-03 08:10', by => 'uid,workload');
SELECT rank, name, operation, total, share FROM jobstats_top(at(0), at(10), NULL, 'job,uid,target', 1);
SELECT rank, name, operation, rate FROM jobstats_top(at(0), at(10), by => 'uid', min_rate => 2);
-- Who keeps each target busy: operation and share are by calls.
SELECT target, rank, name, operation, rate, service_time, share FROM jobstats_now(at => at(10), by => 'workload');
-- They are the answers to these questions.
SELECT * FROM jobstats_top(at(0), at(10), by => 'uid,target,server,job')
EXCEPT ALL (
    SELECT * FROM jobstats_top(at(0), at(10), 'metadata', 'uid,target,server,job', filter => 'kind=MDT')
    UNION ALL
    SELECT * FROM jobstats_top(at(0), at(10), 'bytes', 'uid,target,server,job', filter => 'kind=OST')
);
-- Filters hold in both, those by kind too.
SELECT rank, name, operation, total, share FROM jobstats_top(at(0), at(10), by => 'uid', filter => 'uid=1002,1003');
SELECT rank, name, operation, total, share FROM jobstats_top(at(0), at(10), by => 'uid', exclude => '{"uid": [1002], "target": ["*1"]}');
SELECT rank, name, operation, total FROM jobstats_top(at(0), at(10), by => 'uid', filter => 'kind=MDT');
SELECT rank, name, operation, total FROM jobstats_top(at(0), at(10), by => 'uid', filter => 'kind=O*');
SELECT rank, name, operation, total FROM jobstats_top(at(0), at(10), by => 'uid', exclude => '{"kind": ["OST"]}');
SELECT rank, name, operation, total FROM jobstats_top(at(0), at(10), by => 'uid', n => 1, filter => 'target=old-OST* server=old1');
-- Densities have rows of both operations.
SELECT * FROM jobstats_densities(at(0), at(10));
SELECT * FROM jobstats_densities(at(0), at(10), step => '5 minutes');
SELECT "time", lower, count FROM jobstats_densities(at(0), at(10), NULL, 'target', 2, '5 minutes', filter => 'kind=OST');
-- The notice is about the targets, also where the selected users were idle.
SELECT count(*) FROM jobstats_top(at(0), at(10), by => 'uid', filter => 'uid=1999');

-- An explicit service_time is shown, as unknown.
SELECT rank, name, operation, total FROM jobstats_top(at(0), at(10), 'service_time', 'uid,workload');
SELECT * FROM jobstats_densities(at(0), at(10), 'service_time');
SELECT name, rate FROM jobstats_rates(at(0), at(10), 'service_time');
-- Weights combine operations only on request.
SELECT rank, name, operation, total FROM jobstats_top(at(0), at(10), by => 'uid', n => 1, weights => '{"read": 1}');
-- The operation bytes is bytes read and written, on every kind of target, in as many calls.
SELECT name, operation, total, calls, per_call FROM jobstats_totals(at(0), at(10), 'bytes,read_bytes,write_bytes');
SELECT name, rate FROM jobstats_rates(at(0), at(10), 'bytes');
SELECT target, rate, ratio, leader FROM jobstats_balance(at(0), at(10), 'bytes', filter => 'kind=OST');
SELECT name, total FROM jobstats_totals(at(0), at(10), '', 'uid');
SELECT rank, name, operation, total FROM jobstats_top(at(0), at(10), 'weighted', 'uid', 1, weights => '{"bytes": 0.001}');

-- Other targets report times. The busiest user is found by time, and a notice names the targets without times.
DO $$ BEGIN
    PERFORM observe(target, 'new1', 0, 5, 10) FROM unnest('{new-MDT0000,new-OST0000,new-OST0001}'::text[]) target;
    PERFORM act('new-MDT0000', '201:1004:n03', 0, 5, '{"open": 60, "open_usecs": 6000000}');
    PERFORM act('new-OST0000', '201:1004:n03', 0, 5, '{"write": 10, "write_bytes": 1000, "write_usecs": 3000000}');
    -- Some requests take no time worth counting.
    PERFORM act('new-MDT0000', '202:1005:n03', 5, 10, '{"getattr": 1}');
END $$;
SELECT rank, name, operation, total, share FROM jobstats_top(at(0), at(10), by => 'uid');
SELECT * FROM jobstats_densities(at(0), at(10));
SELECT name, rate FROM jobstats_rates(at(0), at(10), 'service_time', filter => 'kind=MDT');
SELECT name, service_time FROM jobstats_summary(at(0), at(10), 'filesystem', filter => 'target=*MDT0000,old-OST0001');
SELECT target, rate FROM jobstats_balance(at(0), at(10), 'service_time', filter => 'kind=MDT');
-- It is about targets in scope that did anything.
SELECT rank, name, operation, total FROM jobstats_top(at(0), at(10), by => 'uid', filter => 'filesystem=new');
SELECT rank, name, operation, total FROM jobstats_top(at(0), at(10), by => 'uid', filter => 'server=new1');
SELECT rank, name, operation, total FROM jobstats_top(at(0), at(5), by => 'uid', filter => 'target=new*,old-OST0001');
SELECT name, rate FROM jobstats_rates(at(0), at(10), 'service_time', 'uid', filter => 'uid=1005 filesystem=new');
SELECT count(*) FROM jobstats_rates(at(0), at(10), 'bytes,metadata');
-- At most five are named.
DO $$ BEGIN
    FOR n IN 2..5 LOOP
        PERFORM observe('east', 'old-OST000' || n, 'old2', ARRAY[at(0), at(10)]);
        PERFORM act('east', 'old-OST000' || n, '101:1001:n01', at(0), at(10), '{"write": 1}');
    END LOOP;
END $$;
SELECT rank, name, operation, total FROM jobstats_top(at(0), at(10), by => 'uid');

-- Of more than a hundred targets all rows show which report times, whatever the filter selects: two thirds do.
DO $$ BEGIN
    PERFORM observe(target, 'oss1', 0, 10), act(target, '300:3000:n1', 0, 10, CASE WHEN n % 3 > 0 THEN '{"write": 1, "write_usecs": 9}' ELSE '{"write": 1}' END::jsonb)
    FROM generate_series(0, 119) n, LATERAL format('many-OST%s', lpad(to_hex(n), 4, '0')) target;
    PERFORM act('many-OST0001', '301:3001:n1', 0, 10, '{"write": 2, "write_usecs": 60}');
END $$;
SELECT count(*) AS targets, count(rate) AS known, sum(rate) AS rate
FROM jobstats_rates(at(0), at(10), 'service_time', 'target', filter => 'filesystem=many job=301');

-- Answers from rollups by user are the same as those from increments.
CREATE VIEW answers AS
SELECT q.filesystem, a.kind, a.answer
FROM (VALUES ('{old}'::text[]), ('{old,new}')) q (filesystem)
CROSS JOIN LATERAL (
    SELECT 'top', to_jsonb(r) FROM jobstats_top('2025-11-03 08:00', '2025-11-03 09:00', by => 'uid', filter => jsonb_build_object('filesystem', q.filesystem)) r
    UNION ALL
    SELECT 'densities', to_jsonb(r)
    FROM jobstats_densities('2025-11-03 07:50', '2025-11-03 09:00', step => '10 minutes', filter => jsonb_build_object('filesystem', q.filesystem)) r
) a (kind, answer);
CREATE TABLE of_increments AS SELECT * FROM answers;
SELECT filesystem, kind, count(*), min(coalesce(answer ->> 'operation', answer ->> 'lower')) AS first, max(coalesce(answer ->> 'operation', answer ->> 'lower')) AS last
FROM of_increments GROUP BY filesystem, kind ORDER BY filesystem, kind;
SELECT jobstats_setup(raw_retention => '100 years', retention => '100 years') IS NOT NULL AS ready;
CALL jobstats_maintain();
SELECT level, users_refreshed > at(60) AS refreshed FROM jobstats.rollups ORDER BY level;
CREATE TABLE of_rollups AS SELECT * FROM answers;
SELECT * FROM (TABLE of_increments EXCEPT ALL TABLE of_rollups) lost
UNION ALL SELECT * FROM (TABLE of_rollups EXCEPT ALL TABLE of_increments) found;
