-- A target that moves to another server keeps its history; its counters restart there.
\getenv source PG_ABS_SRCDIR
\set store :source '/include/store.sql'
\set ECHO none
\i :store
\set ECHO all

-- a is idle on the new server at first, b is busy on both, c is new.
CREATE TABLE readings (server text, minute integer, body text);
INSERT INTO readings VALUES
    ('oss1', 0, ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 5, 20480))),
    ('oss1', 2, ost('fs-OST0000', record('a.1', 12, 49152), record('b.1', 6, 24576))),
    ('oss2', 4, ost('fs-OST0000', record('b.1', 2, 8192), record('c.1', 1, 4096))),
    ('oss2', 6, ost('fs-OST0000', record('a.1', 3, 12288), record('b.1', 4, 16384), record('c.1', 1, 4096)));
INSERT INTO jobstats.feed (server, "time", body) SELECT server, at(minute), body FROM readings ORDER BY minute;
SELECT entry, since, until, reset, write, write_bytes FROM increments;
-- Nothing without start_time is carried to another server: a begins at zero there.
SELECT server, since, "time", entries, active, added, resets, removed, carried, unknown FROM observations;
SELECT count(*) AS targets FROM jobstats.targets;

-- Texts of both servers that crossed on their way are placed, as the server of each is that of a neighbour.
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'crossed', server, at(minute), body FROM readings ORDER BY minute IN (2, 6), minute;
SELECT * FROM differences('', 'crossed');

-- With start_time the new life is seen whatever the counters are.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('mds1', at(0), mdt('fs-MDT0000', life('x.1', at(-5), 10, 100), life('y.1', at(-5), 10, 100))),
    ('mds2', at(4), mdt('fs-MDT0000', life('x.1', at(3), 50, 500))),
    ('mds2', at(6), mdt('fs-MDT0000', life('x.1', at(3), 51, 510), life('y.1', at(5), 11, 110)));
SELECT entry, since, until, reset, open FROM increments WHERE target = 'fs-MDT0000';

-- What is stored is what the raw text says.
SELECT * FROM jobstats_audit(at(-60), at(120));
SELECT * FROM wrong_spans();
