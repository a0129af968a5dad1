-- Dimensions, and the names of users and groups.

CREATE FUNCTION jobstats_internal.dimensions() RETURNS TABLE (name text, type text, meaning text)
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_dimensions_wrapper';
COMMENT ON FUNCTION jobstats_internal.dimensions IS
'Internal: the dimensions, which are words of by, keys of filters and of labels, each with a sentence.';

-- The names of users and groups on a day. PostgreSQL inlines these functions into the calling statement, as it does with views.

CREATE FUNCTION jobstats_internal.user_names(since timestamptz, until timestamptz) RETURNS TABLE (
    uid bigint, user_name text, gid bigint, named_until timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT u.uid, u.user_name, u.gid, NULL::timestamptz
FROM jobstats.users u
WHERE NOT EXISTS (SELECT FROM jobstats.earlier_users e WHERE e.uid = u.uid AND e.until >= user_names.until)
UNION ALL
SELECT e.uid, e.user_name, e.gid, CASE WHEN e.until < user_names.until THEN e.until END
FROM jobstats.earlier_users e
WHERE e.until > user_names.since AND NOT EXISTS (
    SELECT FROM jobstats.earlier_users l WHERE l.uid = e.uid AND l.until >= user_names.until AND l.until < e.until)
$$;
COMMENT ON FUNCTION jobstats_internal.user_names IS
'Internal: the names that users had in the window (since, until], with their primary groups. named_until: the end of the days of the name; NULL: the name at the window''s end.';

CREATE FUNCTION jobstats_internal.group_names(at timestamptz) RETURNS TABLE (gid bigint, group_name text)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT g.gid, g.group_name
FROM jobstats.groups g
WHERE NOT EXISTS (SELECT FROM jobstats.earlier_groups e WHERE e.gid = g.gid AND e.until >= at)
UNION ALL
SELECT e.gid, e.group_name
FROM jobstats.earlier_groups e
WHERE e.until >= at AND NOT EXISTS (
    SELECT FROM jobstats.earlier_groups l WHERE l.gid = e.gid AND l.until >= at AND l.until < e.until)
$$;
COMMENT ON FUNCTION jobstats_internal.group_names IS 'Internal: the names that groups had at a time.';
