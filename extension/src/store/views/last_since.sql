(SELECT t.target_id, t.last_observation AS "time" FROM jobstats.targets t WHERE t.last_observation > @instant@)
