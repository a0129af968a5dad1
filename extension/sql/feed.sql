-- What the feed does with a text.

CREATE FUNCTION jobstats_internal.energy_growth(
    name text, maximum double precision, before double precision, after double precision, seconds double precision) RETURNS double precision
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_energy_growth_wrapper';
COMMENT ON FUNCTION jobstats_internal.energy_growth(text, double precision, double precision, double precision, double precision) IS
'Internal: the joules that a counter with this name grew by between two readings, also if it began again at zero after its maximum; NULL if nobody can tell.';

CREATE FUNCTION jobstats_ingest(
    cluster text, server text, read_at timestamptz, body text DEFAULT NULL, body_zstd bytea DEFAULT NULL,
    duration interval DEFAULT NULL, shipper text DEFAULT NULL, source text DEFAULT 'lctl', covers tstzrange DEFAULT NULL
) RETURNS TABLE (
    target text, action text, entries integer, active integer, added integer, resets integer, removed integer,
    carried integer, unknown integer, problems integer, increments integer
)
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_ingest_wrapper';
COMMENT ON FUNCTION jobstats_ingest(text, text, timestamptz, text, bytea, interval, text, text, tstzrange) IS
'Feeds a text as INSERT INTO jobstats.feed does, and tells the outcome. One row per target of the text: action is baseline (first observation), stored, placed (late text), repeated (known already), interval (only job_cleanup_interval) or rejected (see jobstats.rejects); a WARNING counts those that are placed or rejected. source NULL is lctl; the text of another source gives one row without a target, whose action is users, groups, jobs or samples. covers is the span of time in which a text of jobs is complete. read_at NULL is now. Errors: 55000 no store, 22001 cluster or server of over 255 bytes, 25001 isolation level above READ COMMITTED, 54000 text too large, 22P03 body_zstd is not zstd, 22023 neither or both bodies, no server, or covers without a start or an end, 0A000 an unknown source, 53200 out of memory, 40001 feed again.';

CREATE FUNCTION jobstats_internal.ingest(
    cluster text, server text, read_at timestamptz, body text, body_zstd bytea, duration interval, shipper text,
    source text, covers tstzrange
) RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_ingest_own_wrapper';
COMMENT ON FUNCTION jobstats_internal.ingest(text, text, timestamptz, text, bytea, interval, text, text, tstzrange) IS
'Internal: what jobstats_ingest does, for anybody who may feed such a text, with the rights of the store''s owner. Errors: also 42501 where the caller may not feed it.';

CREATE FUNCTION jobstats_reidentify() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_reidentify_wrapper';
COMMENT ON FUNCTION jobstats_reidentify() IS
'Identifies all stored entries again, and returns how many changed. After a change of jobstats.entry_formats, jobstats_maintain() does the same in portions; this function does it at once. If most entries match no format, a NOTICE names the likely format. Errors: 22023 for an invalid format, 25006 on a standby, 42501 for roles other than the owner of the store, 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.reidentify_some() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_reidentify_some_wrapper';
COMMENT ON FUNCTION jobstats_internal.reidentify_some() IS
'Internal: takes the next step of identifying entries again, and returns how many changed; NULL: nothing is left to do.';

CREATE FUNCTION jobstats_internal.is_reidentifying() RETURNS boolean
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_is_reidentifying_wrapper';
COMMENT ON FUNCTION jobstats_internal.is_reidentifying() IS
'Internal: whether maintenance has begun to identify entries again and has not come to the end.';

CREATE FUNCTION jobstats_internal.staged_increments() RETURNS SETOF record
LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'jobstats_staged_increments_wrapper';
COMMENT ON FUNCTION jobstats_internal.staged_increments() IS
'Internal: the increments that the running feed of this session is about to store, or its audit compares.';

-- Reads a text again in a transaction of its own, so that one that fails does not keep the others from being read.
CREATE FUNCTION jobstats_internal.reread_guarded(
    cluster text, source text, server text, "time" timestamptz,
    OUT records integer, OUT problems integer, OUT changed integer, OUT problem text)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    SELECT r.* INTO records, problems, changed, problem FROM jobstats_internal.reread(cluster, source, server, "time") r;
EXCEPTION WHEN OTHERS THEN
    problem := SQLERRM;
END
$$;
COMMENT ON FUNCTION jobstats_internal.reread_guarded(text, text, text, timestamptz) IS
'Internal: what jobstats_internal.reread() does; an error becomes the problem.';

CREATE FUNCTION jobstats_internal.reread(cluster text, source text, server text, "time" timestamptz)
RETURNS TABLE (records integer, problems integer, changed integer, problem text)
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_reread_text_wrapper';
COMMENT ON FUNCTION jobstats_internal.reread(text, text, text, timestamptz) IS
'Internal: reads a text of jobstats.texts again; problem is why nothing of it, or not all of it, could be used.';

CREATE FUNCTION jobstats_rename_target(old text, new text, cluster text DEFAULT '') RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_rename_target_wrapper';
COMMENT ON FUNCTION jobstats_rename_target(text, text, text) IS
'Gives a target another name, with all that is stored of it. Its file system, kind and index follow from the new name. Call it before the first text with the new name comes. Text with the old name goes to the renamed target for settings.raw_retention; later such text makes a new target. cluster NULL is the empty name. Errors: 22004 for no name, 22023 for a target that does not exist and for an empty name, 22001 for a name of over 255 bytes, 23505 where a target has the new name, 25006 on a standby, 42501 for roles other than the owner of the store, 55000 where there is no store.';

CREATE FUNCTION jobstats_retire_target(name text, cluster text DEFAULT '') RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_retire_target_wrapper';
COMMENT ON FUNCTION jobstats_retire_target(text, text) IS
'Retires a target that is gone for good, so that it is no longer silent. What is stored of it stays. jobstats.health says retired, jobstats_metrics() leaves it out, and from its last observation on it neither holds up windows nor lowers their coverage. Its next text takes it back. cluster NULL is the empty name. Errors: 22004 for no name, 22023 for a target that does not exist, 25006 on a standby, 42501 for roles other than the owner of the store, 55000 where there is no store.';
