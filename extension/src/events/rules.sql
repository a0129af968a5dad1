CREATE FUNCTION jobstats_internal.largest_subjects(rule text, operation text, "by" text, since timestamptz, until timestamptz, step interval) RETURNS TABLE (
    began timestamptz, ended timestamptz, cluster text, filesystem text, uid bigint, user_name text, account text, job text, rate double precision, share double precision
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT DISTINCT ON (r."time", r.cluster, r.filesystem) r."time", r."time" + r.seconds * interval '1 second', r.cluster, r.filesystem,
        r.uid, r.user_name, r.account, r.job, r.of_subject, r.of_subject / nullif(r.of_all, 0)
    FROM (
        SELECT r.*, sum(r.rate) OVER (PARTITION BY r."time", r.cluster, r.filesystem) AS of_all,
            -- root works for jobs too: the user is the one who did most of it.
            CASE largest_subjects."by" WHEN 'job' THEN sum(r.rate) OVER (PARTITION BY r."time", r.cluster, r.filesystem, r.job) ELSE r.rate END AS of_subject
        FROM @extschema@.jobstats_rates(largest_subjects.since, largest_subjects.until, ARRAY[largest_subjects.operation],
            '{cluster,filesystem}' || CASE largest_subjects."by" WHEN 'user' THEN '{uid,user_name}'::text[]
                WHEN 'job' THEN '{uid,user_name,job}' ELSE ARRAY[largest_subjects."by"] END, largest_subjects.step) r
    ) r
    WHERE r.filesystem IS NOT NULL AND r.rate IS NOT NULL AND CASE largest_subjects."by" WHEN 'job' THEN r.job IS NOT NULL ELSE num_nonnulls(r.uid, r.account) > 0 END
    ORDER BY r."time", r.cluster, r.filesystem, r.of_subject DESC, r.job, r.rate DESC, r.uid, r.account;
EXCEPTION WHEN invalid_parameter_value OR program_limit_exceeded THEN
    RAISE WARNING 'the rule "%" is not judged: %', rule, SQLERRM;
END
$$;
COMMENT ON FUNCTION jobstats_internal.largest_subjects(text, text, text, timestamptz, timestamptz, interval) IS
'Internal: the user, account or job that did most of an operation per second on each file system in each step of a span, and its part of all that was done. If the question fails, a warning names the rule that asked it.';
