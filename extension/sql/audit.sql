-- What is stored, compared with the raw text.

CREATE FUNCTION jobstats_audit(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now()
) RETURNS TABLE (
    cluster text, target text, "time" timestamptz, entry text, what text, stored text, computed text
)
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_audit_wrapper';
COMMENT ON FUNCTION jobstats_audit(timestamptz, timestamptz) IS
'Checks the store against its raw text and returns what disagrees. Computes the observations in (since, until] again; if all is correct, there is no row. time is that of the observation; what is raw text, bytes, digest, server, since, a count of jobstats.observations, carried records, entry, increment, whole target, or what belongs to no observation. Observations whose raw text, or the previous one, is gone are left out; a NOTICE says how many. Writes nothing. Errors: 22023 for an empty window, 54000 for over 100,000 disagreements, 55000 where there is no store.';

CREATE FUNCTION jobstats_reprocess(since timestamptz, until timestamptz, target text[] DEFAULT NULL) RETURNS TABLE (
    cluster text, target text, computed bigint, skipped bigint, changed bigint, first timestamptz, last timestamptz,
    deleted bigint, inserted bigint
)
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_reprocess_wrapper';
COMMENT ON FUNCTION jobstats_reprocess(timestamptz, timestamptz, text[]) IS
'Computes the stored increments again from the raw text. Takes the observations, and the readings of the own counters of targets, in (since, until] of all targets whose names match one of the patterns (NULL: of all), by the rules of this version, and replaces what differs in the store; then those that follow, until nothing changes any more. One row per target: observations and readings computed, those skipped because raw text is gone (they stay as they are), those that changed, the first and the last of them, and the increments deleted and inserted for these. A second run changes nothing. Feeds of a target wait from the moment it is reached until the transaction ends. NULL for since is ten minutes ago, for until now. Errors: 22023 for an empty window, 25001 isolation level above READ COMMITTED, 25006 on a standby, 42501 for roles other than the owner of the store, 55000 where there is no store.';

CREATE FUNCTION jobstats_reread(
    since timestamptz, until timestamptz, source text DEFAULT NULL, cluster text DEFAULT NULL
) RETURNS TABLE (
    cluster text, server text, source text, "time" timestamptz, records integer, problems integer, changed integer, problem text
)
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_reread_wrapper';
COMMENT ON FUNCTION jobstats_reread(timestamptz, timestamptz, text, text) IS
'Reads kept texts of jobs and names again. Takes the texts of jobstats.texts in (since, until], of a source and a cluster or of all (NULL), in order of time, by the rules of this version: for a version that understands more of a text. One row per text: records and problems of the text, rows that are new or have changed, and the error, or the reason of the first problem. A text that fails does not keep the others from being read. A second run changes nothing. Feeds of jobs and names wait until the transaction ends. NULL for since is ten minutes ago, for until now. Errors: 22023 for an empty window, 0A000 for an unknown source, 25001 isolation level above READ COMMITTED, 25006 on a standby, 42501 for roles other than the owner of the store, 55000 where there is no store.';
