-- What people say of events, and when nobody is to be told of any.

CREATE FUNCTION jobstats_judge(event_id bigint, verdict text, note text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM jobstats_internal.require_own_rows();
    IF jobstats_judge.verdict NOT IN ('real', 'false', 'known') THEN
        RAISE invalid_parameter_value USING MESSAGE = format('there is no verdict "%s"', left(jobstats_judge.verdict, 60)),
            HINT = 'Verdicts are real, false and known; NULL takes one back.';
    END IF;
    UPDATE jobstats.events e SET verdict = jobstats_judge.verdict, note = jobstats_judge.note, updated = now()
    WHERE e.event_id = jobstats_judge.event_id;
    IF NOT FOUND THEN
        RAISE invalid_parameter_value USING MESSAGE = format('there is no event %s', coalesce(jobstats_judge.event_id::text, 'NULL')),
            HINT = 'SELECT event_id FROM jobstats_events(now() - interval ''1 year'') lists events.';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_judge(bigint, text, text) IS
'Notes whether an event was real. verdict is real, false (nothing was wrong) or known (real, and no news); NULL takes it back. jobstats_events() shows which part of the events of each kind was real or known. note says more, and should name nobody: it is kept as long as the event. Errors: 22023 for another verdict and for a number that no event has, 42501 where the caller may not write, 55000 where there is no store.';

CREATE FUNCTION jobstats_maintenance_window(
    since timestamptz, until timestamptz, filesystem text DEFAULT NULL, cluster text DEFAULT NULL, reason text DEFAULT NULL
) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    added bigint;
BEGIN
    PERFORM jobstats_internal.require_own_rows();
    IF (jobstats_maintenance_window.since < jobstats_maintenance_window.until) IS NOT TRUE THEN
        RAISE invalid_parameter_value USING MESSAGE = 'the window must begin before its end',
            HINT = 'Give since and until, such as now() and now() + interval ''4 hours''.';
    END IF;
    INSERT INTO jobstats.windows (cluster, filesystem, since, until, reason)
    VALUES (jobstats_maintenance_window.cluster, jobstats_maintenance_window.filesystem, jobstats_maintenance_window.since,
        jobstats_maintenance_window.until, jobstats_maintenance_window.reason)
    RETURNING window_id INTO added;
    RETURN added;
END
$$;
COMMENT ON FUNCTION jobstats_maintenance_window(timestamptz, timestamptz, text, text, text) IS
'Keeps events of a time of maintenance from being told. Of events that are found in [since, until), nobody is told while they last no longer than the window. filesystem and cluster are names; NULL: all. Returns the number of the window in jobstats.windows; delete the row to end it. Errors: 22023 for a window that does not begin before its end, 42501 where the caller may not write, 55000 where there is no store.';
