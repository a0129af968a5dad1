-- Functions that answer questions about jobs.

CREATE FUNCTION jobstats_densities(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operation text DEFAULT NULL, "by" text DEFAULT 'user', base integer DEFAULT 10, step interval DEFAULT NULL,
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, bucket integer, lower double precision, upper double precision, count bigint
)
LANGUAGE c STABLE COST 10000 ROWS 100 AS 'MODULE_PATHNAME', 'jobstats_densities_wrapper';
COMMENT ON FUNCTION jobstats_densities IS
'Counts users, jobs or targets by ranges of their rates. Per step, a row for each bucket of rates from lower, base ^ bucket, to upper, with the number of groups. Errors: as jobstats_rates(), and 22023 for a base under 2.';

CREATE FUNCTION jobstats_findings(
    since timestamptz DEFAULT now() - interval '1 day', until timestamptz DEFAULT now(),
    "by" text DEFAULT 'job', levels text DEFAULT 'bad,fair',
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL
) RETURNS TABLE (
    finding text, level text, name text, share double precision, service_time double precision, text text, value double precision,
    threshold double precision, advice text, labels jsonb
)
LANGUAGE c STABLE COST 10000 ROWS 100 AS 'MODULE_PATHNAME', 'jobstats_findings_wrapper';
COMMENT ON FUNCTION jobstats_findings IS
'Shows how jobs or users burden servers, and what to change. Judges each group by the rules in jobstats.finding_rules; a row per finding of these levels (good, fair, bad), the worst first. Errors: as jobstats_totals(), and 22023 for an unknown level.';

CREATE FUNCTION jobstats_verdict(
    since timestamptz DEFAULT now() - interval '1 day', until timestamptz DEFAULT now(),
    "by" text DEFAULT 'job',
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL
) RETURNS TABLE (
    level text, groups bigint, service_time double precision, share double precision
)
LANGUAGE c STABLE COST 10000 ROWS 4 AS 'MODULE_PATHNAME', 'jobstats_verdict_wrapper';
COMMENT ON FUNCTION jobstats_verdict IS
'Sums up how much of the server time was good, fair and bad. Groups are judged as by jobstats_findings(); the level of a group is that of its worst finding, or not judged if it did too little. Errors: as jobstats_totals().';

CREATE FUNCTION jobstats_internal.finding_values(since timestamptz, until timestamptz, entries bigint[])
RETURNS TABLE (finding text, "values" double precision[])
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_finding_values_wrapper';
COMMENT ON FUNCTION jobstats_internal.finding_values IS
'Internal: by each rule, the value of each job of these entries that did enough in (since, until] to be judged. Sizes of reads and writes are those in jobstats.finding_sizes.';

CREATE FUNCTION jobstats_internal.sized(sizes bytea, operation integer, first integer) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_sized_wrapper';
COMMENT ON FUNCTION jobstats_internal.sized IS
'Internal: the number of reads (operation 0) or writes (1) in the first n elements of their histogram in increments.sizes; NULL: no histogram.';

CREATE FUNCTION jobstats_internal.histogram(sizes bytea, operation integer) RETURNS bigint[]
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_histogram_wrapper';
COMMENT ON FUNCTION jobstats_internal.histogram IS
'Internal: the histogram of reads (operation 0) or writes (1) in increments.sizes; NULL: missing or damaged.';

CREATE FUNCTION jobstats_internal.detail(detail bytea) RETURNS jsonb
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_detail_wrapper';
COMMENT ON FUNCTION jobstats_internal.detail IS 'Internal: increments.detail as JSON; NULL: damaged.';

CREATE FUNCTION jobstats_io_sizes(
    since timestamptz DEFAULT now() - interval '1 day', until timestamptz DEFAULT now(),
    "by" text DEFAULT '',
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL
) RETURNS TABLE (
    name text, operation text, lower bigint, upper bigint, calls numeric, share double precision, mean double precision,
    stddev double precision, source text, labels jsonb
)
LANGUAGE c STABLE COST 10000 ROWS 100 AS 'MODULE_PATHNAME', 'jobstats_io_sizes_wrapper';
COMMENT ON FUNCTION jobstats_io_sizes IS
'Shows how large reads and writes were. Calls of more than lower and up to upper bytes (source histogram); Lustre before 2.16 has only their mean and deviation (source sums). Errors: as jobstats_totals().';

CREATE FUNCTION jobstats_internal.work(at timestamptz DEFAULT NULL, level text DEFAULT 'increments', target_id integer[] DEFAULT NULL) RETURNS TABLE (
    target_id integer, entry_id bigint, totals bigint[], usecs bigint[]
)
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_work_wrapper';
COMMENT ON FUNCTION jobstats_internal.work IS
'Internal: used by jobstats-console and exports. The usage of each entry on each target in the last observation up to a time, or in the bucket of a rollup (10m, 1h, 1d) that holds it: totals in the order of jobstats_operations(), usecs in microseconds.';

