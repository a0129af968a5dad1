-- What maintenance does with used space, gauges and sums of services.

CREATE FUNCTION jobstats_internal.sum_used() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    written bigint;
BEGIN
    -- From here on no feed puts another list in the place of one of these. A list that comes later is added to the sums.
    UPDATE jobstats.used_lists l SET summed = true
    FROM jobstats.settings s
    WHERE NOT l.summed AND l.day < ((now() - s.refresh_lag) AT TIME ZONE 'UTC')::date;
    WITH gone AS (
        DELETE FROM jobstats.used_first f USING jobstats.used_lists l
        WHERE l.target_id = f.target_id AND l.kind = f.kind AND l.day = f.day AND l.summed
        RETURNING f.*
    )
    INSERT INTO jobstats.used AS used (day, cluster, filesystem, kind, id, kbytes, inodes, targets)
    -- On an OST, inodes are objects, and none of a user's files.
    SELECT g.day, t.cluster, coalesce(t.filesystem, ''), g.kind, g.id, sum(g.kbytes), sum(g.inodes) FILTER (WHERE t.kind = 'MDT'), count(*)
    FROM gone g JOIN jobstats.targets t ON t.target_id = g.target_id
    GROUP BY g.day, t.cluster, coalesce(t.filesystem, ''), g.kind, g.id
    ON CONFLICT (day, kind, cluster, filesystem, id) DO UPDATE
    SET kbytes = used.kbytes + EXCLUDED.kbytes, inodes = coalesce(used.inodes + EXCLUDED.inodes, used.inodes, EXCLUDED.inodes),
        targets = used.targets + EXCLUDED.targets;
    GET DIAGNOSTICS written = ROW_COUNT;
    RETURN written;
END
$$;
COMMENT ON FUNCTION jobstats_internal.sum_used() IS
'Internal: sums the first lists of used space of days that are over, and returns the number of sums that were written.';

CREATE FUNCTION jobstats_internal.forget_samples() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    hours timestamptz := (SELECT l.dropped FROM jobstats.rollups l WHERE l.level = '1h');
    minutes timestamptz := (SELECT l.dropped FROM jobstats.rollups l WHERE l.level = '10m');
    days timestamptz := (SELECT l.dropped FROM jobstats.rollups l WHERE l.level = '1d');
    silent timestamptz := (SELECT now() - s.jobs_retention FROM jobstats.settings s);
    idle timestamptz := (SELECT now() - s.raw_retention - interval '1 hour' FROM jobstats.settings s);
    gone bigint;
    all_gone bigint := 0;
    statement text;
BEGIN
    FOREACH statement IN ARRAY ARRAY[
        'DELETE FROM jobstats.server_hours h WHERE h.bucket <= $1',
        'DELETE FROM jobstats.samples_1h h WHERE h.bucket <= $1',
        'DELETE FROM jobstats.samples_1d d WHERE d.bucket <= $2',
        'DELETE FROM jobstats.energy e WHERE e.bucket <= $5',
        'DELETE FROM jobstats.used u WHERE u.day < ($2 AT TIME ZONE ''UTC'')::date',
        -- A server that has gone, or names that a server made up.
        'WITH series AS (DELETE FROM jobstats.sample_series s WHERE s."time" < $3 RETURNING s.series_id),
            hours AS (DELETE FROM jobstats.samples_1h h USING series s WHERE h.series_id = s.series_id),
            readings AS (DELETE FROM jobstats.energy e USING series s WHERE e.series_id = s.series_id)
        DELETE FROM jobstats.samples_1d d USING series s WHERE d.series_id = s.series_id',
        'DELETE FROM jobstats.used_now u USING (
            SELECT l.target_id, l.kind FROM jobstats.used_lists l GROUP BY l.target_id, l.kind HAVING max(l.last) < $3) l
        WHERE l.target_id = u.target_id AND l.kind = u.kind',
        'DELETE FROM jobstats.used_lists l WHERE l.summed AND l.last < least($3, $2)',
        -- A feed that waits for its row makes it again.
        'DELETE FROM jobstats.locks l WHERE l.name IN (
            SELECT k.name FROM jobstats.locks k
            WHERE k.name LIKE ''server %'' AND NOT EXISTS (
                SELECT FROM (
                    SELECT format(''server %L/%L'', h.cluster, h.server) AS name FROM jobstats.server_hours h WHERE h.bucket > $4
                    UNION ALL
                    SELECT format(''server %L/%L'', s.cluster, s.server) FROM jobstats.sample_series s WHERE s."time" > $4
                ) alive
                WHERE alive.name = k.name)
            FOR UPDATE OF k SKIP LOCKED)']
    LOOP
        EXECUTE statement USING hours, days, silent, idle, minutes;
        GET DIAGNOSTICS gone = ROW_COUNT;
        all_gone := all_gone + gone;
    END LOOP;
    RETURN all_gone;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_samples() IS
'Internal: deletes what is too old of sums of services, gauges and used space, and returns the number of rows.';

CREATE FUNCTION jobstats_internal.forget_events(horizon timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    gone bigint;
BEGIN
    -- What was usual is judged by once more as long as texts may come late.
    DELETE FROM jobstats.usual_waits u WHERE u.day < (now() - interval '60 days')::date;
    DELETE FROM jobstats.usual_probes u WHERE u.day < (now() - interval '60 days')::date;
    DELETE FROM jobstats.usual_largest u WHERE u.day < (now() - interval '60 days')::date;
    DELETE FROM jobstats.usual_calls u WHERE u.day < (now() - interval '60 days')::date;
    DELETE FROM jobstats.windows w WHERE w.until < horizon;
    DELETE FROM jobstats.events e WHERE e.until < horizon;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_events(timestamptz) IS
'Internal: deletes events and maintenance windows that ended before a time, and what was usual long ago; returns the number of events.';
