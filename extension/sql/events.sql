-- What went wrong on file systems.

CREATE PROCEDURE jobstats_detect()
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM jobstats_internal.require_store();
    IF jobstats_internal.as_owner(text 'watch', NULL::text) IS NULL THEN
        RAISE NOTICE 'another call of jobstats_detect() or jobstats_maintain() is running';
    END IF;
END
$$;
COMMENT ON PROCEDURE jobstats_detect IS
'Finds events in the newest readings, and sends alerts. Call it every two minutes, as the owner of the store; jobstats_maintain() does the same. Events are in jobstats.events; an alert is a NOTIFY on jobstats_events: JSON, without names of people. Errors: 25006 on a standby, 42501, 55000 no store.';

CREATE PROCEDURE jobstats_internal.watch_job(job_id integer, config jsonb)
LANGUAGE plpgsql
AS $$
BEGIN
    CALL @extschema@.jobstats_detect();
END
$$;
COMMENT ON PROCEDURE jobstats_internal.watch_job IS
'Internal: calls jobstats_detect() as a job of TimescaleDB: SELECT add_job(''jobstats_internal.watch_job'', ''2 minutes'');';

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
COMMENT ON FUNCTION jobstats_internal.probe_hours IS
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
COMMENT ON FUNCTION jobstats_internal.culprits_for IS
'Internal: the culprits of an event that a reader may see: all if uids is NULL, else those in uids or accounts; NULL for a reader without names.';

-- Verdicts on events, and maintenance windows.

