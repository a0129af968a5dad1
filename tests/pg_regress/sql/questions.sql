-- Questions that admins and user support ask, each answered by one statement.
\getenv source PG_ABS_SRCDIR
\set reading :source '/include/reading.sql'
\set ECHO none
\i :reading
-- The world is made of rows, not of text, which no maintenance would sum.
INSERT INTO jobstats.maintenance (step, began, took, affected) VALUES ('all', now(), '1 second', 0);
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'


-- One transaction, so that now() stands still.
BEGIN;
CREATE FUNCTION world.ago(minutes numeric) RETURNS timestamptz LANGUAGE sql STABLE AS $$
SELECT now() - minutes * interval '1 minute'
$$;
CREATE FUNCTION world.did(target text, entry text, since numeric, until numeric, counts jsonb) RETURNS void LANGUAGE sql AS $$
SELECT world.act('', target, entry, world.ago(since), world.ago(until), counts)
$$;
INSERT INTO jobstats.users VALUES (1001, 'ada'), (1002, 'bo'), (1003, 'eva'), (1004, 'cai');

-- Two MDTs and four OSTs, read every two minutes, the last time half a minute ago. mds2 has fallen silent, of which notices
-- would tell with many answers.
SET LOCAL client_min_messages = warning;
DO $$ BEGIN
    PERFORM observe('', target, server, ARRAY(SELECT ago(0.5 + 2 * n) FROM generate_series(silent, 720) AS n))
    FROM (VALUES ('scratch-MDT0000', 'mds1', 0), ('scratch-MDT0001', 'mds2', 25), ('scratch-OST0000', 'oss1', 0),
        ('scratch-OST0001', 'oss1', 0), ('scratch-OST0002', 'oss2', 0), ('scratch-OST0003', 'oss2', 0)) AS targets (target, server, silent);
END $$;
DO $$ BEGIN
    -- Ada's job 81245 opens and closes files on two nodes as fast as it can, for half an hour now.
    PERFORM did('scratch-MDT0000', format('81245:1001:n%s', node), 0.5 + 2 * n + 2, 0.5 + 2 * n,
        '{"open": 90000, "open_usecs": 54000000, "close": 90000, "close_usecs": 9000000, "getattr": 30000, "getattr_usecs": 900000, "mknod": 30}')
    FROM generate_series(101, 102) AS node, generate_series(0, 14) AS n;
    -- Bo's job 81200 writes its checkpoints into one file, which is not striped.
    PERFORM did('scratch-OST0002', '81200:1002:n200', 0.5 + 2 * n + 2, 0.5 + 2 * n,
        '{"write_bytes": 125829120000, "write": 30000, "write_usecs": 96000000}')
    FROM generate_series(0, 29) AS n;
    PERFORM did('scratch-MDT0000', '81200:1002:n200', 2.5, 0.5, '{"open": 1, "open_usecs": 300, "setattr": 600, "setattr_usecs": 18000}');
    -- Eva's job 81231 writes a line of its log at a time; others write as they should.
    PERFORM did('scratch-OST0001', '81231:1003:n150', 120.5, 60.5, '{"write_bytes": 212400000, "write": 1800000, "write_usecs": 90000000}');
    PERFORM did(format('scratch-OST000%s', ost), '81188:1004:n160', 60.5, 0.5, '{"write_bytes": 151014400000, "write": 36004, "write_usecs": 72000000}')
    FROM generate_series(0, 3) AS ost;
    PERFORM did('scratch-OST0000', 'bash.1004', 30.5, 28.5, '{"write_bytes": 900, "write": 9, "write_usecs": 90}');
    -- What Ada did the night before: 80977 read in 20 hours ago and wrote results; and she copied them from the login node.
    PERFORM did(format('scratch-OST000%s', ost), '80977:1001:n110', 1220.5, 1160.5, '{"read_bytes": 214748364800, "read": 51200, "read_usecs": 204800000}')
    FROM generate_series(0, 1) AS ost;
    PERFORM did('scratch-OST0003', '80977:1001:n111', 1160.5, 1140.5, '{"write_bytes": 21474836480, "write": 5120, "write_usecs": 15360000}');
    PERFORM did('scratch-MDT0001', format('80977:1001:n11%s', node), 1220.5, 1160.5, '{"open": 400, "open_usecs": 48000, "close": 400, "close_usecs": 6000}')
    FROM generate_series(0, 1) AS node;
    -- Each of its reads and writes has 4 MiB, which is the 23rd size of a histogram.
    UPDATE jobstats.increments SET read_bytes_hist = array_fill(0::bigint, '{22}') || read || array_fill(0::bigint, '{9}')
    WHERE read > 0;
    UPDATE jobstats.increments SET write_bytes_hist = array_fill(0::bigint, '{22}') || write || array_fill(0::bigint, '{9}')
    WHERE write = 5120;
    PERFORM did('scratch-OST0003', 'rsync.1001', 600.5, 560.5, '{"read_bytes": 21474836480, "read": 5120, "read_usecs": 15360000}');
