-- The series of values ($4) that a server ($1, $2) says at a time ($3); NULL where there is none yet.
WITH found AS MATERIALIZED (
    SELECT said.*, series.series_id
    FROM jsonb_to_recordset($4::jsonb) AS said (target_id integer, name text, labels jsonb, value double precision)
    LEFT JOIN LATERAL (
        SELECT of_target.series_id FROM jobstats.sample_series of_target
        WHERE of_target.target_id = said.target_id AND of_target.name = said.name AND of_target.labels = said.labels
        UNION ALL
        SELECT of_server.series_id FROM jobstats.sample_series of_server
        WHERE said.target_id IS NULL AND of_server.target_id IS NULL AND of_server.cluster = $1 AND of_server.server = $2
            AND of_server.name = said.name AND of_server.labels = said.labels
    ) series ON true
)