CREATE FUNCTION jobstats_jobs(
    since timestamptz DEFAULT now() - interval '7 days', until timestamptz DEFAULT now(), operation text DEFAULT NULL, n integer DEFAULT 20,
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL
) RETURNS TABLE (
    job text, job_name text, user_name text, account text, state text, started timestamptz, ended timestamptz, run_time interval,
    nodes bigint, read_bytes numeric, write_bytes numeric, metadata numeric, service_time numeric, energy numeric, labels jsonb
)
LANGUAGE c STABLE COST 10000 ROWS 20 AS 'MODULE_PATHNAME', 'jobstats_jobs_wrapper';
COMMENT ON FUNCTION jobstats_jobs IS
'Lists the jobs that ran in a window, with their totals. The newest first, or those with most of an operation: read_bytes, write_bytes, metadata, service_time or energy. Running jobs have their totals so far. Errors: 22023 unknown operation or key, or a negative n, 55000 without a store.';

CREATE FUNCTION jobstats_job(job text, scheduler text DEFAULT NULL) RETURNS TABLE (
    job text, job_name text, user_name text, account text, state text, started timestamptz, ended timestamptz, run_time interval,
    nodes bigint, read_bytes numeric, write_bytes numeric, metadata numeric, service_time numeric, energy numeric, labels jsonb,
    scheduler text, label text, runs bigint, "partition" text, submitted timestamptz, exit_code text, cpus bigint,
    in_service double precision, busiest_target text, claimed numeric, coverage double precision
)
LANGUAGE c STABLE COST 10000 ROWS 1 AS 'MODULE_PATHNAME', 'jobstats_job_wrapper';
COMMENT ON FUNCTION jobstats_job(text, text) IS
'Shows one job in one row, with its accounting and totals. A row per scheduler; an array is one row. If a number was used again, the row is of the newest job, with a NOTICE; an unknown job has no row. claimed: others'' service time under its number. Errors: 22023 for a NULL job, 55000 without a store.';

CREATE FUNCTION jobstats_job(job bigint, scheduler text DEFAULT NULL) RETURNS TABLE (
    job text, job_name text, user_name text, account text, state text, started timestamptz, ended timestamptz, run_time interval,
    nodes bigint, read_bytes numeric, write_bytes numeric, metadata numeric, service_time numeric, energy numeric, labels jsonb,
    scheduler text, label text, runs bigint, "partition" text, submitted timestamptz, exit_code text, cpus bigint,
    in_service double precision, busiest_target text, claimed numeric, coverage double precision
)
LANGUAGE c STABLE COST 10000 ROWS 1 AS 'MODULE_PATHNAME', 'jobstats_job_of_number_wrapper';
COMMENT ON FUNCTION jobstats_job(bigint, text) IS 'Shows the job with this number. jobstats_job(4711) is jobstats_job(''4711'').';

CREATE FUNCTION jobstats_job_usage(
    job text, "by" text DEFAULT 'target', step interval DEFAULT NULL, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL,
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL, scheduler text DEFAULT NULL
) RETURNS TABLE (
    name text, operation text, formatted text, calls numeric, per_call double precision, nodes bigint, "time" timestamptz,
    first timestamptz, last_active timestamptz, total numeric, rate double precision, min_rate double precision,
    median_rate double precision, max_rate double precision, min numeric, max numeric, stddev double precision,
    coverage double precision, labels jsonb
)
LANGUAGE c STABLE COST 10000 ROWS 100 AS 'MODULE_PATHNAME', 'jobstats_job_usage_wrapper';
COMMENT ON FUNCTION jobstats_job_usage(text, text, interval, timestamptz, timestamptz, jobstats_filter, jobstats_filter, text) IS
'Shows the I/O of one job, as a whole and by target, node or step. The whole job has the name all. attributed_…: I/O without a job that likely belongs to it; claimed_…: I/O of others under its number; neither is in a sum. energy is in joules. Errors: 22023 NULL job or unknown names, 54000, 55000.';

CREATE FUNCTION jobstats_job_usage(
    job bigint, "by" text DEFAULT 'target', step interval DEFAULT NULL, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL,
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL, scheduler text DEFAULT NULL
) RETURNS TABLE (
    name text, operation text, formatted text, calls numeric, per_call double precision, nodes bigint, "time" timestamptz,
    first timestamptz, last_active timestamptz, total numeric, rate double precision, min_rate double precision,
    median_rate double precision, max_rate double precision, min numeric, max numeric, stddev double precision,
    coverage double precision, labels jsonb
)
LANGUAGE c STABLE COST 10000 ROWS 100 AS 'MODULE_PATHNAME', 'jobstats_job_usage_of_number_wrapper';
COMMENT ON FUNCTION jobstats_job_usage(bigint, text, interval, timestamptz, timestamptz, jobstats_filter, jobstats_filter, text) IS
'Shows the I/O of the job with this number. jobstats_job_usage(4711) is jobstats_job_usage(''4711'').';

CREATE FUNCTION jobstats_compare(
    jobs text[], step interval DEFAULT '10 minutes', operations text DEFAULT NULL,
    filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL, weights jsonb DEFAULT NULL, scheduler text DEFAULT NULL
) RETURNS TABLE (
    job text, since_start interval, operation text, formatted text, rate double precision, total numeric, coverage double precision,
    "time" timestamptz, labels jsonb
)
LANGUAGE c STABLE COST 10000 ROWS 100 AS 'MODULE_PATHNAME', 'jobstats_compare_wrapper';
COMMENT ON FUNCTION jobstats_compare IS
'Compares jobs over time, each counted from its own start. A row per job, step and operation: by default bytes read and written, metadata and service_time. step NULL: one step per job. Errors: 22023 NULL or over a hundred jobs, unknown operations, 54000 for over a million rows, 55000 without a store.';
