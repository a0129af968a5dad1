-- A text that was cut between two records, with nothing wrong in any line: entries that were active stood behind its end.
\getenv source PG_ABS_SRCDIR
\set store :source '/include/store.sql'
\set ECHO none
\i :store
\set ECHO all

-- b began at minute 1 and c at minute 3, behind the cut. The text is taken, and its sender gets a warning.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('mds1', at(0), mdt('fs-MDT0000', life('a.1', at(-9), 10, 10))),
    ('mds1', at(2), mdt('fs-MDT0000', life('a.1', at(-9), 11, 11), life('b.1', at(1), 3, 3)));
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('mds1', at(4), mdt('fs-MDT0000', life('a.1', at(-9), 12, 12)));
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('mds1', at(6), mdt('fs-MDT0000', life('a.1', at(-9), 12, 12), life('b.1', at(1), 8, 8), life('c.1', at(3), 7, 7)));
SELECT entry, since, until, open FROM increments;
SELECT "time", entries, added, removed, carried, unknown FROM observations;
-- Computing again gives the same.
SELECT * FROM jobstats_audit(at(-1), at(10));

-- A text without b, whose last activity was over ten minutes ago, is whole: Lustre may have dropped the entry.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('idle', 'mds1', at(0), mdt('fs-MDT0000', life('a.1', at(-9), 10, 10), life('b.1', at(-9), 3, 3))),
    ('idle', 'mds1', at(2), mdt('fs-MDT0000', life('a.1', at(-9), 11, 11)));
SELECT "time", removed, carried FROM observations WHERE cluster = 'idle';
SELECT * FROM wrong_spans();
