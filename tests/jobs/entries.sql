-- Compares the attribution of each identifier on each day with the simulator's truth on stdin.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE TEMPORARY TABLE truth (line jsonb);
\copy truth FROM pstdin WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')

CREATE TEMPORARY TABLE expected AS
SELECT t.line ->> 'identifier' AS name, (t.line ->> 'day')::date AS day, t.line ->> 'status' AS status, t.line #>> '{known,scheduler}' AS scheduler,
    t.line #>> '{known,job}' AS job, t.line #>> '{known,user_name}' AS user_name, t.line -> 'jobs' AS jobs
FROM truth t WHERE t.line ->> 'kind' = 'entry';
-- The jobs that truly did the work.
CREATE TEMPORARY TABLE worked AS
SELECT DISTINCT e.name, e.day, j ->> 'scheduler' AS scheduler, j ->> 'job' AS job, t.line ->> 'owner' AS user_name
FROM expected e CROSS JOIN LATERAL jsonb_array_elements(e.jobs) j
JOIN truth t ON t.line ->> 'kind' = 'run' AND t.line ->> 'scheduler' = j ->> 'scheduler' AND t.line ->> 'job' = j ->> 'job'
    AND t.line ->> 'true_started' = j ->> 'started';

-- Everything that was seen at work on a day. Work between two readings may not have been seen.
CREATE TEMPORARY TABLE active AS
SELECT r.entry_id, (r.bucket - interval '1 microsecond')::date AS day, min(r.first) AS first, max(r.last) AS last
FROM jobstats.rollup_1d r GROUP BY 1, 2;
CREATE TEMPORARY TABLE found AS
SELECT s.name, a.day, s.status, i.scheduler, i.job, i.user_name, a.first, a.last,
    (SELECT count(DISTINCT k.user_name) FROM jobstats.jobs k
        WHERE k.job = s.job AND k.started <= a.last AND (k.ended >= a.first) IS NOT FALSE) AS owners
FROM (SELECT DISTINCT a.day FROM active a) d
CROSS JOIN LATERAL jobstats.entry_status(d.day::timestamptz, d.day + interval '1 day') s
JOIN active a ON a.entry_id = s.entry_id AND a.day = d.day
LEFT JOIN jobstats.job_ids i ON i.job_no = s.job_no;

-- A misleading identifier cannot be detected, so any answer is right. If the requests of one of two jobs were not seen, the other one is
-- the answer; if requests were seen so late that the next job was running, both fit. A file has no data before its first and after its last
-- record; the files of LSF and Grid Engine have a job when it has ended. Requests seen late may have been seen in the next run of the job,
-- which accounting has.
CREATE TEMPORARY TABLE judged AS
SELECT e.name, e.day, e.status AS truth, f.status AS found, e.job, e.user_name, e.scheduler, f.job AS found_job, f.user_name AS found_user,
    f.scheduler AS found_scheduler, CASE
        WHEN e.status IN ('known', 'partial') THEN f.status IN ('known', 'partial') OR f.owners > 1 AND f.status = 'ambiguous'
        WHEN e.status = 'ambiguous' THEN f.status = 'ambiguous' OR f.owners = 1 AND f.status IN ('known', 'partial')
        WHEN e.status = 'misleading' THEN true
        WHEN e.status = 'none' THEN f.status = 'without job'
        WHEN f.status = e.status THEN true
        WHEN f.status IN ('known', 'partial') THEN (e.name, e.day, f.scheduler, f.job, f.user_name) IN (
            SELECT w.name, w.day, w.scheduler, w.job, w.user_name FROM worked w)
        WHEN e.status = 'unconfirmed' THEN f.status = 'uncovered' AND EXISTS (
            SELECT FROM (SELECT c.source, min(c.since) AS since, max(c.until) AS until FROM jobstats.covered c GROUP BY c.cluster, c.source) c
            WHERE c.source IN ('pbs', 'lsf', 'gridengine')
                AND (f.first < c.since OR f.last > c.until - CASE c.source WHEN 'pbs' THEN interval '0' ELSE interval '1 day' END))
        ELSE false END
    AND (f.job IS NULL OR e.job IS NULL OR (f.job, f.user_name) = (e.job, e.user_name) AND (e.scheduler IS NULL OR f.scheduler = e.scheduler))
        AS is_right
