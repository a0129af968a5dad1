-- A store, and texts that take memory.
SET client_min_messages = warning;
CREATE EXTENSION jobstats;
DO $$ BEGIN PERFORM jobstats_setup(); END $$;
UPDATE jobstats.settings SET max_targets = 5000;
CREATE SCHEMA memory;

CREATE FUNCTION memory.text(target text, records integer, calls integer) RETURNS text LANGUAGE sql AS $$
SELECT format(E'mdt.%s.job_stats=\njob_stats:\n', target) || coalesce(string_agg(format(
    E'- job_id:          %s:%s:n%s\n  snapshot_time:   1749555518.685497069 secs.nsecs\n  start_time:      1749555500.685497069 secs.nsecs\n  elapsed_time:    18.000000000 secs.nsecs\n'
    '  open:            { samples: %s, unit: usecs, min:       1, max:       9, sum:             %s, sumsq:                  9 }\n'
    '  write_bytes:     { samples: %s, unit: bytes, min:    4096, max:    4096, sum:             %s, sumsq:                  9, hist: { 4K: %4$s } }\n',
    n, n % 100, n % 7, calls, 3 * calls, calls, 4096 * calls), '' ORDER BY n), '')
FROM generate_series(1, records) n
$$;

CREATE TABLE memory.texts (name text PRIMARY KEY, body text);
INSERT INTO memory.texts VALUES
    ('junk', repeat(E'x\n', 10000000)),
    ('first', memory.text('fs-MDT0000', 50000, 1)),
    ('next', memory.text('fs-MDT0000', 50000, 2)),
    ('users', (SELECT string_agg(format(E'user%s:x:%s:100:User %1$s:/home/user%1$s:/bin/bash\n', n, n), '') FROM generate_series(1, 150000) n)),
    ('jobs', (SELECT E'JobIDRaw|JobID|Submit|Start|End|UID|User|Account|State|NodeList|JobName\n' || string_agg(format(
        E'%s|%1$s|1700000000|1700000100|1700000200|%s|user%2$s|project%2$s|COMPLETED|n[%1$s-%s]|job %1$s\n', n, n % 100, n + 1), '') FROM generate_series(1, 10000) n)),
    ('owners', (SELECT E'osd-zfs.fs-MDT0000.quota_slave.acct_user=\nusr_accounting:\n' || string_agg(format(E'- id: %s\n  usage: { inodes: 1, kbytes: %s }\n', n, n), '' ORDER BY n) FROM generate_series(1, 100000) n)),
    ('gauges', (SELECT E'mdd.fs-MDT0000.changelog_users=\ncurrent_index: 7\nID index\n' || string_agg(format(E'cl%s 1\n', n), '') FROM generate_series(1, 10000) n)
        || (SELECT string_agg(format(E'mds.MDS.s%s.stats=\nsnapshot_time 1.0 secs.usecs\nreq_waittime 1 samples [usec] 1 1 1\n', n), '') FROM generate_series(1, 200) n)),
    ('targets', (SELECT string_agg(memory.text(format('fs%s-MDT0000', n), 1, 1), '') FROM generate_series(1, 3000) n));

-- A minute apart: one observation to compare the next with, to audit and to unpack. Repeated texts are dated 38 minutes later, regardless
-- of the duration of other statements.
INSERT INTO jobstats.feed (server, "time", body) SELECT 'mds1', date_bin('10 minutes', now(), 'epoch') - interval '40 minutes', body FROM memory.texts WHERE name = 'first';
INSERT INTO jobstats.feed (server, "time", body) SELECT 'mds1', date_bin('10 minutes', now(), 'epoch') - interval '39 minutes', body FROM memory.texts WHERE name = 'next';
CREATE TABLE memory.packed AS SELECT r.body AS packed FROM jobstats.raw r ORDER BY r."time" LIMIT 1;

