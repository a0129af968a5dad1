-- The cases of the proof (:cases and :deliveries, CSV) as tables. Ends with an error if there is any difference.
\set QUIET on
\set ON_ERROR_STOP on
\pset footer off
\pset null '-'
CREATE TEMP TABLE cases (cluster text, layout text, seconds integer, texts bigint, smaller_resets bigint, larger_resets bigint,
    skipped bigint, doubled bigint, cut bigint, failed bigint, moved bigint, headers_missing bigint, headers_extra bigint,
    gaps bigint, failovers bigint, clock_steps bigint, clears bigint, increments bigint, counter_readings bigint,
    queue_cells bigint, used_cells bigint, day_cells bigint, cells bigint, differences bigint,
    above_truth bigint, calls numeric, bytes numeric, after_last_reading_calls numeric, after_last_reading_bytes numeric,
    baseline_calls numeric, baseline_bytes numeric, unknown_calls numeric, unknown_bytes numeric,
    hidden_reset_calls numeric, hidden_reset_bytes numeric, rule5_calls numeric, rule5_bytes numeric);
CREATE FUNCTION pg_temp.ppm(part numeric, whole numeric) RETURNS bigint LANGUAGE sql AS $$ SELECT round(1e6 * part / whole)::bigint $$;
CREATE TEMP TABLE deliveries (cluster text, sent bigint, late bigint, twice bigint);
\set copy '\\copy cases FROM ' :'cases' ' (FORMAT csv)'
:copy
\set copy '\\copy deliveries FROM ' :'deliveries' ' (FORMAT csv)'
:copy
\pset null ''

\echo
\echo 'Cases: what was done, what nobody can know of it, and what is stored and answered compared with the rest.'
SELECT cluster AS "case", seconds AS interval, texts, counter_readings AS "readings of whole targets", increments, calls, bytes,
    after_last_reading_calls + baseline_calls + unknown_calls + hidden_reset_calls + rule5_calls AS "calls unknowable",
    after_last_reading_bytes + baseline_bytes + unknown_bytes + hidden_reset_bytes + rule5_bytes AS "bytes unknowable",
    cells AS "cells compared", queue_cells AS "of queues", used_cells AS "of used space", differences, above_truth AS "above the truth"
FROM cases ORDER BY cases.ctid;

\echo 'Irregularities, counted:'
SELECT cluster AS "case", smaller_resets AS "resets, a value fell", larger_resets AS "resets, none fell", skipped, doubled, cut,
    failed, moved, headers_missing + headers_extra AS headers, gaps, failovers, clock_steps AS "clock steps", clears,
    late, twice, sent - texts AS refused
FROM cases LEFT JOIN deliveries USING (cluster) ORDER BY cases.ctid;

\echo 'What nobody can know who has only the texts, in millionths of what was done; nothing in the cases that are not shown:'
SELECT cluster AS "case", pg_temp.ppm(after_last_reading_calls, calls) AS "after last reading: calls",
    pg_temp.ppm(after_last_reading_bytes, bytes) AS bytes, pg_temp.ppm(baseline_calls, calls) AS "baseline: calls",
    pg_temp.ppm(baseline_bytes, bytes) AS bytes, pg_temp.ppm(unknown_calls, calls) AS "unknown: calls", pg_temp.ppm(unknown_bytes, bytes) AS bytes,
    pg_temp.ppm(hidden_reset_calls, calls) AS "hidden reset: calls", pg_temp.ppm(hidden_reset_bytes, bytes) AS bytes,
    pg_temp.ppm(rule5_calls, calls) AS "rule 5: calls", pg_temp.ppm(rule5_bytes, bytes) AS bytes
FROM cases
WHERE after_last_reading_calls + baseline_calls + unknown_calls + hidden_reset_calls + rule5_calls > 0
ORDER BY cases.ctid;

SELECT count(*) AS cases, sum(texts) AS texts, sum(counter_readings) AS "readings of whole targets", sum(increments) AS increments,
    sum(cells) AS "cells compared", sum(queue_cells) AS "of queues", sum(used_cells) AS "of used space",
    sum(differences) AS differences, sum(above_truth) AS "above the truth"
FROM cases;
DO $$
BEGIN
    ASSERT (SELECT min(least(cells, counter_readings, queue_cells, used_cells)) > 0 AND min(day_cells) FILTER (WHERE cluster LIKE '% day') > 0
        FROM cases), 'there is a case in which nothing was compared';
    ASSERT (SELECT sum(differences) = 0 AND sum(above_truth) = 0 FROM cases), 'there are differences';
END
$$;
