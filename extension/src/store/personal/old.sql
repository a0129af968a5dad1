-- Forgets who did what a long time ago: settings.personal_retention.

CREATE FUNCTION jobstats_internal.people_kept_for() RETURNS interval
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
-- Increments that are kept longer say whose they are as long.
SELECT greatest(s.personal_retention, s.retention) FROM jobstats.settings s
$$;
COMMENT ON FUNCTION jobstats_internal.people_kept_for() IS
'Internal: how long people are named after what they did.';

CREATE FUNCTION jobstats_internal.people_kept_since() RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT now() - jobstats_internal.people_kept_for()
$$;
COMMENT ON FUNCTION jobstats_internal.people_kept_since() IS
'Internal: the time before which nobody is named.';

CREATE FUNCTION jobstats_internal.forget_idle_entries(idle bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
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
        EXECUTE format('UPDATE jobstats.%I u SET uid = jobstats_internal.pseudonym_of_user(u.uid, NULL::text), user_name = NULL, gid = NULL, group_name = NULL
            FROM (SELECT DISTINCT r.target_id, r.bucket, e.uid
                FROM jobstats.rollup_1d r JOIN jobstats.entries e ON e.entry_id = r.entry_id
                WHERE r.entry_id = ANY ($1) AND r.bucket <= $2 AND e.uid IS NOT NULL) k
            WHERE u.target_id = k.target_id AND u.uid = k.uid AND u.bucket >= k.bucket AND u.bucket < k.bucket + interval ''1 day''',
            format('rollup_%s_%s', level.level, level.owner)) USING idle, recomputed;
    END LOOP;
    PERFORM jobstats_internal.forget_entries(idle, '{}'::text[], false);
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_idle_entries(bigint[]) IS
'Internal: takes from entries that have long done nothing whose they are.';

-- A job waits for its entries: they are matched by its number, and with its user.
CREATE FUNCTION jobstats_internal.old_jobs(before timestamptz, portion integer) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT coalesce(array_agg(o.job), '{}')
FROM (
    SELECT j.job
    FROM (
        SELECT r.job, coalesce(r.ended, r.updated) AS ended, r.uid, num_nonnulls(r.user_name, r.job_name, r.node_list) > 0 AS is_named
        FROM jobstats.jobs r
        UNION ALL
        SELECT i.job, coalesce(i.ended, i.started), i.uid, num_nonnulls(i.user_name, i.job_name) > 0 FROM jobstats.job_ids i) j
    WHERE NOT EXISTS (SELECT FROM jobstats.entries e WHERE e.job = j.job AND e.status <> 'forgotten')
    GROUP BY j.job
    HAVING max(j.ended) < before AND bool_or(j.is_named OR j.uid <= 4294967295 AND jobstats_internal.is_person(j.uid))
    ORDER BY j.job
    LIMIT portion) o
$$;
COMMENT ON FUNCTION jobstats_internal.old_jobs(timestamptz, integer) IS
'Internal: numbers of jobs that name somebody, all of which ended before a time, and that no entry has which is not forgotten; at most so many.';

CREATE FUNCTION jobstats_internal.forget_old_jobs(before timestamptz, portion integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    old text[] := jobstats_internal.old_jobs(before, portion);
    numbers bigint[] := ARRAY(SELECT i.job_no FROM unnest(old) o (job) JOIN jobstats.job_ids i ON i.job = o.job);
    summaries bigint[] := ARRAY(
        SELECT s.job_no FROM jobstats.job_summaries s
        WHERE s.ended < before AND (s.uid <= 4294967295 AND jobstats_internal.is_person(s.uid) OR num_nonnulls(s.user_name, s.job_name) > 0)
            AND NOT EXISTS (SELECT FROM jobstats.job_ids i WHERE i.job_no = s.job_no)
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
    PERFORM jobstats_internal.forget_jobs(numbers, ARRAY(SELECT j.ctid FROM unnest(old) o (job) JOIN jobstats.jobs j ON j.job = o.job),
        '{}'::text[], NULL::bigint);
    UPDATE jobstats.entries e
    SET job = jobstats_internal.pseudonym(e.job), workload = coalesce(jobstats_internal.pseudonym(e.job), e.name)
    WHERE e.job = ANY (old) AND e.status = 'forgotten';
    -- Summaries are there longer than their jobs.
    PERFORM jobstats_internal.forget_jobs(summaries, '{}'::tid[], '{}'::text[], NULL::bigint);
    RETURN greatest(cardinality(old), cardinality(summaries));
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_old_jobs(timestamptz, integer) IS
'Internal: takes from jobs that ended before a time whose they were, of so many numbers and summaries at most, and returns of how many.';

CREATE FUNCTION jobstats_internal.forget_people() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    portion CONSTANT integer := 50000;
    named_since timestamptz := jobstats_internal.people_kept_since();
    found bigint := jobstats_internal.forget_again();
    jobs bigint;
BEGIN
    IF EXISTS (SELECT FROM jobstats.sweep s WHERE s.people_forgotten > now() - interval '1 day') THEN
        RETURN found;
    END IF;
    PERFORM jobstats_internal.lock_store();
    PERFORM FROM jobstats.locks l WHERE l.name = 'jobs' FOR UPDATE;
    jobs := jobstats_internal.forget_old_jobs(named_since, portion);
    PERFORM FROM jobstats.locks l WHERE l.name = 'names' FOR UPDATE;
    DELETE FROM jobstats.earlier_users u WHERE u.until < named_since;
    DELETE FROM jobstats.earlier_groups g WHERE g.until < named_since;
    -- Whom no text names any more, and no job or identifier.
    DELETE FROM jobstats.users u WHERE u.source = 'getent' AND u.seen > timestamptz '-infinity' AND u.seen < named_since;
    DELETE FROM jobstats.users u
    WHERE u.source = 'accounting' AND NOT EXISTS (SELECT FROM jobstats.jobs j WHERE j.uid = u.uid)
        AND NOT EXISTS (SELECT FROM jobstats.job_ids i WHERE i.uid = u.uid)
        AND NOT EXISTS (SELECT FROM jobstats.entries e WHERE e.uid = u.uid);
    DELETE FROM jobstats.groups g WHERE g.source = 'getent' AND g.seen > timestamptz '-infinity' AND g.seen < named_since;
    PERFORM jobstats_internal.forget_days_of_used(text 'user', NULL::bigint, named_since, NULL::bigint);
    PERFORM jobstats_internal.forget_culprits(NULL::bigint, NULL::text[], NULL::text[], '{}'::text[], named_since);
    -- The rest comes next time.
    IF jobs < portion THEN
        UPDATE jobstats.sweep s SET people_forgotten = now();
    END IF;
    RETURN found + jobs;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_people() IS
'Internal: forgets once more who was forgotten, and once a day whose what is older than settings.personal_retention was; returns the number of entries, jobs and names.';
