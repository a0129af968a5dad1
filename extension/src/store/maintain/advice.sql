-- health is asked every minute. Its advice on matches is found here, at most once per call of maintenance, in an hour or a day that
-- rollups know, so that it costs as much in a store of years as in one of a day.
CREATE FUNCTION jobstats_internal.advise() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    known timestamptz := (SELECT l.refreshed FROM jobstats.rollups l WHERE l.level = '10m');
    day timestamptz := (SELECT date_bin(interval '24 hours', l.refreshed, timestamptz 'epoch') FROM jobstats.rollups l WHERE l.level = '1d');
    written bigint;
BEGIN
    DELETE FROM jobstats.advice a;
    INSERT INTO jobstats.advice (cluster, status, remedy, noted)
    SELECT q.cluster, q.status, q.remedy, now()
    -- The span ends where rollups end, and lies within a day of UTC as matches do.
    FROM jobstats.status_quality(
        greatest(known - interval '1 hour', jobstats_internal.bucket(interval '24 hours', known - interval '1 microsecond')), known) q
    WHERE q.urgent
    UNION ALL
    -- Of a whole day, since who claims jobs may do so in bursts. Where no entry claims any, nothing is read.
    (SELECT DISTINCT ON (c.cluster) c.cluster, 'claimed', format('Of what was read and written on %s, %s %% was by identifiers that name jobs of other users, most of it of uid %s for jobs of %s, for example %s. If one person has both numbers, accounting and clients disagree about users; otherwise the user exports numbers of these jobs.',
        ((day - interval '24 hours') AT TIME ZONE 'UTC')::date, round(100 * c.claimed / c.of_all), c.uid, c.owner, c.example), now()
    FROM (
        SELECT t.cluster, e.uid, e.owner, min(e.name) AS example, sum(b.bytes) AS bytes, sum(sum(b.bytes)) OVER w AS of_all,
            sum(sum(b.bytes) FILTER (WHERE e.entry_id IS NOT NULL)) OVER w AS claimed
        FROM jobstats.rollup_1d r
        CROSS JOIN LATERAL (SELECT coalesce(r.read_bytes, 0) + coalesce(r.write_bytes, 0) AS bytes) b
        JOIN jobstats.targets t ON t.target_id = r.target_id
        LEFT JOIN (
            SELECT e.entry_id, e.uid, e.name, coalesce((
                SELECT coalesce(text 'uid ' || k.uid, k.user_name) FROM jobstats.job_ids k
                WHERE k.job = e.claimed ORDER BY k.started > day, k.started DESC LIMIT 1), text 'others') AS owner
            FROM jobstats.entries e WHERE e.claimed IS NOT NULL) e ON e.entry_id = r.entry_id
        WHERE r.bucket > day - interval '24 hours' AND r.bucket <= day AND EXISTS (SELECT FROM jobstats.entries k WHERE k.claimed IS NOT NULL)
        GROUP BY t.cluster, e.uid, e.owner
        WINDOW w AS (PARTITION BY t.cluster)) c
    WHERE c.uid IS NOT NULL AND 20 * c.claimed >= c.of_all AND c.claimed > 0
    ORDER BY c.cluster, c.bytes DESC, c.uid);
    GET DIAGNOSTICS written = ROW_COUNT;
    RETURN written;
END
$$;
COMMENT ON FUNCTION jobstats_internal.advise() IS
'Internal: notes in jobstats.advice what needs care in the matches of entries with jobs, and returns how much that is.';
