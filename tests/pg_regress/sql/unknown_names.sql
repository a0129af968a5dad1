-- An empty answer has the reason: no text was ever fed, or a filter matches no known name.
\i reading.sql
\set ECHO all
\pset format unaligned
\pset tuples_only

-- A store without targets.
SELECT * FROM jobstats_top();
SELECT * FROM jobstats_job('4711');
SELECT * FROM jobstats_job_usage('4711');
SELECT * FROM jobstats_now();

DO $$ BEGIN
    PERFORM observe(format('scratch-OST000%s', n), 'oss1', 0, 5) FROM generate_series(0, 4) AS n;
    PERFORM act('scratch-OST0000', job || ':1000:n01', 0, 5, '{"write": 1}') FROM unnest('{4711,4712_1,4712_2,5000,rsync}'::text[]) AS job;
END $$;

-- The three most similar names.
SELECT * FROM jobstats_job('4713');
SELECT * FROM jobstats_job_usage('4713');
SELECT * FROM jobstats_job(7411);
SELECT * FROM jobstats_job_usage(7411);
SELECT * FROM jobstats_job_usage('4712');
SELECT * FROM jobstats_job_usage('no job at all');
SELECT * FROM jobstats_job_usage(repeat('4', 500));
SELECT * FROM jobstats_top(at(0), at(5), 'write', filter => 'job=471');
SELECT * FROM jobstats_rates(at(0), at(5), 'write', 'job', filter => 'target=scratch-OST00004');
SELECT * FROM jobstats_totals(at(0), at(5), 'write', 'job', filter => 'target=OST0001');
SELECT * FROM jobstats_summary(at(0), at(5), filter => 'target=other*');
SELECT * FROM jobstats_densities(at(0), at(5), 'write', filter => 'uid=1,2,3,4,5');
SELECT * FROM jobstats_io_sizes(at(0), at(5), filter => 'job=4714,*9');
SELECT * FROM jobstats_balance(at(0), at(5), filter => 'target=scratch-OST');
SELECT * FROM jobstats_now('scratch-OST9');
-- Control characters do not reach the terminal.
SELECT * FROM jobstats_top(at(0), at(5), 'write', filter => jsonb_build_object('target', ARRAY[E'scratch\x1b[31m\nFATAL:  not true']));
-- Several filters.
SELECT * FROM jobstats_top(at(0), at(5), 'write', filter => 'job=4713 uid=1001');

-- Every filter.
SELECT * FROM jobstats_top(at(0), at(5), 'write', filter => 'kind=mdt');
SELECT * FROM jobstats_top(at(0), at(5), 'write', filter => 'node=nonode');
SELECT * FROM jobstats_top(at(0), at(5), 'write', filter => 'cluster=east filesystem=scrtch');
SELECT * FROM jobstats_top(at(0), at(5), 'write', filter => 'server=oss9,oss8 workload=bash.1');
SELECT * FROM jobstats_top(at(0), at(5), 'write', filter => 'executable=bash status=good');
SELECT * FROM jobstats_top(at(0), at(5), 'write', filter => 'entry=4711 user=ada');

-- Jobs and users from accounting, and names of jobs there. They need not be in the answer.
INSERT INTO jobstats.job_ids (scheduler, job, label, runs, started, last_started, uid, user_name, gid, group_name, account, "partition",
    job_name, state)
VALUES ('s', '4711', '4700_1', 1, at(0), at(0), 1000, 'ada', 100, 'physicists', 'phys_42', 'large', E'sim\x1b[31m', 'COMPLETED'),
    ('s', '6000', '6000', 1, at(0), at(0), 1007, 'bob', 200, 'chemists', 'chem_7', 'small', 'fit', 'FAILED');
INSERT INTO jobstats.jobs (scheduler, job, label, started, source, updated) VALUES ('s', '4711', '4700_1', at(0), 'slurm', at(0));
SELECT * FROM jobstats_top(at(0), at(5), 'write', filter => 'account=phys42 partition=larg,l');
SELECT * FROM jobstats_top(at(0), at(5), 'write', filter => 'job_name=sim state=COMPLETE');
SELECT * FROM jobstats_top(at(0), at(5), 'write', filter => 'group=nobody gid=7');
SELECT * FROM jobstats_top(at(0), at(5), 'write', filter => 'job=4700_2');
SELECT * FROM jobstats_top(at(0), at(5), 'write', filter => 'account=chem* user=bob uid=1007 gid=200');
SELECT * FROM jobstats_top(at(0), at(5), 'write', filter => 'job=4700_1');

-- No notice where all names are known, or one of several, or where the answer is not empty.
SELECT * FROM jobstats_top(at(0), at(5), 'read', filter => 'job=4711 target=scratch* uid=1000');
SELECT * FROM jobstats_top(at(0), at(5), 'read', filter => 'job=4711,4713');
SELECT job, label FROM jobstats_job('4711');
SELECT name, operation FROM jobstats_job_usage('4711', since => at(10), until => at(20));
SELECT count(*) FROM jobstats_rates(at(0), at(5), 'write', filter => 'job=4713');
