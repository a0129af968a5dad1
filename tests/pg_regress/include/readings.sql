-- What tests of the audit begin with: a store whose raw text is kept for ever, and readings of a day that can be named.
\ir store.sql
DO $$ BEGIN PERFORM jobstats_setup(raw_retention => '100 years', retention => '100 years'); END $$;
UPDATE texts.clock SET zero = '2025-11-03 08:00+00';

-- An OST without and an MDT with start_time. Entries are skipped and come back (b, y), are born (c, y, z) and restart
-- (x, y). Rows of the last observation are divided at ten minutes.
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('n1', at(0), ost('fs-OST0000', record('a.1', 10, 40960), record('b.1', 5, 20480))
        || mdt('fs-MDT0000', life('x.1', at(-5), 10, 100))),
    ('n1', at(2), ost('fs-OST0000', record('a.1', 12, 49152), record('b.1', 6, 24576))
        || mdt('fs-MDT0000', life('x.1', at(-5), 12, 120), life('y.1', at(1), 4, 40))),
    ('n1', at(4), ost('fs-OST0000', record('a.1', 15, 61440), record('c.1', 1, 4096))
        || mdt('fs-MDT0000', life('x.1', at(3), 2, 20))),
    ('n1', at(6), ost('fs-OST0000', record('a.1', 15, 61440), record('c.1', 1, 4096))
        || mdt('fs-MDT0000', life('x.1', at(3), 2, 20), life('y.1', at(1), 5, 50))),
    ('n1', at(8), ost('fs-OST0000', record('a.1', 16, 65536), record('b.1', 9, 36864), record('c.1', 3, 12288))
        || mdt('fs-MDT0000', life('x.1', at(3), 5, 50), life('y.1', at(7), 1, 10))),
    ('n1', at(14), ost('fs-OST0000', record('a.1', 22, 90112), record('b.1', 9, 36864), record('c.1', 3, 12288))
        || mdt('fs-MDT0000', life('x.1', at(3), 6, 60), life('y.1', at(7), 1, 10), life('z.1', at(9), 1, 10)));
-- Another target, which works without a break.
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'n2', at(minute), ost('fs-OST0001', record('a.1', minute, minute * 4096)) FROM generate_series(0, 14, 2) AS minute;

CREATE FUNCTION texts.target(name text) RETURNS integer LANGUAGE sql STABLE AS $$
SELECT target_id FROM jobstats.targets t WHERE t.name = target.name
$$;