END $$;

-- Who loads the file system right now, and what are they doing?
SELECT target, workload, uid, user_name, operation AS mostly, jobstats_format(rate, operation) AS rate,
    jobstats_format(service_time, 'service_time') AS "requests in service", round(100 * share) || ' %' AS share
FROM jobstats_now(n => 3)
ORDER BY service_time DESC NULLS LAST, target
LIMIT 10;

-- Who is hammering MDT0000 right now?
SELECT rank, workload, user_name, operation AS mostly, jobstats_format(rate, operation) AS rate,
    jobstats_format(service_time, 'service_time') AS "requests in service", round(100 * share) || ' %' AS share
FROM jobstats_now('scratch-MDT0000', 3);

-- What did user 1001 do since yesterday?
SELECT workload, to_char(now() - last_active, 'HH24:MI') AS "ago", nodes,
    jobstats_format(read_bytes, 'read_bytes', 'total') AS read, jobstats_format(write_bytes, 'write_bytes', 'total') AS written,
    metadata, round(service_time) AS "server seconds", busiest_target
FROM jobstats_summary('yesterday', by => '{workload}', uid => '{1001}')
ORDER BY last_active DESC;

-- Which OST is unbalanced, and by whom?
SELECT target, jobstats_format(rate, 'write_bytes') AS written, round(ratio::numeric, 1) AS "times the median",
    workload, uid, round(100 * share) AS percent
FROM jobstats_balance(now() - interval '1 hour', filesystem => '{scratch}')
WHERE kind = 'OST';

-- Which jobs do tiny writes?
SELECT job, uid, calls AS writes, round(per_call) AS "bytes per write"
FROM jobstats_totals(now() - interval '1 day', operations => '{write_bytes}', by => '{job,uid}')
WHERE per_call < 4096
ORDER BY writes DESC
LIMIT 10;

-- What is the history of job 80977?
SELECT coalesce(target, 'whole job') AS target, operation, jobstats_format(total, operation, 'total') AS total,
    jobstats_format(per_call, operation, 'per_call') AS per_call, to_char(now() - first, 'HH24:MI') AS "began ago",
    to_char(now() - last_active, 'HH24:MI') AS "ended ago", nodes
FROM jobstats_job('80977');

-- How large are a job's reads and writes?
SELECT operation, jobstats_format(lower, operation, 'total') AS "larger than",
    jobstats_format(upper, operation, 'total') AS "up to", count AS calls,
    round(100 * share) || ' %' AS share, jobstats_format(mean, operation, 'per_call') AS mean
FROM jobstats_sizes(now() - interval '1 day', job => '{80977}')
ORDER BY operation, lower;

-- How do I leave out login nodes?
SELECT rank, workload, node, jobstats_format(total, operation, 'total') AS written
FROM jobstats_top(now() - interval '1 hour', now(), 'write_bytes', '{workload,node}',
                  exclude => '{"node": ["login"]}');

-- Is monitoring itself healthy?
SELECT target, status, remedy
FROM jobstats.health
ORDER BY status IN ('ok', 'retired'), target;

-- The accounting of the scheduler: who pays for what. 80999 is in no accounting.
DO $$ BEGIN
    PERFORM did('scratch-OST0003', '80999:1002:n110', 1200.5, 1180.5, '{"read_bytes": 4294967296, "read": 1024, "read_usecs": 3072000}');
    UPDATE jobstats.entries e SET first_seen = (SELECT min(i."time") FROM jobstats.increments i WHERE i.entry_id = e.entry_id);
    PERFORM jobstats_ingest('', 'slurm', now(), source => 'slurm',
        body => E'JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|Account|Partition|State|ExitCode|NNodes|JobName\n' || string_agg(
            concat_ws('|', j.job, j.label, 'hpc', floor(extract(epoch FROM ago(j.started + 30))), floor(extract(epoch FROM ago(j.started))),
                coalesce(floor(extract(epoch FROM ago(j.ended)))::text, 'Unknown'), j.uid, j.user_name, j.account, 'main',
                CASE WHEN j.ended IS NULL THEN 'RUNNING' WHEN j.job = '81231' THEN 'TIMEOUT' ELSE 'COMPLETED' END, '0:0', 2, j.job_name), E'\n') || E'\n')
    FROM (VALUES ('81245', '81245', 40, NULL, 1001, 'ada', 'climate', 'icon'), ('81200', '81200', 90, NULL, 1002, 'bo', 'physics', 'checkpoint'),
        ('81231', '81231', 130, 50, 1003, 'eva', 'physics', 'logger'), ('81188', '81188', 70, NULL, 1004, 'cai', 'climate', 'cesm'),
        ('80977', '80970_7', 1230, 1130, 1001, 'ada', 'climate', 'postprocessing')) AS j (job, label, started, ended, uid, user_name, account, job_name);
    -- As feeds and maintenance do.
    UPDATE jobstats.targets t SET last_observation = (SELECT max(o."time") FROM jobstats.observations o WHERE o.target_id = t.target_id);
    PERFORM jobstats_internal.match_some();
