-- Computes the baseline times of probes on a day ($1) from the hours of the 30 days before, for targets probed for a week.
INSERT INTO jobstats.baseline_probes (target_id, day, seconds)
SELECT probe.target_id, ($1 AT TIME ZONE 'UTC')::date, percentile_cont(double precision '0.5') WITHIN GROUP (ORDER BY probe.seconds)
FROM jobstats_internal.probe_hours($1 - interval '720 hours', $1) probe
WHERE NOT EXISTS (SELECT FROM jobstats.baseline_probes known WHERE known.day = ($1 AT TIME ZONE 'UTC')::date)
GROUP BY probe.target_id
HAVING count(DISTINCT date_bin(interval '1 day', probe.hour, timestamptz 'epoch')) >= 7
ON CONFLICT DO NOTHING
