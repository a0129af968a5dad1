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
