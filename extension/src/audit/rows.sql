-- Increments that are stored but were not computed, and the other way round. Version 0.1 also stored details that follow
-- from the columns; these are removed before the comparison.
WITH computed AS MATERIALIZED (
    @computed@
), stored AS MATERIALIZED (
    SELECT @names@ FROM jobstats.increments
    WHERE target_id = $1 AND observed > $2 AND observed <= $3 AND "time" > $4 AND "time" <= $3
), unlike_computed AS (
    SELECT * FROM stored EXCEPT ALL SELECT * FROM computed
), unlike_stored AS (
    SELECT * FROM computed EXCEPT ALL SELECT * FROM stored
), totals AS (
    SELECT c.entry_id, c.observed, jsonb_object_agg(c.key, c.total) AS totals
    FROM (
        SELECT s.entry_id, s.observed, j.key, sum(j.value::numeric) AS total
        FROM stored s CROSS JOIN LATERAL jsonb_each(to_jsonb(s)) j
        WHERE (s.entry_id, s.observed) IN (SELECT u.entry_id, u.observed FROM unlike_computed u WHERE u.detail IS NOT NULL)
            AND jsonb_typeof(j.value) = 'number'
        GROUP BY s.entry_id, s.observed, j.key) c
    GROUP BY c.entry_id, c.observed
), in_brief AS (
    SELECT @names_in_brief@ FROM unlike_computed LEFT JOIN totals USING (entry_id, observed)
), extra AS (
    SELECT * FROM in_brief EXCEPT ALL SELECT * FROM unlike_stored
), missing AS (
    SELECT * FROM unlike_stored EXCEPT ALL SELECT * FROM in_brief
)
@answer@
