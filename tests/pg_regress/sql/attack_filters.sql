-- Filters: names that look like patterns, and texts that are no filters.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
SELECT jobstats_setup(retention => '100 years', raw_retention => '100 years', compress_after => '100 years') IS NOT NULL AS ready;
-- A user can call a job anything. Each has its own power of two.
CREATE TABLE jobs AS
SELECT job, 1::bigint << number::integer AS bytes
FROM unnest(ARRAY['*', 'a*', '\*', '\\*', 'a\b', 'ab', '[x]', '?', '%', '_', 'a b', 'a,b', '"q"', '''q''', 'k=v', '{}', '[]', 'null', 'job=ab', ' ', E'\t', 'é*'])
    WITH ORDINALITY AS j (job, number);
SELECT observe('fs-OST0000', 'oss1', 0, 10), observe('fs-MDT0000', 'mds1', 0, 10), observe('home-MDT0000', 'mds2', 0, 10) \gset
INSERT INTO jobstats.entries (entry_id, name, job, uid, status, workload, first_seen)
SELECT hashtextextended(job, 0), job, job, 1000, 'ok', job, at(0) FROM jobs
UNION ALL SELECT hashtextextended('cp.1001', 0), 'cp.1001', NULL, 1001, 'missing_job', 'cp.1001', at(0);
SELECT act('fs-OST0000', job, 0, 10, jsonb_build_object('write_bytes', bytes)) FROM jobs \g /dev/null
SELECT act('fs-OST0000', 'cp.1001', 0, 10, '{"write_bytes": 1}') \gset
CREATE FUNCTION written(filter jobstats_filter, exclude jobstats_filter DEFAULT NULL) RETURNS numeric LANGUAGE sql AS $$
SELECT coalesce(sum(t.total), 0) FROM jobstats_totals(at(0), at(10), 'write_bytes', 'job', filter => $1, exclude => $2) t
$$;

-- The labels of a row are a filter for exactly this row, also for another role.
SELECT count(*) AS rows, count(*) FILTER (WHERE t.total = r.total) AS same
FROM jobstats_totals(at(0), at(10), 'write_bytes', 'job') t, jobstats_totals(at(0), at(10), 'write_bytes', 'job', filter => t.labels) r;
SELECT count(*) AS rows, count(*) FILTER (WHERE t.total = r.total) AS same
FROM jobstats_totals(at(0), at(10), 'write_bytes', 'workload,uid,status,entry') t, jobstats_top(at(0), at(10), 'write_bytes', 'workload', filter => t.labels) r;
SELECT count(*) FILTER (WHERE written(t.labels) = t.total) AS rows, count(*) FILTER (WHERE written(NULL, t.labels) = (SELECT sum(bytes) + 1 FROM jobs) - t.total) AS without
FROM jobstats_totals(at(0), at(10), 'write_bytes', 'job') t;
-- Short forms, where they are clear.
INSERT INTO jobstats.entries (entry_id, name, job, uid, status, workload, first_seen)
SELECT hashtextextended(job, 0), job, job, 1000, 'ok', job, at(0) FROM unnest('{1003023,4711,4712,4712.0}'::text[]) AS job;
SELECT act('fs-MDT0000', job, 0, 10, jsonb_build_object('open', number)) FROM unnest('{1003023,4711,4712,4712.0}'::text[]) WITH ORDINALITY AS j (job, number) \g /dev/null
INSERT INTO jobstats.jobs (scheduler, job, label, submitted, started, ended, user_name, state, nodes, source, updated)
VALUES ('flux', '4713', 'ƒ2Ak', at(0), at(0), at(10), 'ada', 'COMPLETED', 1, 'flux', at(10));
SELECT asked, t.name, t.total FROM unnest('{1003023.batch,1003023.extern,1003023.0,4711.0,4712.0,4712.batch}'::text[]) asked,
    jobstats_totals(at(0), at(10), 'open', 'job', filter => jsonb_build_object('job', asked)) t;
