-- Compares what is known of each identifier on each day with the truth of the simulator on stdin.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE TEMPORARY TABLE truth (line jsonb);
\copy truth FROM pstdin WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')

CREATE TEMPORARY VIEW expected AS
SELECT t.line ->> 'identifier' AS name, (t.line ->> 'day')::date AS day, t.line ->> 'status' AS status, t.line #>> '{known,scheduler}' AS scheduler,
    t.line #>> '{known,job}' AS job, t.line #>> '{known,user_name}' AS user_name
FROM truth t WHERE t.line ->> 'kind' = 'entry';

-- Everything that was seen at work on a day. Work between two readings may not have been seen.
CREATE TEMPORARY VIEW found AS
SELECT e.name, (a.bucket - interval '1 microsecond')::date AS day, coalesce(j.status, 'unknown') AS status, i.scheduler, i.job, i.user_name,
    (SELECT count(DISTINCT k.user_name) FROM jobstats.jobs k
        WHERE k.job = e.job AND k.started <= a.last AND (k.ended >= a.first) IS NOT FALSE) AS owners
FROM (SELECT r.entry_id, r.bucket, min(r.first) AS first, max(r.last) AS last FROM jobstats.rollup_1d r GROUP BY 1, 2) a
JOIN jobstats.entries e ON e.entry_id = a.entry_id
LEFT JOIN jobstats.entry_jobs j ON j.entry_id = a.entry_id AND a.bucket > j.valid_from AND a.bucket <= j.valid_to
LEFT JOIN jobstats.job_ids i ON i.job_no = j.job_no;

-- Nobody can know that an identifier misleads, so that it may say anything. If the work of one of two jobs was not seen, the other one
-- is the job; if work was seen so late that the next job was running, both fit.
CREATE TEMPORARY TABLE judged AS
SELECT e.name, e.day, e.status AS truth, f.status AS found, e.job, e.user_name, e.scheduler, f.job AS found_job, f.user_name AS found_user,
    f.scheduler AS found_scheduler, f.status = CASE
        WHEN e.status IN ('known', 'partial') THEN CASE WHEN f.owners > 1 AND f.status = 'ambiguous' THEN f.status ELSE 'known' END
        WHEN e.status = 'ambiguous' AND f.owners = 1 THEN 'known'
        WHEN e.status IN ('ambiguous', 'stale') THEN e.status
        WHEN e.status = 'misleading' THEN f.status
        ELSE 'unknown' END
    AND (f.job IS NULL OR e.job IS NULL OR (f.job, f.user_name) = (e.job, e.user_name) AND (e.scheduler IS NULL OR f.scheduler = e.scheduler))
        AS is_right
FROM expected e JOIN found f ON f.name = e.name AND f.day = e.day;
SELECT * FROM judged j WHERE NOT j.is_right ORDER BY j.name, j.day LIMIT 20;
SELECT format('%s: %s identifiers of a day, %s of known jobs, %s ambiguous, %s stale, %s without a job; %s differences', :'scheduler', count(*),
    count(*) FILTER (WHERE j.found = 'known'), count(*) FILTER (WHERE j.found = 'ambiguous'), count(*) FILTER (WHERE j.found = 'stale'),
    count(*) FILTER (WHERE j.found = 'unknown'), count(*) FILTER (WHERE NOT j.is_right)) FROM judged j;
DO $$ BEGIN
    ASSERT (SELECT count(*) FROM judged j WHERE j.found = 'known') > 50, 'hardly anything is known';
    ASSERT (SELECT bool_and(j.is_right) FROM judged j), 'jobs of entries differ from the truth';
END $$;
