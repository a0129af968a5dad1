-- Which jobs the identifiers of entries belong to.

CREATE FUNCTION jobstats_internal.match_some() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_match_some_wrapper';
COMMENT ON FUNCTION jobstats_internal.match_some() IS
'Internal: matches the entries of some numbers of jobstats.to_match with jobs, and returns how many numbers these were; NULL: none is left.';

CREATE FUNCTION jobstats_internal.queue_unmatched() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_queue_unmatched_wrapper';
COMMENT ON FUNCTION jobstats_internal.queue_unmatched() IS
'Internal: puts into jobstats.to_match the numbers of entries that work on days of which nothing is known, and returns how many there are.';

CREATE FUNCTION jobstats_internal.attributed(job_no bigint, since timestamptz DEFAULT '-infinity', until timestamptz DEFAULT 'infinity')
RETURNS TABLE (entry_id bigint, since timestamptz, until timestamptz)
LANGUAGE c STABLE STRICT SET search_path = pg_catalog, pg_temp SET jit = off AS 'MODULE_PATHNAME', 'jobstats_attributed_spans_wrapper';
COMMENT ON FUNCTION jobstats_internal.attributed(bigint, timestamptz, timestamptz) IS
'Internal: the entries without a job whose work a job is likely to have done, with the spans, buckets of rollup_10m, in which they did it: the entry is of the job''s user, its node is of class compute, and no other job of the user ran there or had just ended. Sums count this work for no job.';

CREATE FUNCTION jobstats_internal.summarize_some() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_summarize_some_wrapper';
COMMENT ON FUNCTION jobstats_internal.summarize_some() IS
'Internal: makes the summaries of some jobs of jobstats.to_summarize that are due, and returns how many these were; NULL: none is left.';

CREATE FUNCTION jobstats_internal.queue_changed_summaries() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_queue_changed_summaries_wrapper';
COMMENT ON FUNCTION jobstats_internal.queue_changed_summaries() IS
'Internal: puts the jobs into jobstats.to_summarize whose usage late text has changed, and returns how many there are.';

CREATE FUNCTION jobstats_internal.energy_of_job(job text, scheduler text) RETURNS numeric
LANGUAGE c STABLE STRICT SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_energy_of_job_wrapper';
COMMENT ON FUNCTION jobstats_internal.energy_of_job(text, text) IS
'Internal: the joules of the newest job of a number, if it had its metered nodes for itself; asked where jobs that are done are summed up.';