END $$;

-- Which project wrote most this month, and which of its users?
SELECT account, user_name, jobstats_format(total, operation, 'total') AS written, round(100 * share) || ' %' AS share
FROM jobstats_top(now() - interval '30 days', operation => 'write_bytes', by => '{account,user_name}');

-- What did job 80970_7 do?
SELECT job, user_name, account, job_name, operation, jobstats_format(total, operation, 'total') AS total
FROM jobstats_totals(now() - interval '1 day', operations => '{read_bytes,write_bytes,metadata,service_time}',
                     by => '{job,user_name,account,job_name}', job => ARRAY['80970\_7']);

-- How did job 80970_7 end, and how busy did it keep the servers?
SELECT operation, jobstats_format(total, operation, 'total') AS total, user_name, account, state, exit_code, to_char(run_time, 'HH24:MI') AS "run time",
    nodes, round(in_service::numeric, 3) AS "in service per node"
FROM jobstats_job('80970_7', by => '{}')
WHERE operation IN ('run', 'read_bytes', 'write_bytes', 'service_time');

-- Does this job do what that one did?
SELECT since_start, round((max(rate) FILTER (WHERE job = '81200') / 1e9)::numeric, 1) AS "81200 in GB/s",
    round((max(rate) FILTER (WHERE job = '81188') / 1e9)::numeric, 1) AS "81188 in GB/s"
FROM jobstats_compare('{81200,81188}', '30 minutes', '{write_bytes}')
GROUP BY since_start
ORDER BY since_start;

-- Which jobs of the last month kept servers busiest? Maintenance makes such rows.
SET LOCAL client_min_messages = error;
INSERT INTO jobstats.job_summaries (job_no, scheduler, job, label, runs, started, ended, run_time, user_name, account, state, active_nodes, targets,
    read_bytes, write_bytes, read, write, opens, metadata, service_time, busiest_target, operations, made)
SELECT i.job_no, i.scheduler, i.job, i.label, i.runs, i.started, i.ended, i.ended - i.started, i.user_name, i.account, i.state, s.nodes, 1,
    s.read_bytes, s.write_bytes, s.read, s.write, s.opens, s.metadata, s.service_time, s.busiest_target, '{}', now()
FROM jobstats.job_ids i JOIN jobstats_summary(now() - interval '1 day') s USING (job) WHERE i.ended IS NOT NULL;
SET LOCAL client_min_messages = warning;
SELECT label, user_name, account, state, to_char(run_time, 'HH24:MI') AS "run time", jobstats_format(read_bytes, 'read_bytes', 'total') AS read,
    jobstats_format(write_bytes, 'write_bytes', 'total') AS written, round(service_time) AS "server seconds", busiest_target
FROM jobstats.job_summaries
WHERE ended > now() - interval '30 days'
ORDER BY service_time DESC NULLS LAST
LIMIT 10;

-- Who else worked on its nodes then?
SELECT node, job, user_name, jobstats_format(read_bytes, 'read_bytes', 'total') AS read,
    jobstats_format(write_bytes, 'write_bytes', 'total') AS written
FROM jobstats_summary(now() - interval '21 hours', now() - interval '18 hours', by => '{node,job,user_name}',
                      node => '{n110,n111}', exclude => '{"job": ["80970\\_7"]}');

-- Why are so many entries without a job?
SELECT CASE WHEN e.job IS NULL AND e.status = 'ok' THEN 'a program, no job' WHEN e.job IS NULL THEN e.status
        ELSE coalesce(j.status, 'not in accounting') END AS status,
    count(DISTINCT e.entry_id) AS entries, min(e.name) AS example
FROM jobstats.entries e
LEFT JOIN jobstats.entry_jobs j ON j.entry_id = e.entry_id AND j.valid_to > now() - interval '2 days'
WHERE e.first_seen > now() - interval '2 days'
GROUP BY 1
ORDER BY 2 DESC, 1;
ROLLBACK;
