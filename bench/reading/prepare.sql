-- Creates the additional tables of the queries. Run by ../reading.sh.
SET client_min_messages = warning;

-- For how long each target was observed in each step of a window.
CREATE FUNCTION seen(lower timestamptz, upper timestamptz, width interval)
RETURNS TABLE (target_id integer, step timestamptz, seconds double precision) LANGUAGE sql STABLE AS $$
    SELECT o.target_id, s.step, extract(epoch FROM
        sum(least(o."time", s.step + width, upper) - greatest(o.since, s.step)))::double precision
    FROM jobstats.observations o CROSS JOIN LATERAL generate_series(
        greatest(date_bin(width, o.since, lower), lower), least(o."time", upper) - interval '1 microsecond', width) s (step)
    WHERE o."time" > lower AND o.since < upper GROUP BY o.target_id, s.step
$$;
VACUUM ANALYZE;
