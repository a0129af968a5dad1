-- Whatever happens to the bytes of texts in transit, and however late they come: no feed fails, and stored rows follow from the accepted
-- texts.
\i store.sql
\set ECHO all
SET client_min_messages = error;
SELECT setseed(0.42);

-- Sets, removes, repeats or inserts some bytes, or cuts the text.
CREATE FUNCTION mangled(body bytea) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
    place integer := floor(random() * length(body));
    size integer := floor(random() * 100);
    pieces bytea[] := '{"\\x0a","\\x00","\\xff","\\x7b","\\x7d","\\x2d20","\\x0d0a","\\x3139","\\x6f62646669"}';
BEGIN
    IF body = '' THEN
        RETURN body;
    END IF;
    RETURN CASE floor(random() * 5)
        WHEN 0 THEN set_byte(body, place, floor(random() * 256)::integer)
        WHEN 1 THEN substring(body FOR place) || substring(body FROM place + 1 + size)
        WHEN 2 THEN substring(body FOR place + size) || substring(body FROM place + 1)
        WHEN 3 THEN substring(body FOR place) || pieces[1 + floor(random() * array_length(pieces, 1))] || substring(body FROM place + 1)
        ELSE substring(body FOR place + 1)
    END;
END
$$;

-- Every fifth text is late, and up to three things happen to each.
DO $$
DECLARE
    body bytea;
BEGIN
    FOR reading IN 1..400 LOOP
        body := convert_to(
            E'obdfilter.fs-OST0000.job_cleanup_interval=600\n' || ost('fs-OST0000',
                record('a.' || reading % 7, reading, reading * 4096, reading % 11),
                record('b.1', reading, reading * 4096), record('"c\xC3\xA9.1"', 5 + reading, 20480))
            || mdt('fs-MDT0000', life('x.1', at(-5 - reading % 3), reading, 10 * reading),
                life('y.' || reading % 5, at(-1), 4, 40 + reading)), 'UTF8');
        FOR change IN 1..floor(random() * 4) LOOP
            body := mangled(body);
        END LOOP;
        INSERT INTO jobstats.feed (server, "time", body_zstd) SELECT 'n1',
            at(0) + interval '3 seconds' * (reading - CASE WHEN random() < 0.2 THEN 15 * random() ELSE 0 END), zstd(body);
    END LOOP;
END
$$;
SELECT count(*) > 300 AS stored, sum(problems) > 300 AS damaged FROM observations;
SELECT count(DISTINCT reason) > 8 AS in_many_ways FROM jobstats.rejects;

-- The texts that were taken, in order.
INSERT INTO jobstats.feed (cluster, server, "time", body_zstd)
SELECT 'in order', r.server, r."time", r.body FROM jobstats.raw r JOIN jobstats.targets t USING (target_id)
WHERE t.cluster = '' ORDER BY r."time", t.name;
SELECT count(*) FROM differences('', 'in order');
SELECT count(*) FROM jobstats.increments WHERE since >= "time" OR "time" > observed;

-- Stored rows match the raw text.
SELECT * FROM jobstats_audit(at(-60), at(120));
