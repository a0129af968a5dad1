-- Records that a text does not show: Lustre up to 2.15 skips some while others are removed, and texts are cut. What was
-- known of them is carried with the text, so that they do not count twice when they are back.
\getenv source PG_ABS_SRCDIR
\set store :source '/include/store.sql'
\set ECHO none
\i :store
\set ECHO all

-- Without start_time: b is skipped once. Its row says what it did since it was last seen.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', at(0), ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 5, 20480))),
    ('oss1', at(2), ost('fs-OST0000', record('a.1', 11, 45056))),
    ('oss1', at(4), ost('fs-OST0000', record('a.1', 12, 49152), record('b.1', 7, 28672)));
SELECT entry, since, until, reset, write, write_bytes FROM increments;
SELECT "time", entries, active, added, removed, carried, unknown FROM observations;

-- The carried record, as it is kept with the text that lacks it.
SELECT carried ~ 'job_id: +b.1\n' AS is_b, to_timestamp(substring(carried, 'last_seen: +(\d+)')::bigint) = at(0) AS last_seen
FROM jobstats.raw_text WHERE "time" = at(2);

-- Lustre forgets an entry that was idle for 600 seconds, and looks for such every 300: an entry that was not seen for
-- 15 minutes is new when it comes again.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('forgotten', 'oss1', at(0), ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 5, 20480))),
    ('forgotten', 'oss1', at(14), ost('fs-OST0000', record('a.1', 11, 45056))),
    ('forgotten', 'oss1', at(15), ost('fs-OST0000', record('a.1', 12, 49152))),
    ('forgotten', 'oss1', at(16), ost('fs-OST0000', record('a.1', 13, 53248), record('b.1', 7, 28672)));
SELECT since, until, write FROM increments WHERE cluster = 'forgotten' AND entry = 'b.1';
SELECT "time", added, removed, carried FROM observations WHERE cluster = 'forgotten';

-- Where the cleanup interval is longer, and shipped, it is not.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('kept', 'oss1', at(0), E'obdfilter.fs-OST0000.job_cleanup_interval=1200\n' || ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 5, 20480))),
    ('kept', 'oss1', at(14), ost('fs-OST0000', record('a.1', 11, 45056))),
    ('kept', 'oss1', at(15), ost('fs-OST0000', record('a.1', 12, 49152))),
    ('kept', 'oss1', at(16), ost('fs-OST0000', record('a.1', 13, 53248), record('b.1', 7, 28672)));
SELECT since, until, write FROM increments WHERE cluster = 'kept' AND entry = 'b.1';
SELECT "time", added, removed, carried FROM observations WHERE cluster = 'kept';

-- Where every entry that is left restarted, so did those that are missing.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('restarted', 'oss1', at(0), ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 5, 20480))),
    ('restarted', 'oss1', at(2), ost('fs-OST0000', record('a.1', 3, 12288))),
    ('restarted', 'oss1', at(4), ost('fs-OST0000', record('a.1', 3, 12288), record('b.1', 7, 28672)));
SELECT entry, since, until, reset, write FROM increments WHERE cluster = 'restarted';
SELECT "time", added, resets, removed, carried FROM observations WHERE cluster = 'restarted';

-- With start_time lives cannot be mistaken: what is missing is carried for a day.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('dated', 'mds1', at(-1500), mdt('fs-MDT0000', life('x.1', at(-1600), 1, 10), life('y.1', at(-1600), 5, 50), life('z.1', at(-1600), 5, 50))),
    ('dated', 'mds1', at(-1499), mdt('fs-MDT0000', life('x.1', at(-1600), 2, 20))),
    ('dated', 'mds1', at(-61), mdt('fs-MDT0000', life('x.1', at(-1600), 3, 30), life('y.1', at(-1600), 7, 70))),
    ('dated', 'mds1', at(0), mdt('fs-MDT0000', life('x.1', at(-1600), 4, 40), life('y.1', at(-1600), 7, 70))),
    ('dated', 'mds1', at(2), mdt('fs-MDT0000', life('x.1', at(-1600), 4, 40), life('y.1', at(-1600), 7, 70), life('z.1', at(-1600), 9, 90)));
SELECT entry, min(since) AS since, max(until) AS until, sum(open) AS open FROM increments WHERE cluster = 'dated' GROUP BY 1, observed ORDER BY observed, 1;
SELECT "time", active, added, removed, carried, unknown FROM observations WHERE cluster = 'dated';

-- A text cut in b's record: b has its new calls and keeps the punches that were known; c and what else may be missing
-- is carried, even to another server.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('cut', 'oss1', at(0), ost('fs-OST0000', record('a.1', 10, 40960, 1), record('b.1', 5, 20480, 2), record('c.1', 8, 32768, 3))),
    ('cut', 'oss2', at(2), left(ost('fs-OST0000', record('a.1', 11, 45056, 1), record('b.1', 6, 24576, 4)), -20)),
    ('cut', 'oss2', at(4), ost('fs-OST0000', record('a.1', 12, 49152, 1), record('b.1', 6, 24576, 4), record('c.1', 9, 36864, 3)));
SELECT entry, since, until, reset, write, punch FROM increments WHERE cluster = 'cut';
SELECT "time", entries, added, resets, removed, carried, unknown, problems FROM observations WHERE cluster = 'cut';
SELECT "time", line, reason, text FROM rejects WHERE cluster = 'cut';

-- An error message that names the target: what it lacks may be there all the same. One that names something else says
-- nothing about this target.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('failed', 'oss1', at(0), ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 5, 20480))),
    ('failed', 'oss1', at(2), ost('fs-OST0000') || E'error: read_param: ''/proc/fs/lustre/obdfilter/fs-OST0000/job_stats'': Interrupted system call\n'),
    ('failed', 'oss1', at(4), ost('fs-OST0000', record('a.1', 11, 45056), record('b.1', 6, 24576), record('c.1', 7, 28672))),
    ('failed', 'oss1', at(6), ost('fs-OST0000', record('a.1', 11, 45056)) || E'error: read_param: ''/proc/fs/lustre/obdfilter/fs-OST0000/brw_stats'': Interrupted system call\n'),
    ('failed', 'oss1', at(8), ost('fs-OST0000', record('a.1', 11, 45056), record('b.1', 6, 24576), record('d.1', 1, 4096)));
SELECT entry, since, until, reset, write FROM increments WHERE cluster = 'failed';
SELECT "time", entries, added, removed, carried, unknown, problems FROM observations WHERE cluster = 'failed';

-- What is stored is what the raw text says.
SELECT * FROM jobstats_audit(at(-60), at(120));
SELECT * FROM wrong_spans();
