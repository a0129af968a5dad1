-- The accounting of schedulers fills jobstats.jobs, and in whatever order texts come, the rows are the same.
\i store.sql
\set ECHO all
\pset null '(null)'

-- What sacct prints, with the recommended columns and another delimiter.
CREATE FUNCTION texts.sacct(VARIADIC rows text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT translate(E'JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|GID|Group|Account|Partition|QOS|State|ExitCode|NNodes|NCPUS|NodeList|JobName\n'
    || array_to_string(rows, E'\n') || E'\n', '|', chr(31))
$$;
CREATE VIEW shown AS
SELECT scheduler, job, label, extract(epoch FROM submitted)::int % 100000 AS submitted, extract(epoch FROM started)::int % 100000 AS started,
    extract(epoch FROM ended)::int % 100000 AS ended, user_name, account, state, nodes, node_list, exit_code, parent
FROM jobstats.jobs ORDER BY scheduler, job, label, jobs.submitted, jobs.started NULLS FIRST;
CREATE VIEW rest AS
SELECT job, label, uid, gid, group_name, "partition", qos, job_name, cpus, source, extra, extract(epoch FROM updated)::int % 100000 AS updated, provenance
FROM jobstats.jobs ORDER BY scheduler, job, label, jobs.submitted, jobs.started NULLS FIRST;

-- A waiting job, a running one, an array with a waiting rest, a step, a component of a heterogeneous job.
SELECT target, action, entries, active, added, problems FROM jobstats_ingest('', 'slurm1', to_timestamp(1700000600), sacct(
    '4711|4711|c1|1700000000|Unknown|Unknown|1000|ada|100|staff|bio|small|normal|PENDING|0:0|2|80|None assigned|wrf',
    '4712|4712|c1|1700000010|1700000100|Unknown|1000|ada|100|staff|bio|small|normal|RUNNING|0:0|1|40|n1|wrf two',
    '4720|4713_1|c1|1700000020|1700000200|1700000300|1001|bob|100|staff|chem|large|normal|COMPLETED|0:0|1|40|n2|array',
    '4713|4713_[2-3]|c1|1700000020|Unknown|Unknown|1001|bob|100|staff|chem|large|normal|PENDING|0:0|1|40|None assigned|array',
    '4720.batch|4713_1.batch|c1|1700000020|1700000200|1700000300|||||chem|||COMPLETED|0:0|1|40|n2|batch',
    '4731|4730+1|c1|1700000030|1700000200|1700000400|1001|bob|100|staff|chem|large|normal|CANCELLED by 0|0:15|2|80|n[3-4]|het'),
    source => 'slurm');
TABLE shown;
TABLE rest;

-- Later: the waiting job began, and was requeued; the text overlaps with the first one. 
SELECT action, entries, active, added, problems FROM jobstats_ingest('', 'slurm1', to_timestamp(1700000900), sacct(
    '4711|4711|c1|1700000000|1700000650|1700000700|1000|ada|100|staff|bio|small|normal|NODE_FAIL|1:0|2|80|n[5-6]|wrf',
    '4711|4711|c1|1700000000|1700000800|Unknown|1000|ada|100|staff|bio|small|normal|RUNNING|0:0|2|80|n[5-6]|wrf',
    '4720|4713_1|c1|1700000020|1700000200|1700000300|1001|bob|100|staff|chem|large|normal|COMPLETED|0:0|1|40|n2|array'),
    source => 'slurm');
SELECT * FROM shown WHERE job IN ('4711', '4720');
-- A text of the time of the first one has no effect, whatever its contents.
CREATE TABLE before AS TABLE jobstats.jobs;
SELECT action, entries, active, added FROM jobstats_ingest('', 'slurm2', to_timestamp(1700000600), sacct(
    '4711|4711|c1|1700000000|Unknown|Unknown|1000|ada|100|staff|bio|small|normal|PENDING|0:0|2|80|None assigned|wrf',
    '4712|4712|c1|1700000010|1700000100|Unknown|1000|ada|100|staff|bio|small|normal|RUNNING|0:0|1|40|n1|wrf two'),
    source => 'slurm');
SELECT count(*) AS changed FROM ((TABLE before EXCEPT TABLE jobstats.jobs) UNION ALL (TABLE jobstats.jobs EXCEPT TABLE before)) d;

-- In any order: the texts of two days, each way round, without a name of the cluster, so that the feed's applies.
CREATE VIEW texts.of_jobs AS SELECT to_timestamp(1700100300) AS "time", sacct(
    '50|50||1700100000|Unknown|Unknown|1000|ada|100|staff|||normal|PENDING|0:0|1|40||x',
    '51|51||1700100000|1700100100|Unknown|1000|ada|100|staff|bio||normal|RUNNING|0:0|1|40|n1|y') AS body
UNION ALL SELECT to_timestamp(1700100900), sacct(
    '50|50||1700100000|1700100500|1700100600|1000|ada|100|staff|bio||normal|FAILED|1:0|1|40|n1|x',
    '51|51||1700100000|1700100100|1700100700|1000|ada|100|staff|||normal|COMPLETED|0:0|1|40|n1|y');
INSERT INTO jobstats.feed (cluster, server, "time", body, source)
SELECT 'forwards', 'slurm1', "time", body, 'slurm' FROM texts.of_jobs ORDER BY "time";
INSERT INTO jobstats.feed (cluster, server, "time", body, source)
SELECT 'backwards', 'slurm1', "time", body, 'slurm' FROM texts.of_jobs ORDER BY "time" DESC;
SELECT job, started IS NULL AS waits, state, account, updated = to_timestamp(1700100900) AS is_late FROM jobstats.jobs WHERE scheduler = 'forwards' ORDER BY job;
SELECT count(*) AS different FROM (
    SELECT to_jsonb(j) - 'scheduler' FROM jobstats.jobs j WHERE scheduler = 'forwards'
    EXCEPT SELECT to_jsonb(j) - 'scheduler' FROM jobstats.jobs j WHERE scheduler = 'backwards') d;

-- The other schedulers.
SELECT action, entries, problems FROM jobstats_ingest('hpc', 'pbs1', to_timestamp(1700200900), E'11/17/2023 00:00:10;Q;38.pbs1;queue=workq\n'
    '11/17/2023 00:05:00;S;38.pbs1;user=ada group=staff account="bio" jobname=wrf queue=workq ctime=1700200000 qtime=1700200000 etime=1700200000 start=1700200300 exec_host=n1/0*40+n2/0*40 Resource_List.ncpus=80\n'
    '11/17/2023 00:10:00;E;38.pbs1;user=ada group=staff account="bio" jobname=wrf queue=workq ctime=1700200000 qtime=1700200000 etime=1700200000 start=1700200300 exec_host=n1/0*40+n2/0*40 Resource_List.ncpus=80 session=1 end=1700200600 Exit_status=0\n',
    source => 'pbs');
SELECT action, entries, problems FROM jobstats_ingest('hpc2', 'ge1', to_timestamp(1700200900),
    'all.q:n7:staff:ada:wrf:77:sge:0:1700200000:1700200100:1700200400:0:0:300' || repeat(':0', 17)
        || E':NONE:defaultdepartment:NONE:1:3:1.0:0.0:0.0:NONE:0.0:NONE:0.0:0:0\n',
    source => 'gridengine');
SELECT action, entries, problems FROM jobstats_ingest('hpc4', 'lsf1', to_timestamp(1700200900),
    '"JOB_FINISH" "9.11" 1700200400 815 1000 33816691 2 1700200000 0 0 1700200100 "ada" "long" "" "" "" "l1" "wrf" "" "o" "e" "1700200000.815" 0 2 "n1" "n2"'
        || ' 64 60.0 "wrf[1-90]" "run" 0.4 1.1 0 0 -1 0 0 149746 0 0 0 0 -1 0 0 0 1907 1746 -1 "" "bio" 0 2 "" "" 24 2 25 "" "" "" "gold" 0 "" 14'
        || E' "" -1 "/p/ada" "" "mpi" "" -1 "" "" 6160 "" 1700200004 "" "" 0\n',
    source => 'lsf');
SELECT action, entries, problems FROM jobstats_ingest('hpc3', 'flux1', to_timestamp(1700200900),
    '{"jobs": [{"id": 106535321600, "userid": 1000, "username": "ada", "t_submit": 1700200000.5, "t_run": 1700200001.25, "state": "RUN", "name": "wrf", "ntasks": 4, "nnodes": 2, "nodelist": "n[1-2]"}]}',
    source => 'flux');
SELECT * FROM shown WHERE scheduler LIKE 'hpc%';

-- What cannot be used: line and reason, and never the line, which has names of people.
SELECT action, entries, problems FROM jobstats_ingest('', 'slurm1', to_timestamp(1700300000), sacct(
    'secret|4711|c1|1700000000|1|2|3', '60|60|c1|1700300000|1700300001|Unknown|1|x|1|x|||normal|RUNNING|0:0|1|1|n1|x',
    repeat('9', 300) || '|60|c1|1700300000|1700300001|Unknown|1|x|1|x|||normal|RUNNING|0:0|1|1|n1|x'), source => 'slurm');
SELECT action, entries, problems FROM jobstats_ingest('c2', 'slurm1', to_timestamp(1700300001), sacct(
    '60|60|c1|1700300000|1700300001|1700300002|1|x|1|x|stolen||normal|FAILED|0:0|1|1|n1|x'), source => 'slurm');
SELECT action FROM jobstats_ingest('', 'slurm1', to_timestamp(1700300002), E'no header\nat all\n', source => 'slurm');
SELECT action, entries, problems FROM jobstats_ingest('', 'slurm1', to_timestamp(1700300009), E'sacct: error: no answer\n'
    || sacct('90|90|c1|1700299000|1700299001|Unknown|1|x|1|x|||normal|RUNNING|0:0|1|1|n1|x'), source => 'slurm');
SELECT action FROM jobstats_ingest('', 'slurm1', to_timestamp(1700300010), E'sacct: error: no answer\n', source => 'slurm');
SELECT action FROM jobstats_ingest('', 'slurm1', to_timestamp(1700300003), '', source => 'slurm');
SELECT action FROM jobstats_ingest('', 'slurm1', to_timestamp(1700300004), E'ada:x:1:1::/h:/s\n', source => 'slurm');
SELECT action, entries FROM jobstats_ingest('', 'slurm1', to_timestamp(1700300005), sacct(VARIADIC '{}'), source => 'slurm');
SELECT extract(epoch FROM "time")::int % 100000 AS "time", line, reason, text FROM jobstats.rejects ORDER BY 1, 2;
SELECT count(*) AS stolen FROM jobstats.jobs WHERE account = 'stolen';

-- Times without a zone.
SELECT action, entries FROM jobstats_ingest('', 'slurm1', to_timestamp(1700300006),
    E'JobIDRaw|Start|End\n61|2023-07-01T12:00:00|2023-07-01T13:00:00\n62|2023-10-29T02:30:00|2023-10-29T04:00:00\n', source => 'slurm');
SELECT job, started, ended FROM jobstats.jobs WHERE job IN ('61', '62') ORDER BY job;
UPDATE jobstats.settings SET zone = 'Europe/Berlin';
SELECT action, entries FROM jobstats_ingest('', 'slurm1', to_timestamp(1700300007),
    E'JobIDRaw|Start|End\n63|2023-07-01T12:00:00|2023-07-01T13:00:00\n64|2023-10-29T02:30:00|2023-10-29T04:00:00\n', source => 'slurm');
SELECT job, started, ended FROM jobstats.jobs WHERE job IN ('63', '64') ORDER BY job;
SELECT line, reason, text FROM jobstats.rejects WHERE "time" = to_timestamp(1700300007);
UPDATE jobstats.settings SET zone = 'Europe/Atlantis';
SELECT action FROM jobstats_ingest('', 'slurm1', to_timestamp(1700300008), E'JobIDRaw|Start|End\n65|2023-07-01T12:00:00|Unknown\n', source => 'slurm');
\echo :LAST_ERROR_SQLSTATE
UPDATE jobstats.settings SET zone = 'UTC';

-- Impossible times: in the future, and in another zone than the text is read in.
SELECT action, entries, problems FROM jobstats_ingest('', 'slurm1', to_timestamp(1700400000),
    E'JobIDRaw|Start|End|NodeList\n71|1700399000|1700400200|n1\n72|1700399000|1700400400|n1\n73|1700400400|Unknown|n1\n', source => 'slurm');
SELECT job FROM jobstats.jobs WHERE job LIKE '7_' AND started > to_timestamp(1700390000) ORDER BY job;
SELECT action, entries, problems FROM jobstats_ingest('', 'slurm1', to_timestamp(1700400001),
    E'JobIDRaw|Start|End|NodeList\n74|1700390000|1700395000|n1\n75|1700394000|Unknown|n1\n', source => 'slurm',
    covers => tstzrange(to_timestamp(1700398800), to_timestamp(1700400001)));
SELECT action, entries, problems FROM jobstats_ingest('', 'slurm1', to_timestamp(1700400002),
    E'JobIDRaw|Start|End|NodeList\n76|1700390000|Unknown|n1\n', source => 'slurm',
    covers => tstzrange(to_timestamp(1700398800), to_timestamp(1700400002)));
SELECT extract(epoch FROM since)::int % 100000 AS since, extract(epoch FROM until)::int % 100000 AS until FROM jobstats.covered WHERE cluster = '' AND source = 'slurm';
-- The columns that sacct prints without -o, a cut text, and an invalid one: each has its message.
SELECT action, entries, problems FROM jobstats_ingest('', 'slurm1', to_timestamp(1700400003), E'JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode\n77|x|batch|bio|4|RUNNING|0:0\n', source => 'slurm');
SELECT action, entries, problems FROM jobstats_ingest('', 'slurm1', to_timestamp(1700400004), E'JobIDRaw|Start|End|NodeList\n78|1700390000|Unknown|n1\n79|17003', source => 'slurm');
SELECT action, entries, problems FROM unnest('{slurm,pbs,lsf,gridengine,flux}'::text[]) WITH ORDINALITY AS s (source, n), jobstats_ingest('', 'x',
    to_timestamp(1700400010 + n), source => s.source, body_zstd => '\x28b52ffd0458a100007f454c460201010003003e00010000000a0b0d0a836295dc');
-- Texts of one source that are fed as another.
SELECT s.source, action FROM unnest('{slurm,pbs,lsf,gridengine,flux}'::text[]) WITH ORDINALITY AS s (source, n), jobstats_ingest('', 'x',
    to_timestamp(1700400020 + n), source => s.source, body => E'obdfilter.fs-OST0000.job_stats=\njob_stats:\n- job_id: 1\n');
SELECT s.source, action FROM unnest('{pbs,lsf,gridengine,flux}'::text[]) WITH ORDINALITY AS s (source, n), jobstats_ingest('', 'x',
    to_timestamp(1700400030 + n), source => s.source, body => sacct('80|80|c1|1700000000|1700000001|Unknown|1|x|1|x|||normal|RUNNING|0:0|1|1|n1|x'));
SELECT extract(epoch FROM "time")::int % 100000 AS "time", line, reason, text FROM jobstats.rejects WHERE "time" >= to_timestamp(1700400000) ORDER BY 1, 2;
-- With a guessable delimiter, a user can write another user's row. The sender and health get a warning.
SELECT action, entries FROM jobstats_ingest('forged', 'slurm9', to_timestamp(1700400040),
    E'JobIDRaw|Start|End|User|JobName\n81|1700390000|1700390010|eve|x\n82|1700390000|1700390010|ada|forged\n', source => 'slurm');
SELECT cluster, server, remedy FROM jobstats.health WHERE states = '{accounting}' AND server = 'slurm9';
-- What a later text repeats gets its time, which no index has.
SELECT newest = to_timestamp(1700400004) AS is_newest FROM jobstats.schedulers WHERE scheduler = '';
SELECT action, entries, active FROM jobstats_ingest('', 'slurm1', to_timestamp(1700400005),
    E'JobIDRaw|Start|End|NodeList\n71|1700399000|1700400200|n1\n76|1700390000|Unknown|n1\n', source => 'slurm');
SELECT count(*) AS indexes, count(*) FILTER (WHERE indexdef LIKE '%updated%') AS of_updated FROM pg_indexes WHERE schemaname = 'jobstats' AND tablename = 'jobs';
SELECT job, extract(epoch FROM updated)::int % 100000 AS updated FROM jobstats.jobs WHERE job IN ('71', '76') AND scheduler = '' ORDER BY 1;

-- Old jobs go.
UPDATE jobstats.settings SET jobs_retention = now() - to_timestamp(1700200000);
CALL jobstats_maintain();
SELECT scheduler, count(*) FROM jobstats.jobs GROUP BY 1 ORDER BY 1;
SELECT affected FROM jobstats.maintenance WHERE step = 'retention of jobs';

-- Rights: a writer of one source writes no other one; a reader reads.
SET client_min_messages = warning;
CREATE ROLE regress_source_jobs;
RESET client_min_messages;
SELECT jobstats_grant_writer('regress_source_jobs', 'hpc', sources => '{pbs}') \gset
GRANT USAGE ON SCHEMA texts TO regress_source_jobs;
SET ROLE regress_source_jobs;
INSERT INTO jobstats.feed (cluster, server, body, source) VALUES ('hpc', 'x', sacct(VARIADIC '{}'), 'slurm');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO jobstats.feed (cluster, server, body, source) VALUES ('hpc4', 'x', '', 'pbs');
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM jobstats.jobs;
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;
SELECT jobstats_grant_reader('regress_source_jobs') \gset
SET ROLE regress_source_jobs;
SELECT count(*) > 0 AS readable FROM jobstats.jobs;
RESET ROLE;
DROP OWNED BY regress_source_jobs;
DROP ROLE regress_source_jobs;
