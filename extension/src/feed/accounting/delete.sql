-- Deletes rows of submissions by their starts.
DELETE FROM jobstats.jobs j
USING jsonb_to_recordset($1::jsonb) AS g (scheduler text, job text, label text, submitted bigint, started bigint)
WHERE j.scheduler = g.scheduler AND j.job = g.job AND j.label = g.label
    AND j.submitted IS NOT DISTINCT FROM timestamptz 'epoch' + g.submitted * interval '1 microsecond'
    AND j.started IS NOT DISTINCT FROM timestamptz 'epoch' + g.started * interval '1 microsecond'
