-- The series of values ($3) of a server ($1, $2); NULL for a new series. A counter without an earlier reading has no value; a counter
-- of joules of a node may have wrapped.
WITH found AS MATERIALIZED (
    SELECT said.target_id, said.name, said.labels, timestamptz 'epoch' + said.at * interval '1 microsecond' AS "time", series.series_id,
        CASE WHEN energy.joules IS NOT NULL THEN energy.joules
            WHEN NOT said.is_counter OR said.value < series.counter THEN said.value ELSE said.value - series.counter END AS value,
        CASE WHEN said.is_counter THEN said.value END AS counter,
        said.is_counter AND said.value < series.counter AND energy.joules IS NULL AS is_reset, said.node, energy.joules
    FROM jsonb_to_recordset($3::jsonb) AS said (
        target_id integer, name text, labels jsonb, is_counter boolean, value double precision, at bigint, node text, maximum double precision)
    LEFT JOIN LATERAL (
        SELECT of_target.series_id, of_target.counter, of_target."time" FROM jobstats.sample_series of_target
        WHERE of_target.target_id = said.target_id AND of_target.name = said.name AND of_target.labels = said.labels
        UNION ALL
        SELECT of_server.series_id, of_server.counter, of_server."time" FROM jobstats.sample_series of_server
        WHERE said.target_id IS NULL AND of_server.target_id IS NULL AND of_server.cluster = $1 AND of_server.server = $2
            AND of_server.name = said.name AND of_server.labels = said.labels
    ) series ON true
    CROSS JOIN LATERAL (
        SELECT CASE WHEN said.node IS NOT NULL AND series.counter IS NOT NULL THEN jobstats_internal.energy_growth(
            said.name, said.maximum, series.counter, said.value, (said.at * 0.000001 - extract(epoch FROM series."time"))::double precision
        ) END AS joules
    ) energy
)
