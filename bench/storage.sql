-- Makes, of the texts that are stored, tables as others keep them: a wide row for every record of every text, with
-- columns for all operations. Run by storage.sh.
\set ON_ERROR_STOP on
SET client_min_messages = warning;

-- All that Lustre prints of an operation.
SELECT format('CREATE TABLE everything ("time" timestamptz NOT NULL, target_id integer, entry_id bigint, %s)',
    string_agg(format('%1$s_samples bigint, %1$s_min bigint, %1$s_max bigint, %1$s_sum bigint, %1$s_sumsq double precision',
        operation), ', ') || ', read_bytes_hist jsonb, write_bytes_hist jsonb')
FROM jobstats_operations() \gexec
-- Calls, and bytes or microseconds.
SELECT format('CREATE TABLE numbers ("time" timestamptz NOT NULL, target_id integer, entry_id bigint, %s)',
    string_agg(format('%1$s_samples bigint, %1$s_sum bigint', operation), ', '))
FROM jobstats_operations() \gexec
-- The same with text for keys, and what finds a job.
CREATE TABLE usual (LIKE numbers);
ALTER TABLE usual DROP target_id, DROP entry_id, ADD target text, ADD entry text;
\if :timescale
SELECT create_hypertable(name::regclass, 'time'::name) FROM unnest('{everything,numbers,usual}'::text[]) AS name \g /dev/null
\else
CREATE INDEX ON everything ("time");
CREATE INDEX ON numbers ("time");
CREATE INDEX ON usual ("time");
\endif
CREATE INDEX ON usual (entry, "time");

SELECT format('INSERT INTO everything SELECT r."time", r.target_id, e.entry_id, %s, %s
    FROM jobstats.raw_text r CROSS JOIN LATERAL jobstats_parse(r.body) p JOIN jobstats.entries e ON e.name = p.entry
    GROUP BY r."time", r.target_id, e.entry_id ORDER BY r."time"',
    string_agg(format('max(p.samples) %1$s, max(p.min) %1$s, max(p.max) %1$s, max(p.sum) %1$s, max(p.sumsq) %1$s',
        format('FILTER (WHERE p.operation = %L)', operation)), ', '),
    string_agg(format('(array_agg(p.hist) FILTER (WHERE p.operation = %L))[1]', operation), ', ')
        FILTER (WHERE operation IN ('read_bytes', 'write_bytes')))
FROM jobstats_operations() \gexec
SELECT format('INSERT INTO numbers SELECT "time", target_id, entry_id, %s FROM everything ORDER BY "time"',
    string_agg(format('%1$s_samples, %1$s_sum', operation), ', '))
FROM jobstats_operations() \gexec
SELECT format('INSERT INTO usual ("time", target, entry, %1$s) SELECT n."time", t.name, e.name, %1$s
    FROM numbers n JOIN jobstats.targets t USING (target_id) JOIN jobstats.entries e USING (entry_id) ORDER BY n."time"',
    string_agg(format('%1$s_samples, %1$s_sum', operation), ', '))
FROM jobstats_operations() \gexec

-- Increments of MDTs and OSTs apart, each with the columns of its kind.
SELECT format('CREATE TABLE %s AS SELECT i."time", i.since, i.observed, i.last_active, i.entry_id, i.target_id, i.reset, %s
    FROM jobstats.increments i JOIN jobstats.targets t USING (target_id) WHERE t.kind = %L',
    'only_' || lower(k.kind), string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum), k.kind)
FROM (VALUES ('MDT'), ('OST')) k (kind)
CROSS JOIN pg_attribute a
LEFT JOIN jobstats_operations() o ON a.attname IN (o.operation, o.operation || '_usecs')
WHERE a.attrelid = 'jobstats.increments'::regclass AND a.attnum > 7
    AND (o.operation IS NULL OR o.mdt AND k.kind = 'MDT' OR o.ost AND k.kind = 'OST')
GROUP BY k.kind \gexec
