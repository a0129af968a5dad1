-- Queues the numbers of entries that were active on a day without a match, although accounting has the number, and of entries whose
-- number several jobs have.
INSERT INTO jobstats.to_match (job)
SELECT DISTINCT e.job
FROM (
    SELECT r.entry_id, r.bucket FROM jobstats.rollup_1d r
    WHERE (r.bucket > date_bin(interval '1 day', $1, timestamptz 'epoch') AND r.bucket <= $2) OR r.bucket = ANY ($4)
    UNION
    SELECT r.entry_id, date_bin(interval '1 day', r.bucket - interval '1 microsecond', timestamptz 'epoch') + interval '1 microsecond'
    FROM jobstats.rollup_10m r
    WHERE r.bucket > greatest($1, $2) AND r.bucket <= $3
) a
JOIN jobstats.entries e ON e.entry_id = a.entry_id
CROSS JOIN LATERAL (
    SELECT count(*) AS jobs FROM (SELECT FROM jobstats.job_ids i WHERE i.job = e.job LIMIT 2) i) known
WHERE known.jobs > 1 OR known.jobs = 1 AND NOT EXISTS (
    SELECT FROM jobstats.entry_jobs j WHERE j.entry_id = a.entry_id AND a.bucket > j.valid_from AND a.bucket <= j.valid_to)
