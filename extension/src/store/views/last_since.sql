(SELECT t.target_id, o."time" FROM jobstats.targets t CROSS JOIN LATERAL (
    SELECT o."time" FROM jobstats.observations o WHERE o.target_id = t.target_id AND o."time" > @instant@
    ORDER BY o."time" DESC LIMIT 1) o)
