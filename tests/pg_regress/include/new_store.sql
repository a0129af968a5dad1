-- The extension and an empty store, where the database is not already the copy of one.
SELECT to_regnamespace('jobstats') IS NULL AS is_empty \gset
\if :is_empty
CREATE EXTENSION jobstats;
DO $$ BEGIN PERFORM jobstats_setup(); END $$;
\endif
-- Identifiers of the tests have the job first.
UPDATE jobstats.entry_formats SET format = '%j:%u:%H' WHERE format = '%u:%j:%H';
UPDATE jobstats.identification SET formats = replace(formats::text, '%u:%j:%H', '%j:%u:%H')::jsonb;
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
-- Stored spans of observation that differ from the observations. Older spans are not compared.
CREATE FUNCTION public.wrong_spans() RETURNS TABLE (wrong text, target text, since timestamptz, until timestamptz, is_open boolean)
LANGUAGE sql STABLE AS $$
WITH told AS (
    SELECT i.target_id, min(i.begins) AS since, max(i."time") AS until
    FROM (
        SELECT o.target_id, o."time", o.begins, count(*) FILTER (WHERE o.begins IS DISTINCT FROM o.before) OVER (PARTITION BY o.target_id ORDER BY o."time") AS span
        FROM (
            SELECT o.target_id, o."time", coalesce(o.since, o."time") AS begins, lag(o."time") OVER (PARTITION BY o.target_id ORDER BY o."time") AS before
            FROM jobstats.observations o WHERE o."time" > (SELECT r.dropped FROM jobstats.refresh r)) o) i
    GROUP BY i.target_id, i.span
), span AS (
    SELECT false AS stored, target_id, since, until, until = max(until) OVER (PARTITION BY target_id) AS is_open FROM told
    UNION ALL
    SELECT true, target_id, s.since, coalesce(s.until, t.last_observation), s.until IS NULL FROM jobstats.spans s JOIN jobstats.targets t USING (target_id)
), shown AS (
    SELECT s.stored, t.name AS target, greatest(s.since, r.dropped) AS since, s.until, s.is_open
    FROM span s JOIN jobstats.targets t USING (target_id) JOIN jobstats.refresh r ON s.until > r.dropped
)
(SELECT 'stored', target, since, until, is_open FROM shown WHERE stored EXCEPT ALL SELECT 'stored', target, since, until, is_open FROM shown WHERE NOT stored)
UNION ALL
(SELECT 'not stored', target, since, until, is_open FROM shown WHERE NOT stored EXCEPT ALL SELECT 'not stored', target, since, until, is_open FROM shown WHERE stored)
$$;
