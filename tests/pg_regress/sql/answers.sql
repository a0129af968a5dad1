-- What SELECT * shows: no line up to share, or to formatted, is wider than 100 characters.
\i reading.sql
\i texts.sql
SET search_path = public, world, texts;
\set ECHO all
\set VERBOSITY terse
SELECT jobstats_setup(retention => '100 years', raw_retention => '100 years', compress_after => '100 years') IS NOT NULL AS ready \gset
-- Two users of two accounts, their jobs of an hour on three targets, and the same hour of five days before.
INSERT INTO jobstats.users (uid, user_name, gid) VALUES (1000, 'kowalski', 100), (1001, 'rodriguez', 101);
INSERT INTO jobstats.groups (gid, group_name) VALUES (100, 'climate'), (101, 'physics');
SELECT i.action FROM jobstats_ingest('', 'slurm', at(70), source => 'slurm',
    body => (SELECT translate(E'JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|GID|Group|Account|Partition|JobName|State|ExitCode|NNodes|NCPUS\n' || string_agg(concat_ws('|', job, label, 'alpha',
            extract(epoch FROM at(started - 3))::bigint, extract(epoch FROM at(started))::bigint, coalesce(extract(epoch FROM at(ended))::bigint::text, 'Unknown'),
            uid, CASE uid WHEN 1000 THEN 'kowalski' ELSE 'rodriguez' END, uid - 900, CASE uid WHEN 1000 THEN 'climate' ELSE 'physics' END,
            account, 'standard', job_name, state, '0:0', 2, 256) || E'\n', ''), '|', chr(31))
        FROM (VALUES ('1003023', '1003023', 0, 60, 1000, 'project_2001004', 'icon-run', 'COMPLETED'), ('1003057', '1003057_2', 10, 50, 1001, 'project_2002001', 'md-array', 'FAILED'),
            ('1003061', '1003061', 20, NULL, 1001, 'project_2002001', 'md-post', 'RUNNING')) AS r (job, label, started, ended, uid, account, job_name, state))) i;
DO $$ BEGIN
    FOR day IN 0..5 LOOP
        PERFORM observe(target, CASE WHEN target ~ 'MDT' THEN 'mds1' ELSE 'oss1' END, VARIADIC ARRAY(SELECT minute - 1440.0 * (5 - day) FROM generate_series(0, 60, 10) AS minute))
        FROM unnest('{scratch-MDT0000,scratch-OST0000,scratch-OST0001}'::text[]) AS target;
        PERFORM act('scratch-OST0000', '900' || day || ':1000:n0101', -1440.0 * (5 - day), 60 - 1440.0 * (5 - day), '{"write_bytes": 42949672960, "write": 40960, "write_usecs": 90000000}') WHERE day < 5;
    END LOOP;
    PERFORM act('scratch-OST0000', '1003023:1000:n0101', 0, 10, '{"write_bytes": 429496729600, "write": 409600, "write_usecs": 1900000000}');
    PERFORM act('scratch-OST0001', '1003023:1000:n0102', 0, 10, '{"write_bytes": 214748364800, "write": 204800, "write_usecs": 700000000}');
    PERFORM act('scratch-OST0001', '1003057:1001:n0103', 10, 20, '{"read_bytes": 1073741824, "read": 1048576, "read_usecs": 1300000000}');
    PERFORM act('scratch-MDT0000', '1003057:1001:n0103', 10, 20, '{"open": 600000, "open_usecs": 360000000, "close": 600000, "close_usecs": 60000000, "mknod": 600000, "mknod_usecs": 420000000, "unlink": 590000, "unlink_usecs": 380000000}');
    PERFORM act('scratch-MDT0000', '1003061:1001:n0104', 50, 60, '{"getattr": 90000, "getattr_usecs": 4500000, "open": 300, "open_usecs": 30000}');
    PERFORM act('scratch-OST0000', 'rsync.1000', 50, 60, '{"read_bytes": 32212254720, "read": 30720, "read_usecs": 61000000}');
