-- The extension and an empty store, where the database is not already the copy of one.
SELECT to_regnamespace('jobstats') IS NULL AS is_empty \gset
\if :is_empty
CREATE EXTENSION jobstats;
DO $$ BEGIN PERFORM jobstats_setup(); END $$;
\endif
-- The labels of an answer as columns. A star of a name is \* there.
CREATE FUNCTION public.dims(labels jsonb) RETURNS TABLE (
    cluster text, filesystem text, kind text, target text, server text, workload text, job text, node text, executable text, status text,
    uid bigint, entry text, user_name text, group_name text, account text, partition text, job_name text, state text, gid bigint, job_group text
) LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT l.cluster, l.filesystem, l.kind, l.target, l.server, l.workload, l.job, l.node, l.executable, l.status, l.uid, l.entry, l."user", l."group",
    l.account, l.partition, l.job_name, l.state, l.gid, l.job_group
FROM jsonb_to_record(replace(labels::text, '\\*', '*')::jsonb) AS l (
    cluster text, filesystem text, kind text, target text, server text, workload text, job text, node text, executable text, status text,
    uid bigint, entry text, "user" text, "group" text, account text, partition text, job_name text, state text, gid bigint, job_group text)
$$;
CREATE FUNCTION public.dims_of_leader(labels jsonb) RETURNS TABLE (cluster text, user_name text, uid bigint, workload text, account text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT l.cluster, l."user", l.uid, l.workload, l.account
FROM jsonb_to_record(labels) AS l (cluster text, "user" text, uid bigint, workload text, account text)
$$;