CREATE FUNCTION jobstats_confirm_event(event_id bigint, verdict text, note text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM jobstats_internal.require_own_rows();
    IF jobstats_confirm_event.verdict NOT IN ('real', 'false', 'known') THEN
        RAISE invalid_parameter_value USING MESSAGE = format('verdict "%s" does not exist', left(jobstats_confirm_event.verdict, 60)),
            HINT = 'Valid values are real, false and known; NULL removes the verdict.';
    END IF;
    UPDATE jobstats.events e SET verdict = jobstats_confirm_event.verdict, note = jobstats_confirm_event.note, updated = now()
    WHERE e.event_id = jobstats_confirm_event.event_id;
    IF NOT FOUND THEN
        RAISE invalid_parameter_value USING MESSAGE = format('event %s does not exist', coalesce(jobstats_confirm_event.event_id::text, 'NULL')),
            HINT = 'SELECT event_id FROM jobstats_events(now() - interval ''1 year'') lists events.';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_confirm_event IS
'Records whether an event was real. verdict: real, false (a false alarm) or known (real, but already known); NULL removes it. jobstats_events() shows the share of real and known ones. note is retained with the event: name no people in it. Errors: 22023 unknown verdict or event, 42501, 55000 no store.';

CREATE FUNCTION jobstats_silence(
    since timestamptz, until timestamptz, filesystem text DEFAULT NULL, cluster text DEFAULT NULL, reason text DEFAULT NULL
) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    added bigint;
BEGIN
    PERFORM jobstats_internal.require_own_rows();
    IF (jobstats_silence.since < jobstats_silence.until) IS NOT TRUE THEN
        RAISE invalid_parameter_value USING MESSAGE = 'the window must begin before its end',
            HINT = 'Give since and until, such as now() and now() + interval ''4 hours''.';
    END IF;
    INSERT INTO jobstats.windows (cluster, filesystem, since, until, reason)
    VALUES (jobstats_silence.cluster, jobstats_silence.filesystem, jobstats_silence.since,
        jobstats_silence.until, jobstats_silence.reason)
    RETURNING window_id INTO added;
    RETURN added;
END
$$;
COMMENT ON FUNCTION jobstats_silence IS
'Suppresses alerts for maintenance. Events found in [since, until) raise no alert unless they outlast the window. filesystem, cluster: names or patterns with *; NULL: all. Returns the number of its row in jobstats.windows; delete that to end it. Errors: 22023 empty window, 42501, 55000 no store.';

-- Evidence: the raw text of the targets of an event outlives other raw text.

CREATE FUNCTION jobstats_internal.evidence_kept_for() RETURNS interval
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT least(s.raw_retention + s.evidence_retention, jobstats_internal.people_kept_for()) FROM jobstats.settings s
$$;
COMMENT ON FUNCTION jobstats_internal.evidence_kept_for IS
'Internal: how long raw text of events is retained after it was read: at most as long as names, which it contains.';

CREATE FUNCTION jobstats_internal.evidence_spans(wanted bigint, lasting_after timestamptz) RETURNS TABLE (
    event_id bigint, is_notified boolean, began timestamptz, target_id integer, since timestamptz, until timestamptz
)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT e.event_id, e.notified IS NOT NULL, e.began, t.target_id, e.began - interval '30 minutes', e.until + interval '30 minutes'
FROM jobstats.events e
CROSS JOIN LATERAL unnest(e.targets) AS n (name)
JOIN (
    SELECT t.cluster, t.name, t.target_id FROM jobstats.targets t
    UNION
    SELECT n.cluster, n.name, n.target_id FROM jobstats.earlier_names n) t ON t.cluster = e.cluster AND t.name = n.name
WHERE e.withdrawn IS NULL AND e.until >= evidence_spans.lasting_after AND (evidence_spans.wanted IS NULL OR e.event_id = evidence_spans.wanted)
$$;
COMMENT ON FUNCTION jobstats_internal.evidence_spans IS
'Internal: the spans of raw text that are evidence of an event, or of all (NULL) not withdrawn and not ended before a time: from 30 minutes before to 30 minutes after it.';

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
COMMENT ON FUNCTION jobstats_internal.store_bytes IS 'Internal: the bytes on disk of all tables of the store with their indexes.';

CREATE FUNCTION jobstats_internal.keep_evidence(horizon timestamptz DEFAULT jobstats_internal.kept_since('raw_retention')) RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
WITH kept_since AS MATERIALIZED (
    SELECT now() - jobstats_internal.evidence_kept_for() AS "time"
), candidate AS (
    SELECT s.event_id, s.is_notified, s.began, c.*, c."time" > s.began + interval '1 day' AS is_late
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
    -- A text of several events counts for the event that retains it longest, and the larger of two different copies.
    SELECT DISTINCT ON (c.target_id, c."time") c.*
    FROM candidate c
    ORDER BY c.target_id, c."time", c.is_late, c.is_notified DESC, c.began DESC, c.event_id, c.bytes DESC
), kept AS MATERIALIZED (
    SELECT t.target_id, t."time"
    FROM (
        -- A target may be full for weeks, so texts of later days of an event come last.
        SELECT t.target_id, t."time",
            sum(t.bytes) OVER (ORDER BY t.is_late, t.is_notified DESC, t.began DESC, t.event_id, t."time", t.target_id) AS bytes
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
COMMENT ON FUNCTION jobstats_internal.keep_evidence IS
'Internal: copies raw text of events before the horizon drops it, and deletes copies that are expired, unused, or above a twentieth of the store (later days of events first, then events without alert, then the oldest); returns how many.';

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
        SELECT r."time", r.seconds, r.rate, label.cluster, label.filesystem, label.uid, nullif(label."user", label.uid::text) AS user_name,
            label.account, label.job, sum(r.rate) OVER (PARTITION BY r."time", label.cluster, label.filesystem) AS of_all,
            -- root works for jobs too: the user is the one who did most of it.
            CASE largest_subjects."by" WHEN 'job' THEN sum(r.rate) OVER (PARTITION BY r."time", label.cluster, label.filesystem, label.job) ELSE r.rate END AS of_subject
        FROM @extschema@.jobstats_rates(largest_subjects.since, largest_subjects.until, largest_subjects.operation,
            text 'cluster,filesystem,' || CASE largest_subjects."by" WHEN 'user' THEN text 'uid,user' WHEN 'job' THEN 'uid,user,job'
                ELSE largest_subjects."by" END, largest_subjects.step) r
        CROSS JOIN LATERAL jsonb_to_record(r.labels) AS label (cluster text, filesystem text, uid bigint, "user" text, account text, job text)
    ) r
    WHERE r.filesystem IS NOT NULL AND r.rate IS NOT NULL AND CASE largest_subjects."by" WHEN 'job' THEN r.job IS NOT NULL ELSE num_nonnulls(r.uid, r.account) > 0 END
    ORDER BY r."time", r.cluster, r.filesystem, r.of_subject DESC, r.job, r.rate DESC, r.uid, r.account;
EXCEPTION WHEN invalid_parameter_value OR program_limit_exceeded THEN
    RAISE WARNING 'the rule "%" was not evaluated: %', rule, SQLERRM;
END
$$;
COMMENT ON FUNCTION jobstats_internal.largest_subjects IS
'Internal: the user, account or job with most of an operation per second on each file system in each step, and its share. If the query fails, a warning names the rule.';

CREATE FUNCTION jobstats_alerts(names boolean DEFAULT false) RETURNS jsonb
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_alerts_wrapper';
COMMENT ON FUNCTION jobstats_alerts IS
'Returns events with an alert as JSON for Alertmanager. The array is the body of a POST to /api/v2/alerts: events ongoing, or ended within the last hour. names => true adds the user or job, if the caller may see it. Post it every minute, or Alertmanager drops the alerts. Errors: 55000 no store.';

CREATE FUNCTION jobstats_explain(event_id bigint) RETURNS TABLE (line integer, topic text, "text" text, details jsonb)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_explain_wrapper';
COMMENT ON FUNCTION jobstats_explain IS
'Explains an event in sentences, with the next steps. topic: what, load, who, how, peers, probe, excluded, notified, evidence, next (commands to look further or to slow a job down, only printed). Readers of their own jobs see no other users. Errors: 22004, 22023 no such event, 55000 no store.';

CREATE FUNCTION jobstats_events(
    since timestamptz DEFAULT now() - interval '7 days', until timestamptz DEFAULT now(),
    event text DEFAULT NULL, severity text DEFAULT NULL, filter jobstats_filter DEFAULT NULL, exclude jobstats_filter DEFAULT NULL,
    withdrawn boolean DEFAULT false
) RETURNS TABLE (
    event_id bigint, event text, severity text, name text, cluster text, filesystem text, began timestamptz, detected_at timestamptz,
    until timestamptz, ended timestamptz, targets text[], servers text[], value double precision, usual double precision,
    rate double precision, load_times double precision, reason text, notified timestamptz, verdict text, note text,
    withdrawn timestamptz, updated timestamptz, judged bigint, "precision" double precision, culprits jsonb, labels jsonb
)
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'jobstats_events_wrapper';
COMMENT ON FUNCTION jobstats_events IS
'Lists incidents of file systems, the newest first. Those that overlap (since, until]. event: waiting, slow_target, stalled, full, failover, rule; severity: critical, warning, info. name: who raised the load. ended: NULL while it lasts. Errors: 22023, 54000, 55000 no store.';

CREATE FUNCTION jobstats_internal.watch() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS 'MODULE_PATHNAME', 'jobstats_internal_watch_wrapper';
COMMENT ON FUNCTION jobstats_internal.watch IS
'Internal: evaluates the readings since the last call, at most a day, and records events; returns the number of new or changed events. NULL: another call is running.';
