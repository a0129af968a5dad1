-- The series of values ($3) that a server ($1, $2) says; NULL where there is none yet. A counter without a reading before has no value.
WITH found AS MATERIALIZED (
    SELECT said.target_id, said.name, said.labels, timestamptz 'epoch' + said.at * interval '1 microsecond' AS "time", series.series_id,
        CASE WHEN NOT said.is_counter OR said.value < series.counter THEN said.value ELSE said.value - series.counter END AS value,
        CASE WHEN said.is_counter THEN said.value END AS counter, said.is_counter AND said.value < series.counter AS is_reset
    FROM jsonb_to_recordset($3::jsonb) AS said (
        target_id integer, name text, labels jsonb, is_counter boolean, value double precision, at bigint)
    LEFT JOIN LATERAL (
        SELECT of_target.series_id, of_target.counter FROM jobstats.sample_series of_target
        WHERE of_target.target_id = said.target_id AND of_target.name = said.name AND of_target.labels = said.labels
        UNION ALL
        SELECT of_server.series_id, of_server.counter FROM jobstats.sample_series of_server
        WHERE said.target_id IS NULL AND of_server.target_id IS NULL AND of_server.cluster = $1 AND of_server.server = $2
            AND of_server.name = said.name AND of_server.labels = said.labels
    ) series ON true
)