END $$;
UPDATE jobstats.targets SET last_observation = at(60);
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT '', 'mds1', at(m), stats('mdt.scratch-MDT0000.md_stats', at(m), at(-60), jsonb_build_object('open', 64000 * (m + 60), 'close', 64000 * (m + 60), 'mknod', 61000 * (m + 60),
    'unlink', 60000 * (m + 60), 'getattr', 900 * (m + 60))) FROM generate_series(0, 60, 10) m;
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT '', 'mds1', at(m), stats('mds.MDS.mdt.stats', at(m), at(-60), jsonb_build_object('req_waittime', 6000 * (m + 60), 'req_waittime_usecs', 12000000 * (m + 60), 'req_qdepth', 6000 * (m + 60),
    'req_qdepth_usecs', 18000 * (m + 60), 'req_active', 6000 * (m + 60), 'req_active_usecs', 48000 * (m + 60), 'mds_getattr', 6000 * (m + 60))) FROM generate_series(0, 60, 10) m;
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES ('', 'oss1', at(60),
    E'osd-ldiskfs.scratch-OST0000.quota_slave.acct_user=\nusr_accounting:\n- id:      1000\n  usage:   { inodes:  70, kbytes:  5368709120 }\n- id:      1001\n  usage:   { inodes:  900, kbytes:  104857600 }\n');
CALL jobstats_maintain();
INSERT INTO jobstats.events (kind, cluster, filesystem, began, found, until, ended, updated, severity, targets, servers, value, usual, rate, details, load_times, notified, culprits)
VALUES ('waiting', '', 'scratch', at(12), at(18), at(20), at(20), at(20), 'warning', '{scratch-MDT0000}', '{mds1}', 0.21, 0.002, 4.2, '{}', 10.9, at(18),
    '{"by": "uid", "named": true, "times": 10.9, "subjects": [{"uid": 1001, "user_name": "rodriguez", "account": "project_2002001", "job": "1003057", "share": 0.97}]}');

-- The width of a line of psql, up to a column.
CREATE TABLE questions (number integer GENERATED ALWAYS AS IDENTITY, statement text);
INSERT INTO questions (statement) VALUES
    ('jobstats_totals(at(0), at(60), ''write_bytes,open,metadata,service_time'', ''account,user'')'),
    ('jobstats_rates(at(0), at(60), ''write_bytes,read_bytes'', ''target,user'', ''30 min'')'),
    ('jobstats_top(at(0), at(60), ''service_time'')'),
    ('jobstats_top(at(0), at(60), ''open'', ''user,workload'', untracked => true)'),
    ('jobstats_now(at => at(60), by => ''user,workload'')'),
    ('jobstats_summary(at(0), at(60), ''user,job'')'),
    ('jobstats_changes(at(0), at(60), ''write_bytes'', ''user,account'', n => 1)'),
    ('jobstats_baseline(at(0), at(60), ''write_bytes'', ''user,target'')'),
    ('jobstats_findings(at(0), at(60), ''user,job'')'),
    ('jobstats_verdict(at(0), at(60))'),
    ('jobstats_densities(at(0), at(60), ''write_bytes'')'),
    ('jobstats_io_sizes(at(0), at(60), ''user,target'')'),
    ('jobstats_balance(at(0), at(60))'),
    ('jobstats_untracked(at(10), at(20), ''open,metadata'')'),
    ('jobstats_jobs(at(0), at(60))'),
    ('jobstats_job(1003023)'),
    ('jobstats_job_usage(1003057, ''target,node'')'),
    ('jobstats_compare(''{1003023,1003057}'', operations => ''write_bytes,read_bytes'')'),
    ('jobstats_queues(at(0), at(60), ''30 min'')'),
    ('jobstats_space(by => ''user,filesystem'')'),
    ('jobstats_events(at(0), at(60))'),
    ('jobstats_explain((SELECT event_id FROM jobstats.events))'),
    ('jobstats_targets(at(60))');
CREATE FUNCTION wide(statement text) RETURNS TABLE ("column" text, width bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format($q$
        WITH cells AS (
            SELECT c.key, c.number, max(length(c.value)) AS cell
            FROM %s r, json_each_text(row_to_json(r)) WITH ORDINALITY AS c (key, value, number)
            GROUP BY c.key, c.number
        ), last AS (
            SELECT min(number) AS number FROM cells WHERE key = CASE WHEN EXISTS (SELECT FROM cells WHERE key = 'share') THEN 'share' ELSE 'formatted' END
        )
        SELECT (SELECT key FROM cells WHERE number = l.number), sum(greatest(c.cell, length(c.key)) + 3) - 1
        FROM cells c, last l WHERE c.number <= l.number GROUP BY l.number $q$, statement);
END
$$;
SELECT split_part(q.statement, '(', 1) AS function, w."column", w.width <= 100 AS fits, CASE WHEN w.width > 100 THEN w.width END AS width
FROM questions q, wide(q.statement) w ORDER BY q.number;

SELECT format('SELECT * FROM %s;', statement) FROM questions ORDER BY number \gexec
\x on
SELECT format('SELECT * FROM %s;', statement) FROM questions WHERE statement ~ '_(jobs|job|summary|findings|job_usage)\(' ORDER BY number \gexec