FROM expected e JOIN found f ON f.name = e.name AND f.day = e.day;
SELECT * FROM judged j WHERE NOT j.is_right ORDER BY j.name, j.day LIMIT 20;

-- The sums of the view for a day equal all activity.
CREATE TEMPORARY TABLE sums AS
SELECT a.day, a.entries = q.entries AND a.entries = f.entries AND a.bytes = q.bytes AS is_right
FROM (
    SELECT (r.bucket - interval '1 microsecond')::date AS day, count(DISTINCT (t.cluster, r.entry_id)) AS entries,
        sum(coalesce(r.read_bytes, 0) + coalesce(r.write_bytes, 0)) AS bytes
    FROM jobstats.rollup_1d r JOIN jobstats.targets t USING (target_id) GROUP BY 1) a
FULL JOIN (SELECT day::date AS day, sum(entries) AS entries, sum(bytes) AS bytes FROM jobstats.job_quality GROUP BY 1) q USING (day)
FULL JOIN (SELECT day, count(*) AS entries FROM found GROUP BY 1) f USING (day);

-- Requests outside any job that were attributed to a job. Accounting lists runaway jobs as still running.
CREATE TEMPORARY TABLE attributed AS
SELECT e.name, (a.since + interval '1 microsecond')::date AS day, i.scheduler, i.job, i.user_name,
    (e.name, (a.since + interval '1 microsecond')::date, i.scheduler, i.job, i.user_name) IN (
        SELECT w.name, w.day, w.scheduler, w.job, w.user_name FROM worked w) AS is_right
FROM jobstats.job_ids i
CROSS JOIN LATERAL jobstats_internal.attributed(i.job_no) a
JOIN jobstats.entries e ON e.entry_id = a.entry_id
WHERE NOT EXISTS (
    SELECT FROM truth t
    WHERE t.line ->> 'kind' = 'run' AND t.line ->> 'story' = 'runaway' AND t.line ->> 'scheduler' = i.scheduler AND t.line ->> 'job' = i.job);
SELECT * FROM attributed a WHERE NOT a.is_right ORDER BY a.name LIMIT 20;

SELECT format('%s: %s identifiers of %s days, %s; %s attributed to jobs; %s differences', :'scheduler', sum(s.entries), (SELECT count(*) FROM sums),
    string_agg(s.entries || ' ' || s.status, ', ' ORDER BY s.entries DESC), (SELECT count(*) FROM attributed), (SELECT count(*) FROM judged j WHERE NOT j.is_right))
FROM (SELECT j.found AS status, count(*) AS entries FROM judged j GROUP BY 1) s;
DO $$ BEGIN
    ASSERT (SELECT count(*) FROM judged j WHERE j.found = 'known') > 20, 'hardly anything is known';
    ASSERT (SELECT count(*) FROM sums) >= 2, 'days are missing';
    ASSERT (SELECT bool_and(coalesce(s.is_right, false)) FROM sums s), 'statuses do not add up';
    -- The others are of login nodes and daemons.
    ASSERT NOT EXISTS (SELECT FROM found f WHERE f.job IS NOT NULL AND NOT EXISTS (SELECT FROM expected e WHERE e.name = f.name AND e.day = f.day)),
        'identifiers of no job have one';
    ASSERT (SELECT count(*) FILTER (WHERE NOT a.is_right) * 100 <= count(*) FROM attributed a), 'work is attributed to other jobs';
    ASSERT (SELECT bool_and(j.is_right) FROM judged j), 'jobs of entries differ from the truth';
END $$;
