-- The baselines of a site for jobstats_findings(). A day is valued once: late text changes little.
-- Valuing a day takes as long as reading all its increments, so each call does a share: first it sums the sizes of reads and
-- writes by job, ten minutes at a time; then it values jobs, some at a time; then it updates the rules, one at a time.

CREATE FUNCTION jobstats_internal.begin_findings() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    known timestamptz := jobstats_internal.refreshed(text '1d', false);
    begun timestamptz;
BEGIN
    INSERT INTO jobstats.finding_progress (day, sized)
    SELECT d.day, d.day - interval '1 day'
    FROM (
        SELECT s.day
        FROM generate_series(jobstats_internal.bucket(interval '24 hours', known), known - interval '29 days', interval '-1 day') AS s (day)
        WHERE s.day <= known AND NOT EXISTS (SELECT FROM jobstats.finding_days f WHERE f.day = s.day)
        OFFSET 0
    ) d
    -- OFFSET 0 keeps the planner from reading all increments to find the days that have some.
    WHERE EXISTS (SELECT FROM jobstats.increments i WHERE i."time" > d.day - interval '1 day' AND i."time" <= d.day OFFSET 0)
    ORDER BY d.day DESC
    LIMIT 1
    RETURNING day INTO begun;
    -- These rows keep the day from being begun again, even if it fails.
    INSERT INTO jobstats.finding_days (day, finding, "values")
    SELECT begun, r.finding, '{}' FROM jobstats.finding_rules r WHERE begun IS NOT NULL;
    DELETE FROM jobstats.finding_days f WHERE f.day <= known - interval '30 days';
    RETURN CASE WHEN begun IS NOT NULL THEN 0 END;
END
$$;
COMMENT ON FUNCTION jobstats_internal.begin_findings IS
'Internal: begins the newest of the last 30 days that rollups cover and that has no values yet, and returns 0; NULL: no day is left.';

CREATE FUNCTION jobstats_internal.sum_sizes(since timestamptz, until timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO jobstats.finding_sizes AS s (job, reads, small_reads, writes, small_writes)
    SELECT e.job, coalesce(sum(i.reads), 0), coalesce(sum(i.small_reads), 0), coalesce(sum(i.writes), 0), coalesce(sum(i.small_writes), 0)
    FROM (
        -- The first 16 elements are of at most 32 KiB.
        SELECT u.entry_id, sum(jobstats_internal.sized(u.sizes, 0, 32)) AS reads,
            sum(jobstats_internal.sized(u.sizes, 0, 16)) AS small_reads,
            sum(jobstats_internal.sized(u.sizes, 1, 32)) AS writes,
            sum(jobstats_internal.sized(u.sizes, 1, 16)) AS small_writes
        FROM jobstats.increments u
        WHERE u."time" > sum_sizes.since AND u."time" <= sum_sizes.until
        GROUP BY u.entry_id
    ) i
    JOIN jobstats.entries e ON e.entry_id = i.entry_id
    WHERE e.job IS NOT NULL
    GROUP BY e.job
    ON CONFLICT (job) DO UPDATE SET reads = s.reads + excluded.reads, small_reads = s.small_reads + excluded.small_reads,
        writes = s.writes + excluded.writes, small_writes = s.small_writes + excluded.small_writes;
    UPDATE jobstats.finding_progress SET sized = sum_sizes.until;
END
$$;
COMMENT ON FUNCTION jobstats_internal.sum_sizes IS 'Internal: adds the sizes of reads and writes in (since, until] to the jobs of the day.';

CREATE FUNCTION jobstats_internal.judge_some() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
    progress record;
    batch text[];
BEGIN
    SELECT * INTO progress FROM jobstats.finding_progress;
    IF NOT FOUND THEN
        RETURN jobstats_internal.begin_findings();
    ELSIF progress.sized < progress.day THEN
        PERFORM jobstats_internal.sum_sizes(progress.sized, progress.sized + interval '10 minutes');
        RETURN 0;
    END IF;
    batch := ARRAY(SELECT s.job FROM jobstats.finding_sizes s WHERE s.job > progress.job ORDER BY s.job LIMIT 1000);
    IF batch <> '{}' THEN
        INSERT INTO jobstats.finding_days AS f (day, finding, "values")
        SELECT progress.day, v.finding, v."values"
        FROM jobstats_internal.finding_values(progress.day - interval '1 day', progress.day,
            ARRAY(SELECT e.entry_id FROM jobstats.entries e WHERE e.job = ANY (batch))) v
        ON CONFLICT (day, finding) DO UPDATE SET "values" = f."values" || excluded."values";
        UPDATE jobstats.finding_progress SET job = batch[cardinality(batch)];
        RETURN cardinality(batch);
    END IF;
    UPDATE jobstats.finding_progress p SET rule = n.finding
    FROM (SELECT r.finding FROM jobstats.finding_rules r WHERE r.finding > progress.rule ORDER BY r.finding LIMIT 1) n
    RETURNING p.rule INTO progress.rule;
    IF NOT FOUND THEN
        DELETE FROM jobstats.finding_progress;
        DELETE FROM jobstats.finding_sizes;
    END IF;
    UPDATE jobstats.finding_rules r
    SET jobs = u.jobs, fair_of_site = CASE WHEN u.jobs >= 100 THEN u.few[1] END, bad_of_site = CASE WHEN u.jobs >= 100 THEN u.few[2] END
    FROM (
        SELECT count(*) AS jobs, percentile_disc(ARRAY[0.95, 0.99]) WITHIN GROUP (ORDER BY v.value) AS few
        FROM jobstats.finding_days f CROSS JOIN LATERAL unnest(f."values") AS v (value)
        WHERE f.finding = progress.rule
    ) u
    WHERE r.finding = progress.rule;
    RETURN 0;
END
$$;
COMMENT ON FUNCTION jobstats_internal.judge_some IS
'Internal: takes the next step of evaluating the jobs of a day and of updating the baselines; returns how many jobs it evaluated; NULL: no day is left.';

CREATE FUNCTION jobstats_internal.judge() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN jobstats_internal.judge_some();
EXCEPTION
    WHEN lock_not_available THEN
        RAISE;
    WHEN OTHERS THEN
        -- A retry would most likely fail too, in each call for 30 days.
        DELETE FROM jobstats.finding_progress;
        DELETE FROM jobstats.finding_sizes;
        PERFORM jobstats_internal.end_step('the rest of a day is not evaluated: ' || SQLERRM);
        RETURN NULL;
END
$$;
COMMENT ON FUNCTION jobstats_internal.judge IS 'Internal: calls judge_some() as a step of maintenance; gives up a day that fails.';
