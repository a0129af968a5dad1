-- By default only the owner of the database and roles with a grant may call a routine. Routines for all others are listed below.

REVOKE ALL ON SCHEMA jobstats_internal FROM PUBLIC;
GRANT USAGE ON SCHEMA jobstats_internal TO PUBLIC;
DO $privileges$
DECLARE
    routine pg_catalog.regprocedure;
BEGIN
    FOR routine IN
        SELECT d.objid
        FROM pg_catalog.pg_depend d
        JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid AND e.extname = 'jobstats'
        WHERE d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.deptype = 'e'
            AND d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass
    LOOP
        EXECUTE pg_catalog.format('REVOKE ALL ON ROUTINE %s FROM PUBLIC', routine);
        EXECUTE pg_catalog.format('GRANT EXECUTE ON ROUTINE %s TO pg_database_owner', routine);
    END LOOP;
END
$privileges$;

-- These routines read the store with the rights of the caller, or show users only their own jobs.
GRANT EXECUTE ON ROUTINE
    jobstats_alerts, jobstats_internal.attributed, jobstats_internal.require_store, jobstats_audit, jobstats_balance, jobstats_changes, jobstats_compare,
    jobstats_densities, jobstats_internal.entries, jobstats_events, jobstats_explain, jobstats_findings, jobstats_jobs, jobstats_job(text, text), jobstats_job(bigint, text),
    jobstats_job_usage(text, text, interval, timestamptz, timestamptz, jobstats_filter, jobstats_filter, text),
    jobstats_job_usage(bigint, text, interval, timestamptz, timestamptz, jobstats_filter, jobstats_filter, text), jobstats_internal.kept, jobstats_metrics, jobstats_now,
    jobstats_queues, jobstats_rates, jobstats_io_sizes, jobstats_summary, jobstats_targets, jobstats_top, jobstats_totals, jobstats_untracked,
    jobstats_space, jobstats_baseline, jobstats_verdict, jobstats_internal.work,
    jobstats_internal.nodes_of_front, jobstats_internal.health_of_front, jobstats_internal.accounting_node, jobstats_internal.ask_node, jobstats_internal.is_of_node, jobstats_internal.limit_wait, jobstats_internal.end_wait,
    jobstats_internal.targets_of_two, jobstats_internal.added_up, jobstats_internal.own_uids, jobstats_internal.culprits_for, jobstats_internal.evidence_kept_for, jobstats_internal.evidence_spans, jobstats_internal.computed_spans, jobstats_internal.people_kept_for, jobstats_internal.user_names, jobstats_internal.group_names, jobstats_internal.require_bound,
-- These routines read only their arguments, which are small, or the catalog. Functions on text can take much time and memory:
-- only readers and writers get them.
    jobstats_internal.fold, jobstats_internal.forever, jobstats_format, jobstats_help, jobstats_operations, jobstats_internal.share,
    jobstats_counter_agg(timestamptz, numeric), jobstats_counter_agg(timestamptz, numeric, timestamptz),
    jobstats_counter_agg(timestamptz, numeric, timestamptz, bigint),
    jobstats_rollup(jobstats_counter), jobstats_counter_first, jobstats_counter_last,
    jobstats_counter_elapsed(jobstats_counter), jobstats_counter_elapsed(jobstats_counter, jobstats_counter),
    jobstats_counter_increase(jobstats_counter), jobstats_counter_increase(jobstats_counter, jobstats_counter),
    jobstats_counter_rate(jobstats_counter), jobstats_counter_rate(jobstats_counter, jobstats_counter),
    jobstats_counter_resets(jobstats_counter), jobstats_counter_resets(jobstats_counter, jobstats_counter),
    jobstats_density_agg(double precision), jobstats_density_agg(double precision, integer), jobstats_rollup(jobstats_density),
    jobstats_density_buckets, jobstats_density_count, jobstats_density_zeros,
-- The types and the reading functions call these routines with the rights of the caller. They read no table:
-- staged_increments() shows increments that the session itself computes, feeding() checks that the caller may read health or feed,
-- and ingest() checks that the caller may feed the text.
    jobstats_internal.filter_in, jobstats_internal.filter_out, jobstats_internal.filter_recv, jobstats_internal.filter_send,
    jobstats_internal.filter_matches, jobstats_internal.filter(text), jobstats_internal.filter(jsonb), jobstats_internal.filter(json),
    jobstats_internal.counter_in, jobstats_internal.counter_out, jobstats_internal.counter_recv, jobstats_internal.counter_send,
    jobstats_internal.counter_eq, jobstats_internal.counter_ne, jobstats_internal.counter_hash,
    jobstats_internal.density_in, jobstats_internal.density_out, jobstats_internal.density_recv, jobstats_internal.density_send,
    jobstats_internal.density_eq, jobstats_internal.density_ne, jobstats_internal.density_hash,
    jobstats_internal.bucket, jobstats_internal.planned_ago, jobstats_internal.feeding, jobstats_internal.ingest, jobstats_internal.damage_in_words,
    jobstats_internal.damage, jobstats_internal.parts, jobstats_internal.growing_tables, jobstats_internal.hypertables,
    jobstats_internal.staged_increments, jobstats_internal.ids_remedy, jobstats_internal.nearest, jobstats_internal.dimensions, jobstats_internal.as_like, jobstats_internal.exactly, jobstats_internal.escaped, jobstats_internal.sized,
    jobstats_internal.histogram, jobstats_internal.detail
TO PUBLIC;
