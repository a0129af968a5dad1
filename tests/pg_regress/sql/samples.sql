-- Gauges: the latest value of each, values by hour and day, and their states in health.
\i store.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
-- Hours of one day, whenever this runs.
UPDATE texts.clock SET zero = zero - interval '2 hours' WHERE extract(hour FROM zero) = 23;
CREATE FUNCTION feed(server text, minute numeric, VARIADIC texts text[]) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES ('', server, at(minute), array_to_string(texts, E'\n') || E'\n')
$$;
CREATE FUNCTION space(target text, total bigint, free bigint, avail bigint, files bigint DEFAULT 1000, free_files bigint DEFAULT 900) RETURNS text
LANGUAGE sql AS $$
SELECT string_agg(format('osd-ldiskfs.%s.%s=%s', target, name, value), E'\n')
FROM (VALUES ('kbytestotal', total), ('kbytesfree', free), ('kbytesavail', avail), ('filestotal', files), ('filesfree', free_files)) v (name, value)
$$;
CREATE VIEW series AS
SELECT s.server, s.target, s.name, s.labels, minute(s."time") AS "time", s.value, minute(s.since) AS since
FROM jobstats.samples s ORDER BY s.target COLLATE "C", s.server, s.name, s.labels;
CREATE VIEW hours AS
SELECT coalesce(s.target, s.server) AS of, s.name, minute(h.bucket - interval '1 microsecond') AS hour, h.min, h.max, h.sum, h.last, h.count
FROM jobstats.samples_1h h JOIN jobstats.samples s USING (series_id) ORDER BY 1, 2, 3;

-- Of a target: space and inodes. A text without job_stats makes the target known.
SELECT feed('oss1', 1, space('fs-OST0000', 1000, 500, 450)), feed('oss1', 31, space('fs-OST0000', 1000, 300, 250)), feed('oss1', 61, space('fs-OST0000', 1000, 400, 350));
SELECT * FROM series;
SELECT * FROM hours WHERE name = 'kbytesavail';
SELECT s.name, d.min, d.max, d.last, d.count FROM jobstats.samples_1d d JOIN jobstats.samples s USING (series_id) WHERE s.name = 'kbytesfree' AND d.count < 3 OR s.name = 'kbytestotal';
-- A value that is older than the latest one does not count, nor does a future one. The same text again is known.
SELECT feed('oss1', 45, space('fs-OST0000', 1000, 1, 1)), feed('oss1', 61, space('fs-OST0000', 1000, 2, 2)), feed('oss1', 1000000, space('fs-OST0000', 1000, 3, 3));
SELECT * FROM hours WHERE name = 'kbytesavail';
-- One of a time that has not come yet hides no true one.
BEGIN;
SELECT feed('oss1', minute(now() + said.at), space('fs-OST0009', 1000, 500, said.avail)) FROM (VALUES (interval '4 min', 1), ('-1 min', 2), ('-2 min', 3)) AS said (at, avail);
SELECT value FROM jobstats.samples WHERE target = 'fs-OST0009' AND name = 'kbytesavail';
ROLLBACK;
-- Another server takes the target over: the series go on.
SELECT feed('oss2', 62, space('fs-OST0000', 1000, 400, 350));
SELECT server, count(*) FROM series GROUP BY server;

-- Of a server, and of readers of a changelog.
SELECT feed('mds1', 60, 'health_check=healthy', E'mdd.fs-MDT0000.changelog_users=\ncurrent_index: 1000\nID                            index (idle) mask\ncl1                           990 (10)\ncl2-audit                     400 (700000)',
    E'mdt.fs-MDT0000.recovery_status=\nstatus: RECOVERING\nrecovery_start: 1\ntime_remaining: 84\nconnected_clients: 1/2',
    E'mds.MDS.mdt.nrs_policies=\nregular_requests:\n  - name: fifo\n    state: started\n    fallback: yes\n    queued: 3\n    active: 8\n');
SELECT * FROM series WHERE server = 'mds1';

-- Rules of a token bucket filter, and clients of a nodemap: a counter has its growth, also when it restarts.
CREATE FUNCTION nodemap(opens int, bytes int) RETURNS text LANGUAGE sql AS $$
SELECT format(E'nodemap.tenant.md_stats=\nsnapshot_time 1.000000000 secs.nsecs\nopen %s samples [usecs] 1 2 3 4\nwrite_bytes 1 samples [bytes] 1 9 %s 4', opens, bytes)
$$;
SELECT feed('mds1', 61, nodemap(10, 4096), E'mds.MDS.mdt.nrs_tbf_rule=\nregular_requests:\nCPT 0:\nbulk {dd.1000} 100, ref 2\ndefault {*} 10000, ref 9'),
    feed('mds1', 62, nodemap(15, 8192)), feed('mds1', 63, nodemap(2, 8192));
