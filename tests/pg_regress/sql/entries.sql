-- jobstats_internal.entries() gives the owner of an entry at a time, as other reading functions do.
\i reading.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
SELECT jobstats_setup(retention => '100 years', compress_after => '100 years') IS NOT NULL AS ready;

-- Each day has an observation that ends at 0:10 UTC, and one at the end of the day.
DO $$ BEGIN
    PERFORM observe('scratch-MDT0000', 'mds1', 950, 960, 970, 2390, 2400, 2410);
    PERFORM act('scratch-MDT0000', entry, minute - 10, minute, '{"open": 1, "open_usecs": 1}')
    FROM unnest('{1:1000:n01,2:1001:n02,cp.1000,3:1003:n03}'::text[]) entry, unnest('{960,970,2400,2410}'::integer[]) minute;
END $$;
UPDATE jobstats.entries SET uid = NULL WHERE job IN ('2', '3');
INSERT INTO jobstats.users (uid, user_name, gid) VALUES (1000, 'bob', 200);
INSERT INTO jobstats.earlier_users (uid, user_name, gid, since, until) VALUES
    (1000, 'ada', 100, '-infinity', '2025-11-04'), (1000, 'countess', 100, '2025-11-04', '2025-11-05');
INSERT INTO jobstats.groups (gid, group_name) VALUES (100, 'users'), (200, 'staff');
INSERT INTO jobstats.earlier_groups (gid, group_name, since, until) VALUES (100, 'people', '-infinity', '2025-11-04');
-- Job 1 is another job from Tuesday on. The jobs 2 and 3 have users: 1000, and a user that only accounting knows.
INSERT INTO jobstats.job_ids (job_no, scheduler, job, runs, started, last_started, uid, user_name, gid, group_name, account, partition, job_name, state)
OVERRIDING SYSTEM VALUE VALUES
    (11, 's', '1', 1, '2025-11-03', '2025-11-03', 1000, 'job', 100, 'group', 'early', 'small', 'first', 'COMPLETED'),
    (12, 's', '1', 1, '2025-11-04', '2025-11-04', 1000, 'job', 100, 'group', 'late', 'large', 'second', 'RUNNING'),
    (2, 's', '2', 1, '2025-11-03', '2025-11-03', 1000, 'job', 300, 'group', 'two', NULL, NULL, NULL),
    (3, 's', '3', 1, '2025-11-03', '2025-11-03', 1003, 'eve', 300, 'guests', 'three', NULL, NULL, NULL);
INSERT INTO jobstats.entry_jobs (entry_id, valid_from, valid_to, job_no, status, alone)
SELECT e.entry_id, j.valid_from, j.valid_to, j.job_no, 'known', j.job <> '1'
FROM (VALUES ('1', 11, timestamptz '2025-11-03', timestamptz '2025-11-04'), ('1', 12, '2025-11-04', 'infinity'),
    ('2', 2, '-infinity', 'infinity'), ('3', 3, '-infinity', 'infinity')) j (job, job_no, valid_from, valid_to)
JOIN jobstats.entries e ON e.job = j.job;

SELECT entry, status, workload, job, uid, node, executable, pid FROM jobstats_internal.entries() ORDER BY entry;
-- A day ends with 0:00 UTC of the next one.
SELECT date(at - interval '1 second') AS day, entry, uid, user_name, gid, group_name, account, partition, job_name, state
FROM unnest(ARRAY[at(960), at(970), at(2400), at(2410)]) at, jobstats_internal.entries(at)
ORDER BY at, entry;

-- The other functions agree for the windows that end at these times.
CREATE VIEW named AS
SELECT at, e.entry, e.job, e.node, e.executable, e.status, e.workload, e.uid, e.user_name, e.gid, e.group_name, e.account, e.partition, e.job_name, e.state
FROM unnest(ARRAY[at(960), at(970), at(2400), at(2410)]) at, jobstats_internal.entries(at) e;
CREATE VIEW totals AS
SELECT at, t.entry, t.job, t.node, t.executable, t.status, t.workload, t.uid, t.user_name, t.gid, t.group_name, t.account, t.partition, t.job_name, t.state
FROM unnest(ARRAY[at(960), at(970), at(2400), at(2410)]) at,
    jobstats_totals(at - interval '10 minutes', at, 'open', (SELECT string_agg(d.name, ',') FROM jobstats_internal.dimensions() d)) r, dims(r.labels) t;
SELECT count(*) FROM totals;
SELECT * FROM ((TABLE named EXCEPT TABLE totals) UNION ALL (TABLE totals EXCEPT TABLE named)) other;
SELECT count(*) AS others
FROM unnest(ARRAY[at(960), at(970), at(2400), at(2410)]) AS at (at), jobstats_now(n => 10, at => at) r, dims(r.labels) n
WHERE r.age <> interval '0' OR NOT EXISTS (SELECT FROM named e WHERE e.at = at.at AND e.workload = n.workload AND e.uid IS NOT DISTINCT FROM n.uid
    AND e.user_name IS NOT DISTINCT FROM n.user_name AND e.account IS NOT DISTINCT FROM n.account);
