-- Weights: a load as a linear combination of operations, in rates and in top.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'


DO $$ BEGIN
    PERFORM observe('scratch-MDT0000', 'mds1', 0, 5, 10, 15);
    PERFORM observe('scratch-OST0000', 'oss1', 0, 5, 10);
    PERFORM observe('scratch-OST0001', 'oss2', 5, 10, 15);
    PERFORM act('scratch-MDT0000', '101:1000:n01', 0, 5, '{"open": 61, "open_usecs": 6100, "close": 7, "close_usecs": 70, "mknod": 3, "mknod_usecs": 999}');
    PERFORM act('scratch-MDT0000', '102:1001:n02', 5, 10, '{"getattr": 977, "getattr_usecs": 48850}');
    PERFORM act('scratch-OST0000', '101:1000:n01', 0, 5, '{"write_bytes": 4194301, "write": 5, "write_usecs": 8003, "getattr": 11, "getattr_usecs": 13}');
    PERFORM act('scratch-OST0001', '101:1000:n01', 5, 10, '{"write_bytes": 1048573, "write": 2, "write_usecs": 5001}');
    PERFORM act('scratch-OST0001', '102:1001:n02', 10, 15, '{"read_bytes": 7340033, "read": 9, "read_usecs": 70007}');
END $$;

-- Job 101: 0.001 * (4194301 + 1048573) + 10 * (61 + 7) + 100 * 0.019187; job 102: 10 * 977 + 100 * 0.118857.
SELECT name, total FROM jobstats_top(at(0), at(15), 'weighted', 'job', weights => '{"write_bytes": 0.001, "metadata": 10, "service_time": 100}');

-- In any window and by anything, totals are exactly the sum of the weights times the totals of the operations.
CREATE TABLE weights AS SELECT * FROM (VALUES
    ('{"write_bytes": 0.001, "metadata": 10, "service_time": 100}'::jsonb), ('{"service_time": 1}'), ('{"metadata": -2.5, "getattr": 1}'),
    ('{"write_bytes": 1e-6, "read_bytes": 1e-6, "open_time": 125000, "mknod": 0}')) AS weights (weights);
CREATE TABLE questions AS
SELECT weights, at(since) AS since, at(until) AS until, by
FROM weights, (VALUES (0, 15), (1.7, 9.3), (4, 5), (0, 7)) AS windows (since, until),
    (VALUES ('job'), ('target'), (''), ('kind,uid'), ('server,node')) AS groups (by);
CREATE TABLE expected AS
SELECT q.*, t.labels, sum(w.value::numeric * coalesce(t.total, 0)) AS total
FROM questions q
CROSS JOIN LATERAL jsonb_each_text(q.weights) w
CROSS JOIN LATERAL jobstats_totals(q.since, q.until, w.key, q.by) t
GROUP BY q.weights, q.since, q.until, q.by, t.labels;
CREATE TABLE answers AS
SELECT q.*, t.labels, t.total, t.rate FROM questions q, jobstats_top(q.since, q.until, 'weighted', q.by, weights => q.weights) t;
SELECT count(*) > 100 AS many FROM answers;
SELECT weights, since, until, by, labels, total FROM expected WHERE total <> 0
EXCEPT SELECT weights, since, until, by, labels, total FROM answers;
SELECT weights, since, until, by, labels, total FROM answers
EXCEPT SELECT weights, since, until, by, labels, total FROM expected;

-- Rates likewise, although targets were observed for different times.
SELECT q.weights, q.since, q.by, r.labels, r.rate, e.rate AS expected
FROM questions q
CROSS JOIN LATERAL jobstats_rates(q.since, q.until, '', q.by, weights => q.weights) r
CROSS JOIN LATERAL (
    SELECT sum(w.value::double precision * s.rate) AS rate
    FROM jsonb_each_text(q.weights) w, jobstats_rates(q.since, q.until, w.key, q.by) s
    WHERE s.labels = r.labels
) e
WHERE abs(r.rate - e.rate) > 1e-9 * abs(e.rate) OR (r.rate IS NULL) <> (e.rate IS NULL);
-- top agrees.
SELECT a.* FROM answers a LEFT JOIN LATERAL (
    SELECT true AS same FROM jobstats_rates(a.since, a.until, 'weighted', a.by, weights => a.weights) r
    WHERE ROW(r.labels, r.rate) IS NOT DISTINCT FROM ROW(a.labels, a.rate)
) r ON true
WHERE same IS NULL;

-- Where servers report no times, a combination that needs them is unknown.
DO $$ BEGIN
    PERFORM observe('old-OST0000', 'oss9', 0, 5);
    PERFORM act('old-OST0000', '201:1000:n01', 0, 5, '{"write_bytes": 300, "write": 3}');
END $$;
SELECT operation, rate FROM jobstats_rates(at(0), at(5), 'write_bytes', '', weights => '{"write_bytes": 1, "service_time": 1}', filter => 'filesystem=old');
