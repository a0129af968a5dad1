-- What is usual at a site, by which jobstats_findings() judges. A day is judged once: work that becomes known later changes little.
CREATE FUNCTION jobstats_internal.judge_day() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    known timestamptz := (SELECT l.refreshed FROM jobstats.rollups l WHERE l.level = '1d');
    newest timestamptz;
    written bigint;
BEGIN
    SELECT max(d.day) INTO newest
    FROM generate_series(jobstats_internal.bucket(interval '24 hours', known), known - interval '29 days', interval '-1 day') AS d (day)
    WHERE d.day <= known AND NOT EXISTS (SELECT FROM jobstats.finding_days f WHERE f.day = d.day)
        AND EXISTS (SELECT FROM jobstats.rollup_1d r WHERE r.bucket = d.day - interval '1 day' + interval '1 microsecond');
    IF newest IS NULL THEN
        RETURN NULL;
    END IF;
    INSERT INTO jobstats.finding_days (day, finding, "values")
    SELECT newest, v.finding, v."values" FROM jobstats_internal.finding_values(newest - interval '1 day', newest) v;
    GET DIAGNOSTICS written = ROW_COUNT;
    DELETE FROM jobstats.finding_days f WHERE f.day <= known - interval '30 days';
    UPDATE jobstats.finding_rules r
    SET jobs = u.jobs, fair_of_site = CASE WHEN u.jobs >= 100 THEN u.few[1] END, bad_of_site = CASE WHEN u.jobs >= 100 THEN u.few[2] END
    FROM (
        SELECT f.finding, count(v.value) AS jobs, percentile_disc(ARRAY[0.95, 0.99]) WITHIN GROUP (ORDER BY v.value) AS few
        FROM jobstats.finding_days f LEFT JOIN LATERAL unnest(f."values") AS v (value) ON true
        GROUP BY f.finding
    ) u
    WHERE u.finding = r.finding;
    RETURN written;
END
$$;
COMMENT ON FUNCTION jobstats_internal.judge_day() IS
'Internal: values the jobs of the newest day of the last 30 that rollups know and that is not valued yet, and what is usual by then; returns the number of rules, NULL: no day was left.';
