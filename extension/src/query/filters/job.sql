-- Those of two texts that are the number or the label of a job.
SELECT ARRAY(
    SELECT asked.name
    FROM unnest($1) asked (name)
    WHERE EXISTS (SELECT FROM @entries@ entry WHERE entry.job = asked.name)
        OR EXISTS (SELECT FROM @jobs@ run WHERE run.job = asked.name OR run.label = asked.name)
)
