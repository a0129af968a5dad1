-- Who may call what. A routine that is not named here is for the owner of the store: a superuser, the owner of the
-- database, and whoever they grant it to.

REVOKE ALL ON SCHEMA jobstats_internal FROM PUBLIC;
GRANT USAGE ON SCHEMA jobstats_internal TO PUBLIC;
REVOKE ALL ON ALL ROUTINES IN SCHEMA jobstats_internal FROM PUBLIC;
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA jobstats_internal TO pg_database_owner;
-- The types and the reading functions call these with the rights of whoever asks. None of them looks at a table;
-- staged_increments() shows a session only what the session itself computes, feeding() who keeps feeds waiting.
GRANT EXECUTE ON ROUTINE
    jobstats_internal.counter_in, jobstats_internal.counter_out, jobstats_internal.counter_recv, jobstats_internal.counter_send,
    jobstats_internal.counter_eq, jobstats_internal.counter_ne, jobstats_internal.counter_hash,
    jobstats_internal.density_in, jobstats_internal.density_out, jobstats_internal.density_recv, jobstats_internal.density_send,
    jobstats_internal.density_eq, jobstats_internal.density_ne, jobstats_internal.density_hash,
    jobstats_internal.sum(bigint, bigint, bigint), jobstats_internal.sum(numeric, bigint, bigint),
    jobstats_internal.sum_of_rates(bigint, bigint, bigint), jobstats_internal.sum_of_rates(numeric, bigint, bigint),
    jobstats_internal.any(bigint, bigint, bigint), jobstats_internal.any(numeric, bigint, bigint),
    jobstats_internal.observed, jobstats_internal.bucket, jobstats_internal.feeding,
    jobstats_internal.staged_increments, jobstats_internal.detail_in_brief
TO PUBLIC;

-- A long text costs whoever runs the server time and memory: these are for readers and writers, who get them with the right
-- to read or to feed.
REVOKE ALL ON ROUTINE jobstats_parse, jobstats_problems, jobstats_unpack, jobstats_identify FROM PUBLIC;
GRANT EXECUTE ON ROUTINE jobstats_parse, jobstats_problems, jobstats_unpack, jobstats_identify TO pg_database_owner;

REVOKE ALL ON ROUTINE
    jobstats_setup, jobstats_ingest, jobstats_reprocess, jobstats_reidentify, jobstats_grant_writer, jobstats_grant_reader,
    jobstats_maintain, jobstats_maintain_job, jobstats_convert
FROM PUBLIC;
GRANT EXECUTE ON ROUTINE
    jobstats_setup, jobstats_ingest, jobstats_reprocess, jobstats_reidentify, jobstats_grant_writer, jobstats_grant_reader,
    jobstats_maintain, jobstats_maintain_job, jobstats_convert
TO pg_database_owner;