SELECT asked, j.job, j.metadata FROM unnest('{1003023.batch,4711.0,4712.0,f2Ak}'::text[]) asked, jobstats_job(asked) j;
\set VERBOSITY default
SELECT asked, t.name FROM unnest('{OST0000,OST0001,MDT0000}'::text[]) asked, jobstats_totals(at(0), at(10), 'write_bytes', 'target', filter => jsonb_build_object('target', asked)) t;

\set VERBOSITY terse
-- After maintenance, sums by owner answer alike.
CALL jobstats_maintain();
SELECT count(*) FILTER (WHERE written(t.labels) = t.total) AS rows FROM jobstats_totals(at(0), at(10), 'write_bytes', 'job') t;

-- In text and in JSON: what a user means who types it.
CREATE FUNCTION found(filter text) RETURNS text LANGUAGE sql AS $$
SELECT string_agg(coalesce(l.labels ->> 'job', 'none'), ' | ' ORDER BY l.total) FROM jobstats_totals(at(0), at(10), 'write_bytes', 'job', filter => $1) l
$$;
SELECT said, found(said) FROM unnest(ARRAY['job=ab', 'job=a*', 'job=\*', 'job=\\*', 'job=a\b', 'job=[x]', 'job=?', 'job=_', 'job="%"', 'job="a b"', 'job="a,b"', 'job=ab,?', 
    'job="""q"""', 'job=''q''', 'job=k=v', 'job="job=ab"', 'job={}', 'job=null', 'job=" "', 'job=', 'job=,ab', 'job=*', 'job=*,ab', 'job=**', 'job="*"', 'job=é\*', '',
    '{"job": "*"}', '{"job": "\\*"}', '{"job": ["a*", "\\*"]}', '{"job": null}', '{"job": [null, "ab"]}', '{"job": []}', '{"job": "a,b"}', '{"job": ["%", "_"]}', '{"job": "null"}', '{}'])
    WITH ORDINALITY AS a (said, number) ORDER BY number;
-- All that has no job, and all but that.
SELECT written('job='), written('job=*') - written('job=**') AS none, written(NULL, 'job=') = (SELECT sum(bytes) FROM jobs) AS all_jobs;
-- A parameter of a driver, JSON with other keys, keys that replace others.
PREPARE asked AS SELECT total FROM jobstats_totals(at(0), at(10), 'write_bytes', '', filter => $1);
EXECUTE asked('job=ab');
EXECUTE asked('{"job": "ab"}');
DEALLOCATE asked;
SELECT total FROM jobstats_totals(at(0), at(10), 'write_bytes', '', filter => jsonb_build_object('job', 'a*', 'uid', ARRAY[1000, 7]) || '{"job": "ab"}');
SELECT total FROM jobstats_totals(at(0), at(10), 'write_bytes', '', filter => json_build_object('job', 'ab')), jsonb_to_record('{"uid": 7}') AS l (uid bigint);

-- Invalid filters fail, with a hint.
\set ECHO none
CREATE FUNCTION tried(said text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN
    RETURN (said::jobstats_filter)::jsonb::text;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN format('%s %s / %s', SQLSTATE, left(SQLERRM, 80), left(hint, 110));
END
$$;
\set ECHO all
SELECT left(said, 30) AS said, tried(said) FROM unnest(ARRAY['user', 'jan', '=ab', 'usr=jan', 'jobs=7', 'User=jan', 'job=10%', 'job="10%"', 'job="ab', 'job=ab"', 'job=ab uid', 'others=49', '{"others": 49}', '{"untracked": true}',
    '{"job": {}}', '{"job": true}', '{"job": [[1]]}', '[1]', '"job"', '{"job": 1', '7', 'null', 'job=ab job=cd', '{"uid": 1.5}', '{"uid": "ada"}', 'uid=1e3', repeat('job=ab ', 50000), E'job=a\nuid=1000', 'job = ab', 'job=a , b', 'job=a b'])
    WITH ORDINALITY AS a (said, number) ORDER BY number;
