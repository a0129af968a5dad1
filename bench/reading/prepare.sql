-- What the questions beside are asked of besides the store. Run by ../reading.sh.
SET client_min_messages = warning;

-- What one keeps without jobstats: of every entry of every text a row with the counters as they stood, and what its
-- identifier says.
SELECT format('CREATE TABLE counters ("time" timestamptz NOT NULL, target text NOT NULL, entry text NOT NULL, job text, uid bigint, %s)',
    string_agg(format('%1$I bigint, %1$s_sum bigint', operation), ', '))
FROM jobstats_operations() \gexec
SELECT format('INSERT INTO counters SELECT r."time", t.name, p.entry, e.job, e.uid, %s
    FROM jobstats.raw_text r JOIN jobstats.targets t USING (target_id) CROSS JOIN LATERAL (
        SELECT l.entry, %s FROM jobstats_parse(r.body) l GROUP BY l.entry
    ) p JOIN jobstats.entries e ON e.name = p.entry ORDER BY r."time"',
    string_agg(format('p.%1$I, p.%1$s_sum', operation), ', '),
    string_agg(format('max(l.samples) FILTER (WHERE l.operation = %1$L) AS %1$I,
        max(l.sum) FILTER (WHERE l.operation = %1$L) AS %1$s_sum', operation), ', '))
FROM jobstats_operations() \gexec
-- In the order in which lag() wants them.
CREATE INDEX ON counters (target, entry, "time");
CREATE INDEX ON counters (job, "time");

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
