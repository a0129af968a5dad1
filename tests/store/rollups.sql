-- Checks that every rollup shows the sums of increments, and stores them once it has been refreshed; likewise its sums by user.
DO $$
DECLARE
    level record;
    columns text := (
        SELECT string_agg(format('sum(%I)', attname), ', ' ORDER BY attname)
        FROM pg_attribute WHERE attrelid = 'jobstats.increments'::regclass AND atttypid = 'bigint'::regtype
            AND attnum > 0 AND NOT attisdropped AND attname <> 'entry_id');
    said text;
    shown text;
    owner text;
    of_user CONSTANT text := 'coalesce(e.uid, i.uid), CASE WHEN e.uid IS NULL THEN i.user_name END,
        CASE WHEN e.uid IS NULL THEN i.gid END, CASE WHEN e.uid IS NULL THEN i.group_name END';
    of_account CONSTANT text := 'i.account, i.partition';
    rows bigint;
BEGIN
    FOR level IN SELECT * FROM jobstats.rollups ORDER BY width LOOP
        EXECUTE format('SELECT count(*), md5(string_agg(r::text, '' '' ORDER BY r)) FROM (
            SELECT date_bin(%L, "time" - interval ''1 microsecond'', ''epoch'') AS since, entry_id, target_id, %s
            FROM jobstats.increments GROUP BY 1, 2, 3) r', level.width, columns) INTO rows, said;
        ASSERT rows > 0, 'there is nothing to compare';
        EXECUTE format('SELECT md5(string_agg(r::text, '' '' ORDER BY r)) FROM (
            SELECT since, entry_id, target_id, %s FROM jobstats.increments_%s GROUP BY 1, 2, 3) r', columns, level.level) INTO shown;
        ASSERT said = shown, format('increments_%s shows something else than increments', level.level);
        ASSERT level.refreshed > 'epoch', format('rollup_%s has never been refreshed', level.level);
        EXECUTE format('SELECT md5(string_agg(r::text, '' '' ORDER BY r)) FROM (
            SELECT bucket - interval ''1 microsecond'', entry_id, target_id, %s FROM jobstats.rollup_%s GROUP BY 1, 2, 3) r',
            columns, level.level) INTO shown;
        EXECUTE format('SELECT md5(string_agg(r::text, '' '' ORDER BY r)) FROM (
            SELECT date_bin(%L, "time" - interval ''1 microsecond'', ''epoch'') AS since, entry_id, target_id, %s
            FROM jobstats.increments WHERE "time" <= %L GROUP BY 1, 2, 3) r', level.width, columns, level.refreshed) INTO said;
        ASSERT said = shown, format('rollup_%s holds something else than increments', level.level);
        ASSERT level.users_refreshed = level.refreshed, format('rollup_%s_users is not up to date', level.level);
        FOREACH owner IN ARRAY ARRAY['users', 'accounts', 'members'] LOOP
            CONTINUE WHEN owner = 'members' AND level.level = '10m';
            EXECUTE format('SELECT md5(string_agg(r::text, '' '' ORDER BY r)) FROM (
                SELECT r.bucket, r.target_id, %2$s, %1$s
                FROM jobstats.rollup_%3$s r JOIN jobstats.entries e USING (entry_id)
                LEFT JOIN jobstats.entry_jobs j ON j.entry_id = r.entry_id AND r.bucket > j.valid_from AND r.bucket <= j.valid_to
                LEFT JOIN jobstats.job_ids i ON i.job_no = j.job_no GROUP BY 1, 2, %2$s) r', columns, CASE owner
                    WHEN 'users' THEN of_user WHEN 'accounts' THEN of_account ELSE of_user || ', ' || of_account END, level.level) INTO said;
            EXECUTE format('SELECT md5(string_agg(r::text, '' '' ORDER BY r)) FROM (
                SELECT bucket, target_id, %2$s, %1$s FROM jobstats.rollup_%3$s_%4$s GROUP BY 1, 2, %2$s) r', columns, CASE owner
                    WHEN 'users' THEN 'uid, user_name, gid, group_name' WHEN 'accounts' THEN 'account, partition'
                    ELSE 'uid, user_name, gid, group_name, account, partition' END, level.level, owner) INTO shown;
            ASSERT said = shown, format('rollup_%s_%s holds something else than rollup_%1$s', level.level, owner);
        END LOOP;
    END LOOP;
END
$$;
