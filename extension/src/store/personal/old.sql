-- Forgets who did what a long time ago: settings.personal_retention.

CREATE FUNCTION jobstats_internal.people_kept_since() RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
-- Increments that are kept longer say whose they are as long.
SELECT now() - greatest(s.personal_retention, s.retention) FROM jobstats.settings s
$$;
COMMENT ON FUNCTION jobstats_internal.people_kept_since() IS
'Internal: the time before which nobody is named.';

CREATE FUNCTION jobstats_internal.idle_entries(candidates bigint[], since timestamptz) RETURNS bigint[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    unsummed timestamptz;
BEGIN
    SELECT least(l.refreshed, (SELECT min(d.span_from) FROM jobstats.dirty d)) INTO unsummed
    FROM jobstats.rollups l WHERE l.level = '10m';
    RETURN ARRAY(
        SELECT e.entry_id
        FROM jobstats.entries e
        WHERE e.entry_id = ANY (candidates) AND e.first_seen < since AND e.status <> 'forgotten'
            AND NOT EXISTS (SELECT FROM jobstats.rollup_1d r WHERE r.entry_id = e.entry_id AND r.bucket >= since)
            AND NOT EXISTS (SELECT FROM jobstats.rollup_10m r WHERE r.entry_id = e.entry_id AND r.bucket >= since)
            AND NOT EXISTS (SELECT FROM jobstats.increments i WHERE i.entry_id = e.entry_id AND i."time" > unsummed));
END
$$;
COMMENT ON FUNCTION jobstats_internal.idle_entries(bigint[], timestamptz) IS
'Internal: which of these entries name somebody and have done nothing since a time.';

CREATE FUNCTION jobstats_internal.forget_idle_entries(candidates bigint[], since timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    idle bigint[] := jobstats_internal.idle_entries(candidates, since);
    recomputed timestamptz;
    level record;
BEGIN
    SELECT now() - s.jobs_retention INTO recomputed FROM jobstats.settings s;
    INSERT INTO jobstats.dirty_users (target_id, day)
    SELECT DISTINCT r.target_id, date_bin(interval '1 day', r.bucket - interval '1 microsecond', timestamptz 'epoch')
    FROM jobstats.rollup_1d r
    WHERE r.entry_id = ANY (idle) AND r.bucket > recomputed
    ON CONFLICT DO NOTHING;
    -- Sums of days whose jobs are gone cannot be computed again: they would lose accounts.
    FOR level IN
        SELECT l.level, o.owner FROM jobstats.rollups l, (VALUES ('users'), ('members')) AS o (owner) WHERE l.level IN ('1h', '1d')
    LOOP
        EXECUTE format('UPDATE jobstats.%I u SET uid = jobstats_internal.pseudonym_of_user(u.uid, NULL), user_name = NULL, gid = NULL, group_name = NULL
            FROM (SELECT DISTINCT r.target_id, r.bucket, e.uid
                FROM jobstats.rollup_1d r JOIN jobstats.entries e ON e.entry_id = r.entry_id
                WHERE r.entry_id = ANY ($1) AND r.bucket <= $2 AND e.uid IS NOT NULL) k
            WHERE u.target_id = k.target_id AND u.uid = k.uid AND u.bucket >= k.bucket AND u.bucket < k.bucket + interval ''1 day''',
            format('rollup_%s_%s', level.level, level.owner)) USING idle, recomputed;
    END LOOP;
    PERFORM jobstats_internal.forget_entries(idle, jobstats_internal.jobs_of_others(idle,
        ARRAY(SELECT DISTINCT m.job_no FROM jobstats.entry_jobs m JOIN unnest(idle) f (entry_id) ON f.entry_id = m.entry_id WHERE m.job_no IS NOT NULL)), false);
    RETURN cardinality(idle);
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_idle_entries(bigint[], timestamptz) IS
'Internal: takes from those of these entries that have done nothing since a time whose they are, and returns their number.';

CREATE FUNCTION jobstats_internal.forget_old_jobs(before timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    portion CONSTANT integer := 50000;
    named_from bigint := (SELECT s.system_uids_below FROM jobstats.settings s);
    numbers bigint[] := ARRAY(
        SELECT j.job_no
        FROM (
            SELECT i.job_no, i.ended, i.uid, i.user_name, i.job_name FROM jobstats.job_ids i
            UNION SELECT s.job_no, s.ended, s.uid, s.user_name, s.job_name FROM jobstats.job_summaries s) j
        WHERE j.ended < before AND (j.uid BETWEEN named_from AND 4294967295 OR num_nonnulls(j.user_name, j.job_name) > 0)
        LIMIT portion);
    runs tid[] := ARRAY(
        SELECT j.ctid FROM jobstats.jobs j
        WHERE j.ended < before AND (j.uid BETWEEN named_from AND 4294967295 OR num_nonnulls(j.user_name, j.job_name, j.node_list) > 0)
        LIMIT portion);
BEGIN
    -- Of entries that name no user, the job does.
    INSERT INTO jobstats.dirty_users (target_id, day)
    SELECT DISTINCT r.target_id, date_bin(interval '1 day', r.bucket - interval '1 microsecond', timestamptz 'epoch')
    FROM jobstats.settings s, jobstats.entry_jobs m
    JOIN unnest(numbers) f (job_no) ON f.job_no = m.job_no
    JOIN jobstats.entries e ON e.entry_id = m.entry_id AND e.uid IS NULL
    JOIN jobstats.rollup_1d r ON r.entry_id = m.entry_id AND r.bucket > m.valid_from AND r.bucket <= m.valid_to
    WHERE r.bucket > now() - s.jobs_retention
    ON CONFLICT DO NOTHING;
    PERFORM jobstats_internal.forget_jobs(numbers, runs, jobstats_internal.jobs_of_others('{}', numbers), NULL);
    RETURN greatest(cardinality(numbers), cardinality(runs));
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_old_jobs(timestamptz) IS
'Internal: takes from jobs that ended before a time whose they were, at most 50,000 of them, and returns their number.';

CREATE FUNCTION jobstats_internal.forget_people() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    named_since timestamptz := jobstats_internal.people_kept_since();
    found bigint := jobstats_internal.forget_again();
    jobs bigint;
BEGIN
    IF EXISTS (SELECT FROM jobstats.sweep s WHERE s.people_forgotten > now() - interval '1 day') THEN
        RETURN found;
    END IF;
    PERFORM jobstats_internal.lock_store();
    PERFORM FROM jobstats.locks l WHERE l.name = 'jobs' FOR UPDATE;
    jobs := jobstats_internal.forget_old_jobs(named_since);
    PERFORM FROM jobstats.locks l WHERE l.name = 'names' FOR UPDATE;
    DELETE FROM jobstats.earlier_users u WHERE u.until < named_since;
    DELETE FROM jobstats.earlier_groups g WHERE g.until < named_since;
    UPDATE jobstats.used u SET id = jobstats_internal.pseudonym_of_user(u.id, NULL)
    WHERE u.kind = 'user' AND u.id BETWEEN (SELECT s.system_uids_below FROM jobstats.settings s) AND 4294967295 AND u.day < (named_since AT TIME ZONE 'UTC')::date;
    IF jobs < 50000 THEN
        UPDATE jobstats.sweep s SET people_forgotten = now();
    END IF;
    RETURN found + jobs;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_people() IS
'Internal: forgets once more who was forgotten, and once a day whose what is older than settings.personal_retention was; returns the number of entries, jobs and names.';
