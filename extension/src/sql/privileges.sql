-- What makes or changes the store is for its owner: a superuser, whoever owns the database, and whom these grant it.
REVOKE ALL ON ROUTINE
    jobstats_setup, jobstats_put_view, jobstats_ingest, jobstats_reprocess, jobstats_reidentify,
    jobstats_grant_writer, jobstats_grant_reader, jobstats_maintain, jobstats_begin_maintenance, jobstats_end_maintenance,
    jobstats_refresh, jobstats_refresh_users, jobstats_roll_up, jobstats_skip_empty_days,
    jobstats_add_partitions, jobstats_forget, jobstats_drop_before, jobstats_compress_before, jobstats_summarize_ranges,
    jobstats_maintain_job, jobstats_foreign_policies, jobstats_unused_entries, jobstats_sweep_entries, jobstats_sweep,
    jobstats_convert, jobstats_convert_step, jobstats_to_convert, jobstats_create_successor, jobstats_prepare_successor,
    jobstats_fill_successor, jobstats_put_successor, jobstats_drop_predecessor
FROM PUBLIC;
GRANT EXECUTE ON ROUTINE
    jobstats_setup, jobstats_put_view, jobstats_ingest, jobstats_reprocess, jobstats_reidentify,
    jobstats_grant_writer, jobstats_grant_reader, jobstats_maintain, jobstats_begin_maintenance, jobstats_end_maintenance,
    jobstats_refresh, jobstats_refresh_users, jobstats_roll_up, jobstats_skip_empty_days,
    jobstats_add_partitions, jobstats_forget, jobstats_drop_before, jobstats_compress_before, jobstats_summarize_ranges,
    jobstats_maintain_job, jobstats_foreign_policies, jobstats_unused_entries, jobstats_sweep_entries, jobstats_sweep,
    jobstats_convert, jobstats_convert_step, jobstats_to_convert, jobstats_create_successor, jobstats_prepare_successor,
    jobstats_fill_successor, jobstats_put_successor, jobstats_drop_predecessor
TO pg_database_owner;
-- jobstats_audit() is for whoever may read the store, and with it jobstats_staged_increments(), which shows a session only
-- what it computes itself.
