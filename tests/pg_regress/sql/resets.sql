-- Resets: the counters of an entry restart, and what they show since then is all new.
\getenv source PG_ABS_SRCDIR
\set store :source '/include/store.sql'
\set ECHO none
\i :store
\set ECHO all

-- 100, 150, 40, 60 are 50, 40 and 20 more.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', at(0), ost('fs-OST0000', record('a.1', 100, 409600))),
    ('oss1', at(2), ost('fs-OST0000', record('a.1', 150, 614400))),
    ('oss1', at(4), ost('fs-OST0000', record('a.1', 40, 163840))),
    ('oss1', at(6), ost('fs-OST0000', record('a.1', 60, 245760)));
SELECT since, until, reset, write, write_bytes FROM increments;
SELECT "time", active, added, resets FROM observations;

-- To all zeros: nothing was done, so there is no row; afterwards it goes on from zero.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', at(8), ost('fs-OST0000', record('a.1', 0, 0))),
    ('oss1', at(9), ost('fs-OST0000', record('a.1', 7, 28672)));
SELECT since, until, reset, write, write_bytes FROM increments WHERE observed > 6;
SELECT "time", active, added, resets FROM observations WHERE "time" > 6;

-- One counter that fell shows that all of them restarted.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('one falls', 'oss1', at(0), ost('fs-OST0000', record('a.1', 100, 409600, 5))),
    ('one falls', 'oss1', at(2), ost('fs-OST0000', record('a.1', 110, 450560, 1)));
SELECT since, until, reset, write, write_bytes, punch FROM increments WHERE cluster = 'one falls';

-- A later start_time shows it, though the counters are larger than before.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('dated', 'mds1', at(0), mdt('fs-MDT0000', life('x.1', at(-5), 10, 100))),
    ('dated', 'mds1', at(2), mdt('fs-MDT0000', life('x.1', at(1), 30, 300)));
SELECT since, until, reset, open, open_usecs FROM increments WHERE cluster = 'dated';

-- With the same start_time a counter cannot fall: a problem. The larger value stays known.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('fell', 'mds1', at(0), mdt('fs-MDT0000', life('x.1', at(-5), 10, 100, 5))),
    ('fell', 'mds1', at(2), mdt('fs-MDT0000', life('x.1', at(-5), 8, 80, 6))),
    ('fell', 'mds1', at(4), mdt('fs-MDT0000', life('x.1', at(-5), 12, 120, 6)));
SELECT since, until, reset, open, open_usecs, getattr FROM increments WHERE cluster = 'fell';
SELECT "time", active, resets, carried, problems FROM observations WHERE cluster = 'fell';
SELECT cluster, target, "time", line, reason, text FROM rejects;

-- The same identifier twice in a text: two lives by start_time. The older goes on, the newer begins at zero.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('lives', 'mds1', at(0), mdt('fs-MDT0000', life('x.1', at(-5), 10, 100))),
    ('lives', 'mds1', at(2), mdt('fs-MDT0000', life('x.1', at(-5), 13, 130), life('x.1', at(1), 2, 20))),
    ('lives', 'mds1', at(4), mdt('fs-MDT0000', life('x.1', at(1), 3, 30)));
SELECT since, until, reset, open, open_usecs FROM increments WHERE cluster = 'lives' ORDER BY until, open DESC;
SELECT "time", entries, active, added, resets FROM observations WHERE cluster = 'lives';

-- Without start_time identical records count once; of differing ones the later counts, and the other is rejected.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('doubled', 'oss1', at(0), ost('fs-OST0000', record('a.1', 1, 4096), record('a.1', 1, 4096))),
    ('doubled', 'oss1', at(2), ost('fs-OST0000', record('a.1', 3, 12288), record('b.1', 1, 4096), record('a.1', 4, 16384)));
SELECT entry, since, until, reset, write FROM increments WHERE cluster = 'doubled';
SELECT "time", entries, active, problems FROM observations WHERE cluster = 'doubled';
SELECT "time", line, reason, text FROM rejects WHERE cluster = 'doubled';

-- An entry that was dropped when idle and came back: the text between was complete and lacked it, so its row begins there.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('back', 'oss1', at(8), ost('fs-OST0009', record('a.1', 1, 4096), record('b.1', 9, 36864))),
    ('back', 'oss1', at(12), ost('fs-OST0009', record('a.1', 1, 4096))),
    ('back', 'oss1', at(19), ost('fs-OST0009', record('a.1', 1, 4096), record('b.1', 6, 24576)));
SELECT entry, since, until, reset, write FROM increments WHERE cluster = 'back';
-- With start_time: a birth, and a new life of an entry that was not in the text between.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('born', 'mds1', at(2), mdt('fs-MDT0009', life('x.1', at(-5), 10, 100), life('y.1', at(-5), 10, 100))),
    ('born', 'mds1', at(4), mdt('fs-MDT0009', life('x.1', at(-5), 10, 100))),
    ('born', 'mds1', at(12), mdt('fs-MDT0009', life('x.1', at(-5), 10, 100), life('y.1', at(7), 5, 50), life('z.1', at(11), 5, 50)));
SELECT entry, since, until, reset, open FROM increments WHERE cluster = 'born';

-- What is stored is what the raw text says.
SELECT * FROM jobstats_audit(at(-60), at(120));
SELECT * FROM wrong_spans();
