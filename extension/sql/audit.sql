-- Comparison of the store with its raw text.

CREATE FUNCTION jobstats_audit(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now()
) RETURNS TABLE (
    cluster text, target text, "time" timestamptz, entry text, what text, stored text, computed text
)
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_audit_wrapper';
COMMENT ON FUNCTION jobstats_audit IS
'Checks the store against its raw text and returns the differences. Recomputes the observations in (since, until], and changes no data; without a difference, no row. A NOTICE counts observations without raw text. Errors: 22023 empty window, 54000 over 100,000 differences, 55000 no store.';

CREATE FUNCTION jobstats_reprocess(
    since timestamptz, until timestamptz, filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL, source text DEFAULT 'lctl'
) RETURNS TABLE (
    source text, cluster text, name text, computed bigint, skipped bigint, changed bigint, first timestamptz, last timestamptz,
    deleted bigint, inserted bigint, problem text
)
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_reprocess_wrapper';
COMMENT ON FUNCTION jobstats_reprocess IS
'Reads stored texts again, and replaces rows that differ. Texts in (since, until], by the rules of this version. source lctl: a row per target; another, such as slurm: a row per text, named by server; NULL: both. Errors: 22023, 0A000 unknown source, 25001, 25006, 42501, 55000 no store.';
