CREATE PROCEDURE jobstats_watch()
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM jobstats_internal.require_store();
    IF jobstats_internal.as_owner(text 'watch', NULL::text) IS NULL THEN
        RAISE NOTICE 'another call of jobstats_watch() or jobstats_maintain() is judging';
    END IF;
END
$$;
COMMENT ON PROCEDURE jobstats_watch() IS
'Finds events in the newest readings, and notifies of them. To be called every two minutes. It judges what was read since the last call, at most a day at once, and again what late texts have changed; what it finds is in jobstats.events. Whoever listens to jobstats_events is notified of each event once: the payload is JSON, without names of people. jobstats_maintain() does the same. Call it as the owner of the store. Errors: 55000 where there is no store, 25006 on a standby, 42501 where the caller does not have the rights of the owner.';

CREATE PROCEDURE jobstats_watch_job(job_id integer, config jsonb)
LANGUAGE plpgsql
AS $$
BEGIN
    CALL @extschema@.jobstats_watch();
END
$$;
COMMENT ON PROCEDURE jobstats_watch_job(integer, jsonb) IS
'Runs jobstats_watch() as a job of TimescaleDB. In its Community edition: SELECT add_job(''jobstats_watch_job'', ''2 minutes''); Errors: as of jobstats_watch(), 55000, 25006 and 42501.';

CREATE FUNCTION jobstats_internal.probe_hours(since timestamptz, until timestamptz) RETURNS TABLE (target_id integer, hour timestamptz, seconds double precision)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT step.target_id, step.bucket - interval '1 microsecond', sum(step.seconds)
FROM (
    SELECT target.target_id, value.bucket, sum(value.sum) / sum(value.count) AS seconds
    FROM jobstats.sample_series series
    JOIN jobstats.targets target ON target.cluster = series.cluster AND target.name = series.labels ->> 'target'
    JOIN jobstats.samples_1h value ON value.series_id = series.series_id
    WHERE series.name = 'jobstats_probe_seconds' AND series.target_id IS NULL
        AND value.bucket > probe_hours.since AND value.bucket <= probe_hours.until - interval '59 minutes 59.999999 seconds'
    GROUP BY target.target_id, value.bucket, series.labels ->> 'step'
) step
GROUP BY step.target_id, step.bucket
$$;
COMMENT ON FUNCTION jobstats_internal.probe_hours(timestamptz, timestamptz) IS
'Internal: how long a probe of each target took on average, all its steps together, in each of the hours that lie in a span.';

CREATE FUNCTION jobstats_internal.culprits_for(culprits jsonb, uids bigint[], accounts text[], is_nameless boolean) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE
    WHEN is_nameless THEN NULL
    WHEN uids IS NULL THEN culprits
    WHEN o.subjects IS NOT NULL THEN jsonb_build_object('by', culprits -> 'by', 'subjects', o.subjects, 'times', culprits -> 'times',
        'named', (culprits ->> 'named')::boolean AND o.has_first, 'slow', culprits -> 'slow')
    END
FROM (
    SELECT jsonb_agg(s.subject ORDER BY s.number) AS subjects, bool_or(s.number = 1) AS has_first
    FROM jsonb_array_elements(culprits -> 'subjects') WITH ORDINALITY AS s (subject, number)
    WHERE (s.subject ->> 'uid')::bigint = ANY (uids) OR s.subject ->> 'account' = ANY (accounts)
) o
$$;
COMMENT ON FUNCTION jobstats_internal.culprits_for(jsonb, bigint[], text[], boolean) IS
'Internal: what a reader may see of the culprits of an event: NULL for one who sees no names, and themselves for one of their own work, who sees these users and accounts; uids NULL: a reader of everything.';
