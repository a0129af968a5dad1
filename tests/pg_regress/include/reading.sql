-- What tests of reading begin with: a store whose rows are written by hand, so that every answer can be checked by hand.
\ir new_store.sql
CREATE SCHEMA world;

CREATE FUNCTION world.at(minute numeric) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
SELECT timestamptz '2025-11-03 08:00+00' + minute * interval '1 minute'
$$;

-- A target is observed on a server at these times. Its first observation ever is a baseline.
CREATE FUNCTION world.observe(cluster text, target text, server text, times timestamptz[]) RETURNS void
LANGUAGE sql AS $$
INSERT INTO jobstats.targets (cluster, name, filesystem, kind, index)
SELECT cluster, target, parts[1], parts[2], ('x' || lpad(parts[3], 8, '0'))::bit(32)::integer
FROM regexp_match(target, '(.+)-(MDT|OST)(....)') AS parts
ON CONFLICT DO NOTHING;
INSERT INTO jobstats.observations ("time", since, target_id, server, received, duration, entries, active, added, resets,
    removed, carried, unknown, problems, bytes, digest)
SELECT o."time",
    coalesce(lag(o."time") OVER (ORDER BY o."time"),
        (SELECT max(p."time") FROM jobstats.observations p WHERE p.target_id = t.target_id AND p."time" < o."time")),
    t.target_id, observe.server, o."time", '1 second', 10, 2, 1, 0, 0, 0, 0, 0, 1000, '\x'
FROM unnest(times) AS o ("time"), jobstats.targets t
WHERE t.cluster = observe.cluster AND t.name = observe.target;
SELECT jobstats_internal.note_spans('-infinity', 'infinity', t.target_id) FROM jobstats.targets t
WHERE t.cluster = observe.cluster AND t.name = observe.target;
$$;
CREATE FUNCTION world.observe(target text, server text, VARIADIC minutes numeric[]) RETURNS void
LANGUAGE sql AS $$
SELECT world.observe('', target, server, ARRAY(SELECT world.at(minute) FROM unnest(minutes) AS minute))
$$;
-- Makes all observations of a target earlier. They are written anew, as a row of a hypertable cannot move to the chunk of another day.
CREATE FUNCTION world.delay(target text, by interval) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    early jobstats.observations[];
BEGIN
    WITH gone AS (
        DELETE FROM jobstats.observations o USING jobstats.targets t
        WHERE t.target_id = o.target_id AND t.name = delay.target
        RETURNING o AS observation
    )
    SELECT array_agg(jsonb_populate_record(g.observation,
        jsonb_build_object('time', (g.observation)."time" - delay.by, 'since', (g.observation).since - delay.by))) INTO early
    FROM gone g;
    INSERT INTO jobstats.observations SELECT e.* FROM unnest(early) AS e;
    PERFORM jobstats_internal.note_spans('-infinity', 'infinity');
END
$$;

CREATE FUNCTION world.enter(entry text) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.entries (entry_id, name, job, uid, gid, node, executable, pid, format, status, workload, first_seen)
SELECT hashtextextended(entry, 0), entry, i.job, i.uid, i.gid, i.node, i.executable, i.pid, i.format, i.status,
    coalesce(i.job, i.executable || '.' || i.uid, entry), world.at(0)
FROM jobstats_identify(entry) i
WHERE NOT EXISTS (SELECT FROM jobstats.entries e WHERE e.name = entry);
$$;

-- A number as increments.sizes has it, and both histograms of these counts.
CREATE FUNCTION world.varint(number bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
SELECT string_agg(set_byte('\x00', 0, (number >> n * 7 & 127)::integer | CASE WHEN number >> n * 7 > 127 THEN 128 ELSE 0 END), '\x'::bytea ORDER BY n)
FROM generate_series(0, 8) n WHERE n = 0 OR number >> n * 7 > 0
$$;
CREATE FUNCTION world.sizes(counts jsonb) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
SELECT string_agg(world.varint(place - before) || world.varint(growth), '\x'::bytea ORDER BY place) || '\x00'
FROM (SELECT place, growth, coalesce(lag(place) OVER (ORDER BY place), 0) AS before
    FROM (VALUES ('read_bytes_hist', 0), ('write_bytes_hist', 32)) AS h (name, first),
        jsonb_array_elements_text(counts -> h.name) WITH ORDINALITY AS e (element, n), LATERAL (SELECT first + n, element::bigint) AS g (place, growth)
    WHERE growth > 0) e
$$;
-- What an entry did on a target in (since, until]: {"open": 3, "open_usecs": 70}.
CREATE FUNCTION world.act(cluster text, target text, entry text, since timestamptz, until timestamptz, counts jsonb)
RETURNS void LANGUAGE sql AS $$
SELECT world.enter(entry);
INSERT INTO jobstats.increments
SELECT i.*
FROM jobstats.targets t
CROSS JOIN LATERAL jsonb_populate_record(NULL::jobstats.increments, counts || jsonb_build_object('time', until, 'since', since,
    'observed', (SELECT min(o."time") FROM jobstats.observations o WHERE o.target_id = t.target_id AND o."time" >= until),
    'target_id', t.target_id, 'entry_id', hashtextextended(entry, 0), 'reset', false, 'sizes', world.sizes(counts))) i
WHERE t.cluster = act.cluster AND t.name = act.target;
-- As a feed does of a row that it divides at hours only.
INSERT INTO jobstats.coarse
SELECT date_bin('1 hour', since, 'epoch'), date_bin('1 hour', until + interval '1 hour' - interval '1 microsecond', 'epoch'),
    interval '1 hour'
WHERE date_bin('10 minutes', since, 'epoch') < date_bin('10 minutes', until - interval '1 microsecond', 'epoch')
ON CONFLICT DO NOTHING;
$$;
CREATE FUNCTION world.act(target text, entry text, since numeric, until numeric, counts jsonb) RETURNS void
LANGUAGE sql AS $$
SELECT world.act('', target, entry, world.at(since), world.at(until), counts)
$$;

SET search_path = public, world;
