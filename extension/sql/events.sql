-- What went wrong on file systems.

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

-- Evidence: the raw text of the targets of an event outlives other raw text.

CREATE FUNCTION jobstats_internal.evidence_kept_for() RETURNS interval
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT least(s.raw_retention + s.evidence_retention, jobstats_internal.people_kept_for()) FROM jobstats.settings s
$$;
COMMENT ON FUNCTION jobstats_internal.evidence_kept_for() IS
'Internal: how long raw text of events is kept after it was read. It names people, and no longer than these are named.';

CREATE FUNCTION jobstats_internal.evidence_spans(wanted bigint, lasting_after timestamptz) RETURNS TABLE (
    event_id bigint, is_told boolean, began timestamptz, target_id integer, since timestamptz, until timestamptz
)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT e.event_id, e.told IS NOT NULL, e.began, t.target_id, e.began - interval '30 minutes', e.until + interval '30 minutes'
FROM jobstats.events e
CROSS JOIN LATERAL unnest(e.targets) AS n (name)
JOIN (
    SELECT t.cluster, t.name, t.target_id FROM jobstats.targets t
    UNION
    SELECT n.cluster, n.name, n.target_id FROM jobstats.earlier_names n) t ON t.cluster = e.cluster AND t.name = n.name
WHERE e.withdrawn IS NULL AND e.until >= evidence_spans.lasting_after AND (evidence_spans.wanted IS NULL OR e.event_id = evidence_spans.wanted)
$$;
COMMENT ON FUNCTION jobstats_internal.evidence_spans(bigint, timestamptz) IS
'Internal: the spans of which raw text of targets is evidence of an event, or of all that are not withdrawn (NULL), which lasted until after a time: the event, and 30 minutes before and after it.';

CREATE FUNCTION jobstats_internal.store_bytes() RETURNS numeric
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    timescale text := jobstats_internal.timescale_schema();
    bytes numeric;
    in_chunks numeric := 0;
BEGIN
    SELECT sum(pg_total_relation_size(c.oid)) INTO bytes
    FROM pg_class c WHERE c.relnamespace = to_regnamespace('jobstats') AND c.relkind = 'r';
    IF timescale IS NOT NULL THEN
        EXECUTE format('SELECT coalesce(sum(%s.hypertable_size(h.hypertable)), 0) FROM jobstats_internal.hypertables() h', timescale)
            INTO in_chunks;
    END IF;
    RETURN bytes + in_chunks;
END
$$;
COMMENT ON FUNCTION jobstats_internal.store_bytes() IS
'Internal: the bytes on disk of all tables of the store with their indexes.';

CREATE FUNCTION jobstats_internal.keep_evidence(horizon timestamptz) RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
WITH kept_since AS MATERIALIZED (
    SELECT now() - jobstats_internal.evidence_kept_for() AS "time"
), candidate AS (
    SELECT s.event_id, s.is_told, s.began, c.*, c."time" > s.began + interval '1 day' AS is_late
    FROM kept_since k
    CROSS JOIN LATERAL jobstats_internal.evidence_spans(NULL::bigint, k."time" - interval '30 minutes') s
    CROSS JOIN LATERAL (
        SELECT e.target_id, e."time", octet_length(e.body) + coalesce(octet_length(e.carried), 0) AS bytes
        FROM jobstats.evidence e WHERE e.target_id = s.target_id AND e."time" >= s.since AND e."time" <= s.until
        UNION
        SELECT r.target_id, r."time", octet_length(r.body) + coalesce(octet_length(r.carried), 0)
        FROM jobstats.raw r WHERE r.target_id = s.target_id AND r."time" >= s.since AND r."time" <= s.until AND r."time" < horizon) c
    WHERE c."time" >= k."time"
), text AS (
    -- A text of several events counts for the one that keeps it longest, and the larger of two copies that differ.
    SELECT DISTINCT ON (c.target_id, c."time") c.*
    FROM candidate c
    ORDER BY c.target_id, c."time", c.is_late, c.is_told DESC, c.began DESC, c.event_id, c.bytes DESC
), kept AS MATERIALIZED (
    SELECT t.target_id, t."time"
    FROM (
        -- A target may be full for weeks, so texts of later days of an event come last.
        SELECT t.target_id, t."time",
            sum(t.bytes) OVER (ORDER BY t.is_late, t.is_told DESC, t.began DESC, t.event_id, t."time", t.target_id) AS bytes
        FROM text t) t
    WHERE t.bytes <= (SELECT jobstats_internal.store_bytes()) / 20
), gone AS (
    DELETE FROM jobstats.evidence e
    WHERE NOT EXISTS (SELECT FROM kept k WHERE k.target_id = e.target_id AND k."time" = e."time")
    RETURNING e.target_id
), added AS (
    INSERT INTO jobstats.evidence ("time", target_id, server, body, carried)
    SELECT r."time", r.target_id, r.server, r.body, r.carried
    FROM kept k JOIN jobstats.raw r ON r.target_id = k.target_id AND r."time" = k."time"
    WHERE NOT EXISTS (SELECT FROM jobstats.evidence e WHERE e.target_id = k.target_id AND e."time" = k."time")
    RETURNING target_id
)
SELECT (SELECT count(*) FROM gone) + (SELECT count(*) FROM added)
$$;
COMMENT ON FUNCTION jobstats_internal.keep_evidence(timestamptz) IS
'Internal: copies raw text of events that is older than the horizon, before it is dropped, and deletes copies that are too old, of no event any more, or above a twentieth of the bytes of the store; returns how many texts that were. First go texts of an event from after its first day, then those of events that nobody was told of, then those of the oldest events.';