-- Measures the text that the statement reads, and the memory that it may use, as a number of bytes of SQL.
CREATE TABLE memory.statements (name text PRIMARY KEY, argument text, statement text, allowed bigint);
INSERT INTO memory.statements
SELECT s.name, s.argument, s.statement, 3 * s.bytes + (64 << 20)
FROM (
    SELECT 'problems', 'SELECT length(body) FROM memory.texts WHERE name = ''junk''',
        'SELECT count(*) FROM memory.texts, jobstats_parse(body) p WHERE name = ''junk'' AND p.problem IS NOT NULL',
        (SELECT length(body) FROM memory.texts WHERE name = 'junk')
    UNION ALL
    SELECT 'parse', 'SELECT length(body) FROM memory.texts WHERE name = ''next''',
        'SELECT count(*) FROM memory.texts, jobstats_parse(body) WHERE name = ''next''',
        (SELECT length(body) FROM memory.texts WHERE name = 'next')
    UNION ALL
    SELECT 'unpack', 'SELECT length(packed) FROM memory.packed', 'SELECT length(jobstats_unpack(packed)) FROM memory.packed',
        (SELECT 2 * length(jobstats_unpack(packed)) FROM memory.packed)
    UNION ALL
    -- A format that was kept would take some kB.
    SELECT 'identify', 'SELECT 1', 'SELECT count(*) FROM jobstats_identify(repeat(''x'', 200), ARRAY(SELECT ''%e.%g.'' || n FROM generate_series(1, 100) n))',
        100 * 640
    UNION ALL
    SELECT 'feed', 'SELECT length(body) FROM memory.texts WHERE name = ''next''',
        'INSERT INTO jobstats.feed (cluster, server, body) SELECT ''other'', ''mds1'', body FROM memory.texts WHERE name = ''next''',
        (SELECT length(body) FROM memory.texts WHERE name = 'next')
    UNION ALL
    SELECT 'feed again', 'SELECT length(body) FROM memory.texts WHERE name = ''next''',
        'INSERT INTO jobstats.feed (server, "time", body) SELECT ''mds1'', (SELECT max(last_observation) + interval ''38 minutes'' FROM jobstats.targets), replace(body, ''samples: 2'', ''samples: 3'') FROM memory.texts WHERE name = ''next''',
        (SELECT 2 * length(body) + 50000 * 1024 / 3 FROM memory.texts WHERE name = 'next')
    UNION ALL
    SELECT 'feed zstd', 'SELECT length(packed) FROM memory.packed',
        'INSERT INTO jobstats.feed (cluster, server, body_zstd) SELECT ''other'', ''mds1'', packed FROM memory.packed',
        (SELECT length(body) FROM memory.texts WHERE name = 'next')
    UNION ALL
    SELECT 'feed of users', 'SELECT length(body) FROM memory.texts WHERE name = ''users''',
        'INSERT INTO jobstats.feed (server, body, source) SELECT ''login1'', body, ''passwd'' FROM memory.texts WHERE name = ''users''',
        (SELECT length(body) FROM memory.texts WHERE name = 'users')
    UNION ALL
    SELECT 'feed of jobs', 'SELECT length(body) FROM memory.texts WHERE name = ''jobs''',
        'INSERT INTO jobstats.feed (server, body, source) SELECT ''slurm1'', body, ''slurm'' FROM memory.texts WHERE name = ''jobs''',
        (SELECT length(body) FROM memory.texts WHERE name = 'jobs')
    UNION ALL
    SELECT 'feed of ' || t.name, format('SELECT length(body) FROM memory.texts WHERE name = %L', t.name),
        format('INSERT INTO jobstats.feed (server, body) SELECT ''mds1'', body FROM memory.texts WHERE name = %L', t.name), length(t.body)
    FROM memory.texts t WHERE t.name IN ('owners', 'gauges')
    UNION ALL
    SELECT 'feed of targets', 'SELECT length(body) FROM memory.texts WHERE name = ''targets''',
        'INSERT INTO jobstats.feed (server, body) SELECT ''mds1'', body FROM memory.texts WHERE name = ''targets''',
        (SELECT length(body) + 3000 * 1024 / 3 FROM memory.texts WHERE name = 'targets')
    UNION ALL
    SELECT 'now', 'SELECT 1', 'SELECT count(*) FROM jobstats_now(n => 10)', 50000 * 1024
    UNION ALL
    SELECT 'metrics', 'SELECT 1', 'SELECT length(jobstats_metrics())', 0
    UNION ALL
    SELECT 'job', 'SELECT 1', 'SELECT count(*) FROM jobstats_job_usage(''1'')', 0
    UNION ALL
    SELECT 'compare', 'SELECT 1', 'SELECT count(*) FROM jobstats_compare(''{1}'', ''1 minute'')', 0
    UNION ALL
    SELECT 'changes', 'SELECT 1', 'SELECT count(*) FROM jobstats_changes(now() - interval ''1 hour'', now(), ''open'', ''entry'', now() - interval ''3 hours'', now() - interval ''2 hours'', 50000)',
        50000 * 1024 / 3
    UNION ALL
    SELECT 'findings', 'SELECT 1', 'SELECT count(*) FROM jobstats_findings(now() - interval ''1 day'', now(), ''entry'')', 50000 * 2048 / 3
    UNION ALL
    SELECT 'usual', 'SELECT 1', 'SELECT count(*) FROM jobstats_baseline(now() - interval ''1 hour'', now(), ''open'', ''entry'', 50000)', 50000 * 1024 / 3
    UNION ALL
    SELECT 'top', 'SELECT 1', 'SELECT count(*) FROM jobstats_top(now() - interval ''1 day'', now(), n => 50000)', 50000 * 1024 / 3
    UNION ALL
    SELECT 'remedy', 'SELECT 1', 'SELECT length(jobstats_internal.ids_remedy(array_fill(''a''::text, ARRAY[100000])))', 100000 * 64
    UNION ALL
    SELECT 'audit', 'SELECT 1', 'SELECT count(*) FROM jobstats_audit(now() - interval ''1 day'', now())',
        (SELECT 2 * length(body) + 50000 * 1024 / 3 FROM memory.texts WHERE name = 'next')
) AS s (name, argument, statement, bytes);
