-- Which jobs the identifiers of entries belong to.

CREATE FUNCTION jobstats_attributed(job text, since timestamptz DEFAULT '-infinity', until timestamptz DEFAULT 'infinity')
RETURNS TABLE (
    scheduler text, label text, cluster text, target text, kind text, entry text, node text, first timestamptz, last timestamptz,
    operation text, total numeric
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    PERFORM jobstats_internal.require_store();
    IF jobstats_attributed.job IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'job must not be NULL', HINT = 'Name a job, as in ''4711'' or ''4711_3''.';
    END IF;
    RETURN QUERY
    WITH named AS (
        SELECT i.job_no FROM jobstats.job_ids i WHERE i.job = jobstats_attributed.job
        UNION
        SELECT i.job_no
        FROM jobstats.jobs j
        JOIN jobstats.job_ids i ON i.scheduler = j.scheduler AND i.job = j.job AND j.started >= i.started AND j.started <= i.last_started
        WHERE j.label = jobstats_attributed.job
    )
    SELECT i.scheduler, i.label, t.cluster, t.name, t.kind, e.name, e.node, a.since, a.until, r.operation, r.total
    FROM named n
    JOIN jobstats.job_ids i ON i.job_no = n.job_no
    CROSS JOIN LATERAL jobstats_internal.attributed(n.job_no, jobstats_attributed.since, jobstats_attributed.until) a
    CROSS JOIN LATERAL (
        SELECT r.target_id, o.key AS operation, sum(o.value::numeric) AS total
        FROM jobstats.rollup_10m r
        CROSS JOIN LATERAL jsonb_each_text(to_jsonb(r) - '{bucket,entry_id,target_id,first,last,resets}'::text[]) o
        WHERE r.entry_id = a.entry_id AND r.bucket > a.since AND r.bucket <= a.until AND o.key NOT LIKE '%\_usecs' AND o.value <> '0'
        GROUP BY r.target_id, o.key
    ) r
    JOIN jobstats.targets t ON t.target_id = r.target_id
    JOIN jobstats.entries e ON e.entry_id = a.entry_id
    ORDER BY 1, 2, 3, 4, 6, 8, 10;
END
$$;
COMMENT ON FUNCTION jobstats_attributed(text, timestamptz, timestamptz) IS
'Shows work without a job that a job is likely to have done. The rows are of identifiers that name the user of the job and one of its nodes, but no job, in the ten-minute buckets throughout which the job ran there, and no other job of the user did or had just ended. The node must not be of another class than compute. The work counts for no job in all sums: this function shows it in addition. job is a number, or what users type, such as 123_4. Errors: 22004 where job is NULL, 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.match_some() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_match_some_wrapper';
COMMENT ON FUNCTION jobstats_internal.match_some() IS
'Internal: matches the entries of some numbers of jobstats.to_match with jobs, and returns how many numbers these were; 0: none is left.';

CREATE FUNCTION jobstats_internal.queue_unmatched() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_queue_unmatched_wrapper';
COMMENT ON FUNCTION jobstats_internal.queue_unmatched() IS
'Internal: puts into jobstats.to_match the numbers of entries that work on days of which nothing is known, and returns how many there are.';

CREATE FUNCTION jobstats_internal.attributed(job_no bigint, since timestamptz DEFAULT '-infinity', until timestamptz DEFAULT 'infinity')
RETURNS TABLE (entry_id bigint, since timestamptz, until timestamptz)
LANGUAGE c STABLE STRICT SET search_path = pg_catalog, pg_temp SET jit = off AS 'MODULE_PATHNAME', 'jobstats_attributed_spans_wrapper';
COMMENT ON FUNCTION jobstats_internal.attributed(bigint, timestamptz, timestamptz) IS
'Internal: the entries without a job whose work a job is likely to have done, with the spans, buckets of rollup_10m, in which they did it: the entry is of the job''s user, its node is of class compute, and no other job of the user ran there or had just ended. Sums count this work for no job.';

CREATE FUNCTION jobstats_internal.summarize_some() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_summarize_some_wrapper';
COMMENT ON FUNCTION jobstats_internal.summarize_some() IS
'Internal: makes the summaries of some jobs of jobstats.to_summarize that are due, and returns how many these were; 0: none is left.';

CREATE FUNCTION jobstats_internal.queue_changed_summaries() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_queue_changed_summaries_wrapper';
COMMENT ON FUNCTION jobstats_internal.queue_changed_summaries() IS
'Internal: puts the jobs into jobstats.to_summarize whose usage late text has changed, and returns how many there are.';
