-- Functions that answer questions about jobs.

CREATE FUNCTION jobstats_densities(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operation text DEFAULT NULL, "by" text[] DEFAULT '{uid}', base integer DEFAULT 10,
    step interval DEFAULT NULL,
    @filters@,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision, operation text, bucket integer, lower double precision, upper double precision, count bigint
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_densities_wrapper';
COMMENT ON FUNCTION jobstats_densities IS
'Counts how many users, jobs or targets have which rate. Per step, of which time is the start and seconds the width, count is the number of groups (of what by names) whose rate is in the bucket; bucket y holds the rates from lower, base ^ y, up to but not including upper, base ^ (y + 1). Only rates above 0 count; a bucket without any has no row; groups without an identifier count as one. Without operation that is the rate of service_time or, where no target in scope reports times (Lustre before 2.14), of metadata of MDTs and then of bytes of OSTs. To see who they are, use jobstats_top() over the step with min_rate => lower. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown operation or dimension, an empty window, a step that is empty or mixes months with days, or a base that is not from 2 to 100, 54000 for over a million rows or 100,000 steps, or a million steps of all targets together, 55000 where there is no store.';

CREATE FUNCTION jobstats_findings(
    since timestamptz DEFAULT now() - interval '1 day', until timestamptz DEFAULT now(), "by" text[] DEFAULT '{job}',
    levels text[] DEFAULT '{bad,fair}',
    @filters@,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    @dimensions@,
    finding text, level text, value double precision, threshold double precision, estimated boolean, says text,
    service_time double precision, share double precision, advice text, url text
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_findings_wrapper';
COMMENT ON FUNCTION jobstats_findings IS
'Says in what way jobs or users burden servers, and what to change. Judges each group in (since, until] by the rules in jobstats.finding_rules, and returns a row for each finding of one of these levels (good, fair, bad), the worst first. A value is bad if it is above the rule''s floor and above what 99 of a hundred jobs of the last 30 days had, fair if it is above the lower floor and above what 95 had; while under a hundred jobs are known, nothing is bad. What a rule is about must have taken 5 % of the time that servers spent on the group, which is share, and service_time in seconds (share is of calls, where servers report no times). Groups of less than ten minutes, 1,000 calls or, where servers report times, 60 seconds of servers are not judged. By or of some targets, kinds or servers, the rules opens, syncs, small_files, one_target and metadata say nothing. What has no job is one group. estimated: made of means, as Lustre before 2.16 prints no sizes. It says what servers saw, and not what a program meant. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown dimension or level or an empty window, 54000 for over a million groups, 55000 where there is no store.';

CREATE FUNCTION jobstats_verdict(
    since timestamptz DEFAULT now() - interval '1 day', until timestamptz DEFAULT now(), "by" text[] DEFAULT '{job}',
    n integer DEFAULT 10,
    @filters@,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    rank bigint,
    @dimensions@,
    level text, findings text[], groups bigint, calls bigint, service_time double precision, share double precision
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_verdict_wrapper';
COMMENT ON FUNCTION jobstats_verdict IS
'Sums up how much work was good, fair and bad, and whose it was. Groups in (since, until] are judged as jobstats_findings() does; the level of a group is its worst. The first rows, without rank, are those of the levels bad, fair, good and not judged (too little work): how many groups they have, with how many calls and seconds of servers. Then come the n groups with findings, bad ones first, that took most time. share is the part of the time of all groups; of their calls, where servers report no times. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown dimension, an empty window or a negative n, 54000 for over a million groups, 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.finding_values(since timestamptz, until timestamptz, entries bigint[])
RETURNS TABLE (finding text, "values" double precision[])
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_finding_values_wrapper';
COMMENT ON FUNCTION jobstats_internal.finding_values(timestamptz, timestamptz, bigint[]) IS
'Internal: the values by each rule of the jobs of these entries that did enough in (since, until] to be judged. Sizes of reads and writes are those in jobstats.finding_sizes.';

CREATE FUNCTION jobstats_internal.sized(sizes bigint[], first integer) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'jobstats_sized_wrapper';
COMMENT ON FUNCTION jobstats_internal.sized(bigint[], integer) IS
'Internal: the number of reads or writes in the first so many elements of a histogram of their sizes.';

CREATE FUNCTION jobstats_job(
    job text, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, step interval DEFAULT NULL,
    "by" text[] DEFAULT '{target}', scheduler text DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision,
    cluster text, filesystem text, kind text, target text, node text,
    operation text, total numeric, calls numeric, per_call double precision, min numeric, max numeric,
    stddev double precision, rate double precision, min_rate double precision, median_rate double precision,
    mean_rate double precision, max_rate double precision, first timestamptz, last_active timestamptz, nodes bigint,
    coverage double precision, scheduler text, label text, user_name text, account text, partition text, job_name text,
    state text, exit_code text, submitted timestamptz, started timestamptz, ended timestamptz, run_time interval,
    cpus bigint, in_service double precision
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_job_wrapper';
COMMENT ON FUNCTION jobstats_job(text, timestamptz, timestamptz, interval, text[], text) IS
'Shows what one job did as a whole, then by target, node or step. The job is named by its number or as users type it, such as 123_4; the number of an array stands for all of its elements. If accounting knows it, the first rows are its runs, with the operation run; then come those of the whole job, with target and node NULL, and those of each group, by default each target. For each operation, and for metadata and service_time, a row says how much, in how many calls, from when to when and on how many nodes. per_call, min, max and stddev are bytes, or seconds of the server, per call; min_rate to max_rate are per second in ten-minute buckets. scheduler to cpus are what accounting says, of a run or of the job: NULL if its runs differ, state and exit_code of the last one. in_service is the mean number of requests in service per node: service_time / (run time x nodes). energy and energy_per_gb are the joules of a job that had its metered nodes for itself, and those per GB that it read and wrote; rate is watts. The last rows, with operations that begin with attributed_, are work without a job that this job is likely to have done, and with claimed_, that of other users who name this job: both are in no sum. since NULL is the beginning of what is stored of the job, until NULL its end; rate is per second of that window, or of (since, until], that the targets were observed. A NOTICE says so if the job is unknown. If jobs of several schedulers have the number, only their runs are listed, until scheduler chooses one. Errors: 22023 where job is NULL, for an unknown dimension or an empty window or step, 54000 for over a million rows or 100,000 steps, 55000 where there is no store.';

CREATE FUNCTION jobstats_job(
    job bigint, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, step interval DEFAULT NULL,
    "by" text[] DEFAULT '{target}', scheduler text DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision,
    cluster text, filesystem text, kind text, target text, node text,
    operation text, total numeric, calls numeric, per_call double precision, min numeric, max numeric,
    stddev double precision, rate double precision, min_rate double precision, median_rate double precision,
    mean_rate double precision, max_rate double precision, first timestamptz, last_active timestamptz, nodes bigint,
    coverage double precision, scheduler text, label text, user_name text, account text, partition text, job_name text,
    state text, exit_code text, submitted timestamptz, started timestamptz, ended timestamptz, run_time interval,
    cpus bigint, in_service double precision
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_job_of_number_wrapper';
COMMENT ON FUNCTION jobstats_job(bigint, timestamptz, timestamptz, interval, text[], text) IS
'Shows what the job of this number did. jobstats_job(4711) is jobstats_job(''4711''). Errors: 22023 where job is NULL, for an unknown dimension or an empty window or step, 54000 for over a million rows or 100,000 steps, 55000 where there is no store.';

CREATE FUNCTION jobstats_compare(
    jobs text[], step interval DEFAULT '10 minutes', operations text[] DEFAULT NULL,
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    weights jsonb DEFAULT NULL, scheduler text DEFAULT NULL
) RETURNS TABLE (
    since_start interval, seconds double precision, job text, operation text, rate double precision,
    coverage double precision, "time" timestamptz
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_compare_wrapper';
COMMENT ON FUNCTION jobstats_compare IS
'Compares jobs over time, each counted from its own start. One row per job, step and operation: since_start is where the step begins, after the start that accounting knows, else after the first work of the job; seconds is its width, time its true beginning. A step in which the job did nothing has the rate 0, and NULL where no target was observed or no server reports times. The last step ends with the job. jobs are numbers, or what users type, such as 123_4, or numbers of arrays; step NULL is one step for the whole job; operations NULL is bytes read and written, metadata and service_time. A NOTICE says so if a job is unknown, or its start, or if jobs of several schedulers have its number: it then has no rows until scheduler chooses one. An argument that is NULL counts as left out. Errors: 22023 for jobs that are NULL or over a hundred, for unknown operations, and for steps that are not positive or of months, 54000 for over a million rows or 100,000 steps, or a million steps of all targets together, 55000 where there is no store.';

CREATE FUNCTION jobstats_runs(
    job text, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, scheduler text DEFAULT NULL
) RETURNS TABLE (
    scheduler text, job text, label text, parent text, submitted timestamptz, started timestamptz, ended timestamptz, uid bigint,
    user_name text, account text, partition text, job_name text, state text, exit_code text, nodes bigint, cpus bigint, to_come boolean
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_runs_wrapper';
COMMENT ON FUNCTION jobstats_runs IS
'Lists the runs of a job, and of the elements of an array. The job is named by its number or as users type it, such as 123_4; the number of an array stands for all of its elements. Returns what accounting says of the last 10,000 runs of it, of any scheduler or of one, that ended after since or have not ended, and that began at until or before; the newest first. parent is the array or the leader to which a run belongs. to_come is true while a run has not ended, or is not in jobstats_summaries() yet; false if no text has named it for two days, or if it ended more than a day ago. NULL bounds are none. Errors: 22023 where job is NULL, 55000 where there is no store.';

CREATE FUNCTION jobstats_summaries(
    job text DEFAULT NULL, uid bigint DEFAULT NULL, scheduler text DEFAULT NULL, since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL, n integer DEFAULT 10
) RETURNS TABLE (
    scheduler text, job text, label text, runs bigint, submitted timestamptz, started timestamptz, ended timestamptz, run_time interval,
    uid bigint, user_name text, gid bigint, group_name text, account text, partition text, qos text, job_name text, state text, exit_code text,
    nodes bigint, cpus bigint, first timestamptz, last_active timestamptz, active_nodes bigint, targets bigint,
    read_bytes numeric, write_bytes numeric, read numeric, write numeric, opens numeric, metadata numeric, service_time numeric,
    in_service double precision, busiest_target text
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_summaries_wrapper';
COMMENT ON FUNCTION jobstats_summaries IS
'Lists finished jobs with their totals. Returns the last n rows of jobstats.job_summaries, the newest first, with this number or label, of this user and scheduler, that ended in (since, until]; an argument that is NULL selects all. in_service is the mean number of requests in service per node. Errors: 22023 for a negative n, 55000 where there is no store.';

CREATE FUNCTION jobstats_sizes(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    "by" text[] DEFAULT '{}',
    @filters@,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    @dimensions@,
    operation text, known_from text, lower bigint, upper bigint, count numeric, share double precision,
    mean double precision, stddev double precision
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_sizes_wrapper';
COMMENT ON FUNCTION jobstats_sizes IS
'Shows how large reads and writes were. Per group in (since, until] and operation (read_bytes, write_bytes), a row with known_from histogram counts the calls of more than lower and up to upper bytes; sizes without calls have no row. Lustre before 2.16 prints no histograms: for calls on such targets there is one row with known_from sums, which has their mean and, from Lustre 2.14 on, their standard deviation, where the sum of squares cannot have wrapped. share is the part of all calls of the group and operation. A dimension not named in by is NULL. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown dimension or an empty window, 54000 for over a million rows, 55000 where there is no store.';

CREATE FUNCTION jobstats_work(at timestamptz DEFAULT NULL, level text DEFAULT 'increments', target_id integer[] DEFAULT NULL) RETURNS TABLE (
    target_id integer, entry_id bigint, totals bigint[], usecs bigint[]
)
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_work_wrapper';
COMMENT ON FUNCTION jobstats_work(timestamptz, text, integer[]) IS
'Shows what each entry did on each target, now or at a time. Of the level increments: in the last observation of the target up to at (NULL: now), as jobstats_targets() has it, or in its last hour; an entry has a row for each of its increments. Of a rollup (10m, 1h, 1d): in the bucket that at lies in. totals has the calls or bytes of each operation, in the order of jobstats_operations(), and usecs the microseconds that the server spent on it; NULL where it did nothing or reports no times. target_id NULL is all targets. Errors: 22023 for an unknown level, 55000 where there is no store.';
