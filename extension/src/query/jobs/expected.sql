UNION ALL
SELECT part.entry_id@days@ FROM part WHERE (SELECT false) AND part.entry_id < 0 AND part.target_id < 0
