-- The feed.

CREATE FUNCTION jobstats_internal.energy_growth(
    name text, maximum double precision, before double precision, after double precision, seconds double precision) RETURNS double precision
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_energy_growth_wrapper';
COMMENT ON FUNCTION jobstats_internal.energy_growth IS
'Internal: the joules that a counter with this name grew by between two readings, also if it wrapped at its maximum; NULL: unknown.';

CREATE FUNCTION jobstats_ingest(
    cluster text, server text, read_at timestamptz, body text DEFAULT NULL, body_zstd bytea DEFAULT NULL,
    duration interval DEFAULT NULL, shipper text DEFAULT NULL, source text DEFAULT 'lctl', covers tstzrange DEFAULT NULL
) RETURNS TABLE (
    target text, action text, entries integer, active integer, added integer, resets integer, removed integer,
    carried integer, unknown integer, problems integer, increments integer
)
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_ingest_wrapper';
COMMENT ON FUNCTION jobstats_ingest IS
'Feeds a text and returns the result for each target. The same as INSERT INTO jobstats.feed. action: baseline, stored, placed, repeated, interval, rejected, or users, groups, jobs, samples. Errors: 22001, 22023, 22P03, 25001, 40001, 40P01, 0A000 unknown source, 42501, 53200, 54000, 55000 no store.';

CREATE FUNCTION jobstats_internal.ingest(
    cluster text, server text, read_at timestamptz, body text, body_zstd bytea, duration interval, shipper text,
    source text, covers tstzrange
) RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_ingest_own_wrapper';
COMMENT ON FUNCTION jobstats_internal.ingest IS
'Internal: feeds a text with the rights of the store''s owner, for a caller who may feed it. Errors: as jobstats_ingest(), and 42501.';

CREATE FUNCTION jobstats_reidentify() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_reidentify_wrapper';
COMMENT ON FUNCTION jobstats_reidentify IS
'Identifies all stored entries again, and returns how many changed. jobstats_maintain() does the same in portions after a change of jobstats.entry_formats. If most entries match no format, a NOTICE names the likely one. Errors: 22023 invalid format, 25006 on a standby, 42501, 55000 no store.';

CREATE FUNCTION jobstats_internal.reidentify_some() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_reidentify_some_wrapper';
COMMENT ON FUNCTION jobstats_internal.reidentify_some IS
'Internal: takes the next step of identifying entries again, and returns how many changed; NULL: complete.';

CREATE FUNCTION jobstats_internal.is_reidentifying() RETURNS boolean
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_is_reidentifying_wrapper';
COMMENT ON FUNCTION jobstats_internal.is_reidentifying IS
'Internal: whether maintenance has begun to identify entries again and has not come to the end.';

CREATE FUNCTION jobstats_internal.staged_increments() RETURNS SETOF record
LANGUAGE c VOLATILE AS 'MODULE_PATHNAME', 'jobstats_staged_increments_wrapper';
COMMENT ON FUNCTION jobstats_internal.staged_increments IS
'Internal: the increments that the running feed of this session is about to store, or its audit compares.';

-- Reads a text again in a subtransaction, so that the others are read even if it fails.
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
COMMENT ON FUNCTION jobstats_internal.reread_guarded IS 'Internal: calls reread(); an error becomes the problem.';

CREATE FUNCTION jobstats_internal.reread(cluster text, source text, server text, "time" timestamptz)
RETURNS TABLE (records integer, problems integer, changed integer, problem text)
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_reread_text_wrapper';
COMMENT ON FUNCTION jobstats_internal.reread IS 'Internal: reads a text of jobstats.texts again; problem: why some or all of it could not be used.';

CREATE FUNCTION jobstats_alter_target(
    name text, cluster text DEFAULT '', rename_to text DEFAULT NULL, retired boolean DEFAULT NULL
) RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_alter_target_wrapper';
COMMENT ON FUNCTION jobstats_alter_target IS
'Renames a target, or retires one that is gone for good. Rename it before the first text with the new name arrives. A retired target is not expected any more; its next text, or retired => false, makes it active again. Errors: 22001, 22004, 22023 no such target, 23505 name in use, 25006, 42501, 55000.';
