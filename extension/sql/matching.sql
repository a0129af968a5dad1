-- Matches of entries with jobs.

CREATE FUNCTION jobstats_internal.match_some() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_match_some_wrapper';
COMMENT ON FUNCTION jobstats_internal.match_some IS
'Internal: matches the entries of some numbers of jobstats.to_match with jobs, and returns how many numbers; NULL: the queue is empty.';

CREATE FUNCTION jobstats_internal.queue_unmatched() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_queue_unmatched_wrapper';
COMMENT ON FUNCTION jobstats_internal.queue_unmatched IS
'Internal: queues in jobstats.to_match the numbers of entries that were active on days without a match, and returns how many.';

CREATE FUNCTION jobstats_internal.attributed(job_no bigint, since timestamptz DEFAULT '-infinity', until timestamptz DEFAULT 'infinity')
RETURNS TABLE (entry_id bigint, since timestamptz, until timestamptz)
LANGUAGE c STABLE STRICT SET search_path = pg_catalog, pg_temp SET jit = off AS 'MODULE_PATHNAME', 'jobstats_attributed_spans_wrapper';
COMMENT ON FUNCTION jobstats_internal.attributed IS
'Internal: entries without a job, with the spans (buckets of rollup_10m) whose I/O most likely belongs to this job: the entry is of the job''s user, its node is of class compute, and no other job of the user ran there or had just ended. Sums count this I/O for no job.';

CREATE FUNCTION jobstats_internal.summarize_some() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_summarize_some_wrapper';
COMMENT ON FUNCTION jobstats_internal.summarize_some IS
'Internal: summarizes some jobs of jobstats.to_summarize that are due, and returns how many; NULL: no job is due.';

CREATE FUNCTION jobstats_internal.queue_changed_summaries() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_queue_changed_summaries_wrapper';
COMMENT ON FUNCTION jobstats_internal.queue_changed_summaries IS
'Internal: puts jobs whose usage late text has changed into jobstats.to_summarize, and returns how many.';

CREATE FUNCTION jobstats_internal.energy_of_job(job text, scheduler text) RETURNS numeric
LANGUAGE c STABLE STRICT SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_energy_of_job_wrapper';
COMMENT ON FUNCTION jobstats_internal.energy_of_job IS
'Internal: the joules of the newest job of a number, if it had its metered nodes to itself. Used to summarize ended jobs.';

CREATE FUNCTION jobstats_internal.looks_swapped(jobs text[], uids bigint[], users bigint[]) RETURNS boolean
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_looks_swapped_wrapper';
COMMENT ON FUNCTION jobstats_internal.looks_swapped IS
'Internal: whether user and job look swapped in some identifiers: jobs and uids are those read from each, users the known users among the uids.';

-- Maintenance computes the advice for health, which is read every minute. It reads one hour or day of the rollups, so that
-- the cost does not grow with the store.
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
    -- The span ends where rollups end, and lies within a UTC day, as matches do.
    FROM jobstats.status_quality(
        greatest(known - interval '1 hour', jobstats_internal.bucket(interval '24 hours', known - interval '1 microsecond')), known) q
    WHERE q.urgent
    UNION ALL
    -- For a whole day, since claims may come in bursts. Without claims no rollup is read.
    (SELECT DISTINCT ON (c.cluster) c.cluster, 'claimed', format('Of the bytes read and written on %s, %s %% are under job numbers of other users, mostly by uid %s for jobs of %s, for example %s. If both are one person, accounting and clients number users differently; otherwise uid %3$s exports others'' job numbers.',
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
    ORDER BY c.cluster, c.bytes DESC, c.uid)
    UNION ALL
    SELECT s.cluster, 'swapped', format('Users and jobs look swapped, for example in %s. If clients write them in the other order: UPDATE jobstats.entry_formats SET format = translate(format, ''ju'', ''uj'') WHERE format ~ ''%%j.*%%u|%%u.*%%j'';',
        s.example), now()
    -- Keys of entries are hashes, so the first thousand are any.
    FROM (
        SELECT a.cluster, min(e.name) AS example, (array_agg(e.job ORDER BY e.entry_id))[:1000] AS jobs, (array_agg(e.uid ORDER BY e.entry_id))[:1000] AS uids
        FROM (
            SELECT DISTINCT t.cluster, r.entry_id FROM jobstats.rollup_10m r JOIN jobstats.targets t ON t.target_id = r.target_id
            WHERE r.bucket > known - interval '1 hour' AND r.bucket <= known) a
        JOIN jobstats.entries e ON e.entry_id = a.entry_id AND e.job IS NOT NULL AND e.uid IS NOT NULL
        GROUP BY a.cluster) s
    WHERE jobstats_internal.looks_swapped(s.jobs, s.uids, ARRAY(
        SELECT u.uid FROM jobstats.users u WHERE u.uid = ANY (s.uids) OR u.uid::text = ANY (s.jobs)));
    GET DIAGNOSTICS written = ROW_COUNT;
    RETURN written;
END
$$;
COMMENT ON FUNCTION jobstats_internal.advise IS
'Internal: notes in jobstats.advice which matches of entries with jobs need care, and returns their number.';