SELECT name, labels, "time", value FROM series WHERE server = 'mds1' AND name ~ '^(tbf|nodemap)';
SELECT s.name, s.labels ->> 'operation' AS operation, h.sum, h.count
FROM jobstats.samples_1h h JOIN jobstats.samples s USING (series_id) WHERE s.name LIKE 'nodemap%' ORDER BY 1, 2;

-- Health reports problems with names and remedies. Ended problems, retired targets and values older than a day are left out.
CREATE FUNCTION now_in(n interval) RETURNS numeric LANGUAGE sql AS $$ SELECT minute(now() + n) $$;
SELECT feed('oss1', now_in('-20 min'), space('fs-OST0000', 1000000, 70000, 40000), space('fs-OST0001', 1000, 500, 450, 1000, 12), 'health_check=NOT HEALTHY',
        E'obdfilter.fs-OST0000.recovery_status=\nstatus: RECOVERING'),
    feed('mds1', now_in('-20 min'), E'mdt.fs-MDT0000.recovery_status=\nstatus: COMPLETE', space('fs-MDT0000', 0, 0, 0));
SELECT feed('oss1', now_in('-1 min'), 'health_check=NOT HEALTHY', E'obdfilter.fs-OST0000.recovery_status=\nstatus: RECOVERING');
CREATE VIEW said AS
SELECT target, kind, server, states, regexp_replace(remedy, '\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00', '…') AS remedy
FROM jobstats.health WHERE states && '{full,unhealthy,recovery,changelog}' ORDER BY states, target;
SELECT * FROM said;
SELECT jobstats_metrics() ~ 'target_state\{[^}]*fs-OST0000",state="full"\} 1' AS metrics_have_them;
SELECT jobstats_alter_target('fs-OST0001', retired => true) IS NOT NULL AS retired;
SELECT feed('oss1', now_in('-30 s'), 'health_check=healthy', E'obdfilter.fs-OST0000.recovery_status=\nstatus: COMPLETE');
UPDATE jobstats.sample_series SET "time" = "time" - interval '1 day' WHERE name LIKE 'changelog%';
SELECT target, states FROM said;

-- Bad input does not affect other values, nor job_stats in the same text.
SELECT target, action, entries FROM jobstats_ingest('', 'oss3', at(5), mdt('fs-MDT0000', life('1.1', at(0), 1, 10)) || E'osd-zfs.fs-OST0003.kbytestotal=-1\n'
    'osd-zfs.fs-OST0003.kbytesfree=9223372036854775807\nosd-zfs.fs-OST0003.kbytesavail=9223372036854775808\nosd-zfs.fs-OST0003.filestotal=x\nhealth_check=what\n');
SELECT name, value FROM series WHERE target = 'fs-OST0003';
SELECT target, line, reason, text FROM rejects WHERE "time" <> 1000000;
-- A server has 10,000 series; new names beyond these are rejected, and the known ones go on.
SELECT feed('evil', 10, E'mdd.fs-MDT0000.changelog_users=\ncurrent_index: 7\nID index (idle) mask\n' || string_agg(format('cl%s 1', n), E'\n'))
FROM generate_series(1, 9000) n;
SELECT feed('evil', 11, E'mdd.fs-MDT0000.changelog_users=\ncurrent_index: 8\nID index (idle) mask\n' || string_agg(format('cl%s 1', n), E'\n'))
FROM generate_series(8001, 12000) n;
SELECT feed('evil', 12, E'mdd.fs-MDT0001.changelog_users=\ncurrent_index: 8\nID index (idle) mask\n' || string_agg(format('cl%s 1', n), E'\n'))
FROM generate_series(1, 10005) n;
SELECT count(*), count(*) FILTER (WHERE value = 7) AS not_again, count(DISTINCT target) AS targets FROM series WHERE server = 'evil';
SELECT "time", reason, text FROM rejects WHERE server = 'evil';

-- Retention: series without values for as long as jobs are kept are dropped with their values.
UPDATE jobstats.sample_series SET "time" = now() - interval '3 years' WHERE server = 'evil';
UPDATE jobstats.rollups SET dropped = at(60) WHERE level = '1h';
SELECT jobstats_internal.forget_samples() > 10000 AS forgotten;
SELECT count(*) FROM series WHERE server = 'evil';
SELECT DISTINCT hour < 60 AS is_old FROM hours;
SELECT count(*) FROM jobstats.samples_1d d LEFT JOIN jobstats.samples s USING (series_id) WHERE s.name IS NULL;
