-- The table for lag(). Run by ../reading.sh.
SET client_min_messages = warning;

-- The table that one would keep without jobstats: a row for every entry of every text, with raw counters and the parts of the identifier.
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
