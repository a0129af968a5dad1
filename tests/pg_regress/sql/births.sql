-- Births: an entry that the previous text lacks counts from zero only where that is proven.
\getenv source PG_ABS_SRCDIR
\set store :source '/include/store.sql'
\set ECHO none
\i :store
\set ECHO all

-- Without start_time: the previous text was complete and had the entry neither in it nor carried with it.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', at(0), ost('fs-OST0000', record('a.1', 10, 40960))),
    ('oss1', at(2), ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 3, 12288)));
SELECT entry, since, until, reset, write, write_bytes FROM increments;
SELECT "time", active, added, unknown FROM observations;

-- The previous text was cut in b's record: what c had done before is not known. A baseline.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', at(4), left(ost('fs-OST0000', record('a.1', 11, 45056), record('b.1', 4, 16384)), -30)),
    ('oss1', at(6), ost('fs-OST0000', record('a.1', 12, 49152), record('b.1', 5, 20480), record('c.1', 100, 409600))),
    ('oss1', at(8), ost('fs-OST0000', record('a.1', 12, 49152), record('b.1', 5, 20480), record('c.1', 101, 413696)));
SELECT entry, since, until, write, write_bytes, punch FROM increments WHERE observed > 2;
SELECT "time", active, added, carried, unknown, problems FROM observations WHERE "time" > 2;

-- The previous raw text is gone: nobody knows what was there.
DELETE FROM jobstats.raw WHERE "time" = at(8);
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', at(10), ost('fs-OST0000', record('a.1', 20, 81920), record('d.1', 1, 4096)));
SELECT "time", active, added, removed, carried, unknown FROM observations WHERE "time" = 10;
SELECT count(*) FROM increments WHERE observed = 10;

-- With start_time: it is later than the previous observation, whatever that text was like.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('mds1', at(0), mdt('fs-MDT0000', life('x.1', at(-5), 10, 100)) || 'cut'),
    ('mds1', at(2), mdt('fs-MDT0000', life('x.1', at(-5), 10, 100), life('y.1', at(1), 5, 50), life('z.1', at(-1), 7, 70)));
SELECT entry, since, until, open, open_usecs FROM increments WHERE target = 'fs-MDT0000';
SELECT "time", active, added, unknown FROM observations WHERE target = 'fs-MDT0000';
DELETE FROM jobstats.raw WHERE "time" = at(2);
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('mds1', at(4), mdt('fs-MDT0000', life('x.1', at(-5), 11, 110), life('y.1', at(1), 6, 60), life('n.1', at(3), 1, 10)));
SELECT entry, since, until, open FROM increments WHERE target = 'fs-MDT0000' AND observed = 4;
SELECT "time", active, added, unknown FROM observations WHERE target = 'fs-MDT0000' AND "time" = 4;

-- What is born into a long gap: a row for each hour that has its part.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('gap', 'oss1', at(-600), ost('fs-OST0000', record('a.1', 1, 4096))),
    ('gap', 'oss1', at(0), ost('fs-OST0000', record('a.1', 1, 4096), record('b.1', 5, 20480)));
SELECT entry, since, until, write, write_bytes FROM increments WHERE cluster = 'gap';

-- An entry that comes and does nothing has no row.
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES
    ('idle', 'oss1', at(0), ost('fs-OST0000')),
    ('idle', 'oss1', at(2), ost('fs-OST0000', record('a.1', 0, 0)));
SELECT "time", entries, active, added FROM observations WHERE cluster = 'idle';
SELECT count(*) FROM increments WHERE cluster = 'idle';
SELECT * FROM wrong_spans();