CREATE FUNCTION jobstats_internal.largest_subjects(rule text, operation text, "by" text, since timestamptz, until timestamptz, step interval) RETURNS TABLE (
    began timestamptz, ended timestamptz, cluster text, filesystem text, uid bigint, user_name text, account text, job text, rate double precision, share double precision
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT DISTINCT ON (r."time", r.cluster, r.filesystem) r."time", r."time" + r.seconds * interval '1 second', r.cluster, r.filesystem,
        r.uid, r.user_name, r.account, r.job, r.of_subject, r.of_subject / nullif(r.of_all, 0)
    FROM (
        SELECT r.*, sum(r.rate) OVER (PARTITION BY r."time", r.cluster, r.filesystem) AS of_all,
            -- root works for jobs too: the user is the one who did most of it.
            CASE largest_subjects."by" WHEN 'job' THEN sum(r.rate) OVER (PARTITION BY r."time", r.cluster, r.filesystem, r.job) ELSE r.rate END AS of_subject
        FROM @extschema@.jobstats_rates(largest_subjects.since, largest_subjects.until, ARRAY[largest_subjects.operation],
            '{cluster,filesystem}' || CASE largest_subjects."by" WHEN 'user' THEN '{uid,user_name}'::text[]
                WHEN 'job' THEN '{uid,user_name,job}' ELSE ARRAY[largest_subjects."by"] END, largest_subjects.step) r
    ) r
    WHERE r.filesystem IS NOT NULL AND r.rate IS NOT NULL AND CASE largest_subjects."by" WHEN 'job' THEN r.job IS NOT NULL ELSE num_nonnulls(r.uid, r.account) > 0 END
    ORDER BY r."time", r.cluster, r.filesystem, r.of_subject DESC, r.job, r.rate DESC, r.uid, r.account;
EXCEPTION WHEN invalid_parameter_value OR program_limit_exceeded THEN
    RAISE WARNING 'the rule "%" is not judged: %', rule, SQLERRM;
END
$$;
COMMENT ON FUNCTION jobstats_internal.largest_subjects(text, text, text, timestamptz, timestamptz, interval) IS
'Internal: the user, account or job that did most of an operation per second on each file system in each step of a span, and its part of all that was done. If the question fails, a warning names the rule that asked it.';

CREATE FUNCTION jobstats_alerts(names boolean DEFAULT false) RETURNS jsonb
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_alerts_wrapper';
COMMENT ON FUNCTION jobstats_alerts(boolean) IS
'Returns the events that somebody is told of, for Alertmanager. The array is the body of a POST to /api/v2/alerts: events that last, and those that ended or were withdrawn within the last hour, with endsAt. The labels are alertname, kind, severity, cluster and filesystem, the annotations are summary, description and event_id. With names => true, the description says whose work it was, if the caller may see that. Send it once a minute or so: Alertmanager forgets an alert that is not sent again. Errors: 55000 where there is no store.';

CREATE FUNCTION jobstats_explain(event_id bigint) RETURNS TABLE (line integer, topic text, "text" text, details jsonb)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_explain_wrapper';
COMMENT ON FUNCTION jobstats_explain(bigint) IS
'Explains an event in sentences, and says what to do next. event_id is that of jobstats_events(). The topics are what (what was measured, and what is usual), load (how busy the servers were), who (whose work made the load rise), how (with which operation), peers (how others were at that time), probe (how long a probe of the shipper took), excluded (what else was not the reason, or what else happened), told (why nobody was told), evidence (how much raw text of that time is kept, and until when), and next: commands to look further, or to slow a job down and to stop that. jobstats prints commands and never runs one. details has the numbers of a line. A reader of their own work sees no other users, one who sees no names sees none. Errors: 22004 for no number, 22023 for one that no event has, 55000 where there is no store.';

CREATE FUNCTION jobstats_events(
    since timestamptz DEFAULT now() - interval '7 days', until timestamptz DEFAULT now(),
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, severity text[] DEFAULT NULL,
    withdrawn boolean DEFAULT false
) RETURNS TABLE (
    event_id bigint, kind text, severity text, cluster text, filesystem text, began timestamptz, found timestamptz, until timestamptz,
    ended timestamptz, targets text[], servers text[], value double precision, usual double precision, rate double precision,
    load_times double precision, culprits jsonb, reason text, told timestamptz, verdict text, note text, withdrawn timestamptz,
    updated timestamptz, judged bigint, "precision" double precision
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_events_wrapper';
COMMENT ON FUNCTION jobstats_events IS
'Lists what went wrong on file systems, as far as it was found. A row for each event that lasted into (since, until], the newest first. kind is waiting (requests wait for a thread of a server), slow_target, stalled, full, failover or rule (a rule of the site was broken); severity is critical, warning, or info: nobody is told of it, and reason says why. ended is NULL while it lasts; until is the last time that shows it. value and usual are seconds of waiting, seconds per call of a slow target, calls per second of a stalled one, or the used part of a full one; rate is how many times the value passes the floor of its kind. culprits says whose work made the load rise, load_times by how much it rose. told is when it was notified. verdict and note are what jobstats_judge() was told; precision is the part of the events of this kind, of all times, that were judged real or known, judged is how many were judged. An event that later texts showed to be none is left out, or listed with the time when it was withdrawn. cluster, filesystem, kind and severity are patterns with *. A reader of their own work sees no other culprits, one who sees no names sees none. An argument that is NULL counts as left out. Errors: 22023 for an empty window, 54000 for over a million rows, 55000 where there is no store.';

CREATE FUNCTION jobstats_internal.watch() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_internal_watch_wrapper';
COMMENT ON FUNCTION jobstats_internal.watch() IS
'Internal: judges what was read since the last call, at most a day, and keeps what it finds in jobstats.events; returns the number of events that are new or have changed. NULL: another call is judging.';
