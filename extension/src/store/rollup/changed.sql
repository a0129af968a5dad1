SELECT dirty.target_id, range_agg(@span@) AS spans FROM jobstats.dirty GROUP BY dirty.target_id
