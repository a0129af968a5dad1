-- health is asked every minute. Its advice on matches is found here, at most once per call of maintenance, in an hour that rollups
-- know, so that it costs as much in a store of years as in one of a day.
CREATE FUNCTION jobstats_internal.advise() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    known timestamptz := (SELECT l.refreshed FROM jobstats.rollups l WHERE l.level = '10m');
    written bigint;
BEGIN
    DELETE FROM jobstats.advice a;
    INSERT INTO jobstats.advice (cluster, status, remedy, noted)
    SELECT q.cluster, q.status, q.remedy, now()
    -- The span ends where rollups end, and lies within a day of UTC as matches do.
    FROM jobstats.status_quality(
        greatest(known - interval '1 hour', jobstats_internal.bucket(interval '24 hours', known - interval '1 microsecond')), known) q
    WHERE q.urgent;
    GET DIAGNOSTICS written = ROW_COUNT;
    RETURN written;
END
$$;
COMMENT ON FUNCTION jobstats_internal.advise() IS
'Internal: notes in jobstats.advice what needs care in the matches of entries with jobs, and returns how much that is.';
