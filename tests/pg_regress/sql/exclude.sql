-- The argument exclude leaves out what matches any of its keys, in every function with filters.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
SELECT jobstats_setup(retention => '100 years', compress_after => '100 years') IS NOT NULL AS ready;
INSERT INTO jobstats.entry_formats VALUES (3, '%j@%H', NULL);

-- Jobs on compute and login nodes, one of root, and one without a user in its identifier.
DO $$ BEGIN
    PERFORM observe('scratch-OST0000', 'oss1', 0, 10, 20);
    PERFORM observe('scratch-OST0001', 'oss2', 0, 10, 20);
    PERFORM observe('home-OST0000', 'oss2', 0, 10);
    PERFORM act('scratch-OST0000', '101:1000:n01', 0, 10, '{"write": 600, "write_bytes": 6000, "write_usecs": 60000000}');
    PERFORM act('scratch-OST0001', '101:1000:n02', 10, 20, '{"write": 300, "write_bytes": 3000, "write_usecs": 30000000}');
    PERFORM act('scratch-OST0001', '102:1001:login1', 0, 10, '{"write": 120, "write_bytes": 1200, "write_usecs": 12000000}');
    PERFORM act('scratch-OST0001', '103:0:n02', 0, 10, '{"write": 60, "write_bytes": 600, "write_usecs": 6000000}');
    PERFORM act('home-OST0000', '104@n03', 0, 10, '{"write": 30, "write_bytes": 300, "write_usecs": 3000000}');
END $$;
SELECT name, job, uid, node FROM jobstats.entries ORDER BY 1;

CREATE VIEW answers AS
-- Neither root nor login nodes: the job without a user stays.
SELECT 1 AS question, to_jsonb(r) AS answer
FROM jobstats_totals(at(0), at(20), 'write_bytes', 'job', exclude => '{"uid": [0], "node": ["login*"]}') r
UNION ALL
SELECT 2, to_jsonb(r) FROM jobstats_rates(at(0), at(20), 'write_bytes', 'uid', '10 minutes', exclude => '{"uid": [0, 1001]}') r
UNION ALL
SELECT 3, to_jsonb(r) FROM jobstats_top(at(0), at(20), 'write_bytes', 'job', exclude => '{"job": ["101", "*4"]}') r
UNION ALL
SELECT 4, to_jsonb(r) FROM jobstats_summary(at(0), at(20), 'job', exclude => '{"node": ["n*2"]}') r
UNION ALL
SELECT 5, to_jsonb(r) FROM jobstats_densities(at(0), at(20), 'write_bytes', 'job', exclude => '{"uid": [1000]}') r
UNION ALL
-- A filter and an exclusion of the same dimension.
SELECT 6, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'write_bytes', 'node', exclude => '{"node": ["n01", "n03"]}', filter => 'node=n*') r
UNION ALL
-- By targets alone the rest is 0.
SELECT 7, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'write_bytes', 'target', exclude => '{"job": ["101"]}') r
UNION ALL
-- Targets, file systems and servers that are left out are not in scope, and lower no coverage.
SELECT 8, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'write_bytes', '', exclude => '{"filesystem": ["home"]}') r
UNION ALL
SELECT 9, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'write_bytes', 'target', exclude => '{"target": ["scratch-*"]}') r
UNION ALL
SELECT 10, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'write_bytes', 'server', exclude => '{"server": ["oss2"]}') r
UNION ALL
SELECT 11, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'write_bytes', 'kind', exclude => '{"kind": ["OST"]}') r
UNION ALL
-- Who has no user. Lists of one, and text.
SELECT 12, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'write_bytes', 'uid', exclude => '{"uid": [null, 1001], "node": "n0*2"}') r
UNION ALL
SELECT 13, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'write_bytes', 'uid', exclude => 'uid=,1001 node=n0*2') r
UNION ALL
-- No key, an empty list, a value that matches no user, a star alone, and NULL leave no row out.
SELECT 14, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'write_bytes', '', exclude => '{}') r
UNION ALL
SELECT 15, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'write_bytes', '', exclude => '{"uid": ["ada", 0.5, 9223372036854775808], "job": [], "node": "*"}') r
UNION ALL
SELECT 16, to_jsonb(r) FROM jobstats_totals(at(0), at(20), 'write_bytes', '', exclude => NULL) r;
SELECT question, string_agg(e.key || ' ' || e.value, ', ' ORDER BY e.key) AS answer
FROM answers a CROSS JOIN LATERAL jsonb_each_text(a.answer) e
WHERE e.key IN ('time', 'name', 'total', 'rate', 'coverage', 'write_bytes', 'bucket', 'count')
GROUP BY question, a.answer ORDER BY question, a.answer ->> 'time', a.answer;

-- Answers that rollups give are the same.
CREATE TABLE before AS TABLE answers;
CALL jobstats_maintain();
(TABLE before EXCEPT ALL TABLE answers) UNION ALL (TABLE answers EXCEPT ALL TABLE before);

-- What cannot be read is refused.
\set VERBOSITY default
SELECT * FROM jobstats_totals(exclude => '{"users": ["ada"]}');
SELECT * FROM jobstats_totals(exclude => '{"uid": {"ada": 0}}');
\set VERBOSITY terse
SELECT * FROM jobstats_totals(exclude => '{"uid": true}');
SELECT * FROM jobstats_totals(exclude => '{"uid": [[0]]}');
SELECT * FROM jobstats_rates(exclude => '{"node": 1');
SELECT * FROM jobstats_top(exclude => '["login*"]'::jsonb);
SELECT * FROM jobstats_summary(exclude => 'null'::jsonb);
SELECT * FROM jobstats_totals(exclude => jsonb_build_object('node', ARRAY[repeat('x', 1048576)]));
\echo :LAST_ERROR_SQLSTATE
