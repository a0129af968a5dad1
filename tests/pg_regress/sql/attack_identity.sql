-- Variables and programs that look like an identifier do not reveal another user's job and do not hide their user behind a colon.
\i store.sql
\i accounting.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
DO $$ BEGIN PERFORM jobstats_setup(retention => '100 years', raw_retention => '100 years', compress_after => '100 years'); END $$;
UPDATE texts.clock SET zero = '2025-11-03 08:00+00';

-- The job 4711 of user 1000 runs. User 1001 sets SLURM_JOB_ID to text that pushes what the kernel writes out of the 31 bytes, or that has
-- colons, or only to the number. Root works for the job, in its prolog.
SELECT account(30, run('4711', '4711', 'alpha', 0, 20, 1000, 'physics'));
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(o.minute), ost('scratch-OST0000',
    (SELECT string_agg(record(id, o.minute::integer, o.minute::integer * 4096), '' ORDER BY id)
     FROM unnest(ARRAY['4711:1000:n01', '4711:0:n01', rpad('4711:1000:n01', 31, 'a'), rpad('4711:0:n01', 31, 'a'), rpad('4711.', 31, 'a'),
         '4711:1000:1001:n01', '4711:1001:n01', 'a:b:1001:n01']) AS id))
FROM (VALUES (0), (10), (20)) AS o (minute);
CALL jobstats_maintain();
SELECT e.name, e.job, e.uid, e.node, e.status, j.status AS matched, i.account
FROM jobstats.entries e LEFT JOIN jobstats.entry_jobs j USING (entry_id) LEFT JOIN jobstats.job_ids i USING (job_no) ORDER BY e.name COLLATE "C";
SELECT status, entries FROM jobstats.job_quality ORDER BY status COLLATE "C";

-- Where the user comes first, the rest of the identifier does not change the user.
SELECT entry, job, uid, node, status
FROM unnest(ARRAY['1000:4711:n01', rpad('1001:4711:n01', 31, 'a'), rpad('1001:4711.', 31, 'a'), '1001:a:b:n01', rpad('1001:a:b:', 31, 'c')])
    WITH ORDINALITY AS e (entry, position), jobstats_identify(entry, '{%u:%j:%H,%e.%u}') i
ORDER BY position;

-- A program or job with the name of a folded entry is not taken for it.
SELECT entry, tried, job, uid, gid, executable, pid
FROM (VALUES ('*.1000', '%e.%g'), ('*.1000', '%e.%p'), ('*.1000', '%j'), ('*.1000 (entries of this user added up)', '%j')) AS e (entry, tried),
    jobstats_identify(entry, ARRAY[tried]) i
ORDER BY length(entry), tried COLLATE "C";
