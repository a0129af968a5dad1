-- Increments that are stored but were not computed, and the other way round.
WITH computed AS MATERIALIZED (
    @computed@
), stored AS MATERIALIZED (
    SELECT @names@ FROM jobstats.increments
    WHERE target_id = $1 AND observed > $2 AND observed <= $3 AND "time" > $4 AND "time" <= $3
), extra AS (
    SELECT * FROM stored EXCEPT ALL SELECT * FROM computed
), missing AS (
    SELECT * FROM computed EXCEPT ALL SELECT * FROM stored
)
@answer@
