-- PostgreSQL puts a call of this function into the statement that calls it, so that conditions on entries choose what is read, and
-- what nobody asks for is not computed. A clause SET would prevent that.
CREATE FUNCTION jobstats_entries(at timestamptz DEFAULT NULL) RETURNS TABLE (
    entry_id bigint, entry text, status text, workload text, job text, uid bigint, user_name text, gid bigint, group_name text,
    account text, partition text, job_name text, state text, job_group text, node text, executable text, pid bigint
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT entry.entry_id, entry.name, entry.status, entry.workload, entry.job,
    coalesce(entry.uid, job.uid),
    coalesce(person.user_name, CASE WHEN entry.uid IS NULL THEN job.user_name END),
    coalesce(person.gid, CASE WHEN entry.uid IS NULL THEN job.gid END),
    -- The name that the job has for its group says nothing of another group of the user.
    coalesce(team.group_name, CASE WHEN entry.uid IS NULL AND coalesce(person.gid, job.gid) IS NOT DISTINCT FROM job.gid
        THEN job.group_name END),
    job.account, job.partition, job.job_name, job.state, coalesce(job.job_group, entry.job), entry.node, entry.executable, entry.pid
FROM jobstats.entries entry
LEFT JOIN jobstats.entry_jobs entry_job ON entry_job.entry_id = entry.entry_id
    AND entry_job.valid_from < coalesce(at, now()) AND entry_job.valid_to >= coalesce(at, now())
LEFT JOIN jobstats.job_ids job ON job.job_no = entry_job.job_no
LEFT JOIN jobstats_internal.user_names(coalesce(at, now()) - interval '1 microsecond', coalesce(at, now())) person
    ON person.uid = coalesce(entry.uid, job.uid)
LEFT JOIN jobstats_internal.group_names(coalesce(at, now())) team
    ON team.gid = coalesce(person.gid, CASE WHEN entry.uid IS NULL THEN job.gid END)
$$;
COMMENT ON FUNCTION jobstats_entries(timestamptz) IS
'Shows whose work each entry counts at a time, as far as it is known. One row per entry: what its identifier says, the job that it belongs to on that day of UTC, and the names that the user and the group had at the start of that day; NULL where nobody knows. at NULL is now. All other reading functions name users and jobs by the same rules. Ask for some entries only, by a join or a condition on entry_id: a store has millions of them. Errors: 42P01 where there is no store.';
