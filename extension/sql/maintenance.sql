-- What maintenance does; maintenance_steps.sql has the list of its steps.

-- Locks of concurrent work on the store. They are row locks in jobstats.locks, a table that only the owner of the store
-- can lock. Everybody can see the keys of advisory locks and take them.

CREATE FUNCTION jobstats_internal.lock_store() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM jobstats.locks l WHERE l.name = 'store' FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = 'jobstats.locks has lost a row',
            HINT = 'Run SELECT jobstats_setup(); it restores missing rows.';
    END IF;
END
$$;
COMMENT ON FUNCTION jobstats_internal.lock_store() IS
'Internal: waits for a setup, a step of maintenance or of a conversion, and makes the next one wait until the transaction ends.';

CREATE FUNCTION jobstats_internal.lock_entries() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    FOR try IN 1..100 LOOP
        PERFORM FROM jobstats.locks l WHERE l.name = 'entries' FOR UPDATE SKIP LOCKED;
        IF FOUND THEN
            RETURN;
        END IF;
        PERFORM pg_sleep(0.01);
    END LOOP;
    RAISE object_in_use USING MESSAGE = 'feeds have been running all the time';
END
$$;
COMMENT ON FUNCTION jobstats_internal.lock_entries() IS
'Internal: waits until no feed is storing entries, and lets none do so until the transaction ends; fails with 55006 where that takes longer than a second.';

CREATE FUNCTION jobstats_internal.await_entries() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- A feed never waits for this: the lock is free again when the block has failed.
    PERFORM jobstats_internal.lock_entries();
    RAISE SQLSTATE 'JSOK0';
EXCEPTION WHEN SQLSTATE 'JSOK0' THEN
    RETURN;
END
$$;
COMMENT ON FUNCTION jobstats_internal.await_entries() IS
'Internal: waits until no feed is storing entries, so that all later ones know what is committed by now; fails as lock_entries().';

CREATE FUNCTION jobstats_internal.create_schema() RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    CREATE SCHEMA jobstats;
    RETURN true;
EXCEPTION WHEN duplicate_schema OR unique_violation THEN
    RETURN false;
END
$$;
COMMENT ON FUNCTION jobstats_internal.create_schema() IS
'Internal: creates the schema of the store; false: another transaction has just done so, and has committed.';

-- Runs with the rights of the extension's owner, a superuser: PostgreSQL shows other roles no age of a snapshot.
CREATE FUNCTION jobstats_internal.snapshots() RETURNS TABLE (pid integer, oldest xid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
SELECT a.pid, a.backend_xmin
FROM pg_stat_activity a
WHERE a.backend_xmin IS NOT NULL AND a.datname = current_database() AND a.pid <> pg_backend_pid()
    AND a.backend_type IS DISTINCT FROM 'autovacuum worker'
$$;
COMMENT ON FUNCTION jobstats_internal.snapshots() IS
'Internal: the other sessions of this database that have a snapshot, with the oldest transaction that it may see as running.';

CREATE FUNCTION jobstats_internal.is_looked_at_since(instant xid8) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT EXISTS (
    SELECT FROM jobstats_internal.snapshots() s
    WHERE age(s.oldest) >= age(instant::xid)
        -- A number that is later than all of this cluster comes from a dump.
        AND instant < pg_snapshot_xmax(pg_current_snapshot())
        -- Who waits for this session looks anew when it goes on.
        AND NOT pg_backend_pid() = ANY (pg_blocking_pids(s.pid)))
$$;
COMMENT ON FUNCTION jobstats_internal.is_looked_at_since(xid8) IS
'Internal: whether a session of this database still looks at the database as it was before a transaction.';

CREATE FUNCTION jobstats_internal.end_idle_feeds() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    it record;
    ended bigint := 0;
BEGIN
    FOR it IN
        SELECT f.pid, f.role, f.idle_since FROM jobstats_internal.feeding() f WHERE f.idle_since < now() - interval '1 minute'
    LOOP
        BEGIN
            PERFORM pg_terminate_backend(it.pid);
            ended := ended + 1;
            RAISE WARNING 'ended session % of role %, which had held the locks of a feed since % without doing anything',
                it.pid, it.role, it.idle_since;
        EXCEPTION WHEN insufficient_privilege THEN
            -- The view jobstats.health names the session.
            CONTINUE;
        END;
    END LOOP;
    RETURN nullif(ended, 0);
END
$$;
COMMENT ON FUNCTION jobstats_internal.end_idle_feeds() IS
'Internal: ends sessions that have held the locks of a feed for a minute without doing anything, where the caller may, and returns their number; NULL: none.';

-- Retention, indexes and, without TimescaleDB, the partitions of the coming days.
--
-- Who waits for a lock on a table makes all readers and feeds of that table wait behind itself. So functions that lock tables
-- wait for 300 ms, and maintenance calls them again later.

CREATE FUNCTION jobstats_internal.add_partitions(
    relation text, unit text, span_from timestamptz, span_to timestamptz, moving boolean DEFAULT false)
RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '300ms'
AS $$
DECLARE
    owner name;
    key name;
    low timestamptz;
    high timestamptz;
    name text;
    is_new boolean;
    held boolean;
    strays bigint;
    -- Everybody waits while rows are moved.
    room bigint := 200000;
    moved bigint := 0;
    made integer := 0;
BEGIN
    IF NOT isfinite(span_from) OR NOT isfinite(span_to) OR span_to - span_from > interval '100000 days' THEN
        RAISE invalid_parameter_value USING MESSAGE = format('there are no partitions from %s to %s', span_from, span_to),
            HINT = 'Give a span of less than 100,000 days.';
    END IF;
    SELECT pg_get_userbyid(c.relowner), a.attname INTO owner, key
    FROM pg_class c
    JOIN pg_partitioned_table p ON p.partrelid = c.oid
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0]
    WHERE c.oid = to_regclass(format('jobstats.%I', relation));
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    FOR low, strays IN EXECUTE format('SELECT low, coalesce(d.strays, 0)
        FROM generate_series(date_trunc($1, $2), $3, (text ''1 '' || $1)::interval) AS s (low)
        FULL JOIN (SELECT date_trunc($1, d.%I) AS low, count(*) AS strays FROM jobstats.%I d WHERE $4 GROUP BY 1) d USING (low)
        ORDER BY low DESC', key, relation || '_default') USING unit, span_from, span_to, moving
    LOOP
        high := low + ('1 ' || unit)::interval;
        name := format('%s_%s', relation, to_char(low, left('YYYYMMDD', CASE unit WHEN 'year' THEN 4 WHEN 'month' THEN 6 ELSE 8 END)));
        is_new := to_regclass(format('jobstats.%I', name)) IS NULL;
        CONTINUE WHEN CASE strays WHEN 0 THEN NOT is_new ELSE room <= 0 END;
        IF NOT moving THEN
            EXECUTE format('SELECT EXISTS (SELECT FROM jobstats.%I d WHERE d.%I >= $1 AND d.%2$I < $2)', relation || '_default', key) INTO held USING low, high;
            CONTINUE WHEN held;
        END IF;
        -- From here on nobody has a plan that misses rows where they are next. The table alone: rows are written and read by way of it.
        EXECUTE format('LOCK TABLE ONLY jobstats.%I', relation);
        IF is_new THEN
            EXECUTE format('CREATE TABLE jobstats.%I (LIKE jobstats.%I INCLUDING ALL EXCLUDING INDEXES EXCLUDING COMMENTS)', name, relation);
            EXECUTE format('ALTER TABLE jobstats.%I OWNER TO %I', name, owner);
            made := made + 1;
        ELSE
            EXECUTE format('ALTER TABLE jobstats.%I DETACH PARTITION jobstats.%I', relation, name);
        END IF;
        -- Of many rows the earliest are moved: the partition ends behind these until the next call.
        EXECUTE format('SELECT coalesce((
                SELECT d.%1$I + interval ''1 microsecond'' FROM jobstats.%2$I d WHERE d.%1$I >= $1 AND d.%1$I < $2
                ORDER BY d.%1$I OFFSET greatest($3, 1) - 1 LIMIT 1), $2)', key, relation || '_default') INTO high USING low, high, room;
        EXECUTE format('WITH gone AS (DELETE FROM jobstats.%I d WHERE d.%I >= $1 AND d.%2$I < $2 RETURNING d.*) INSERT INTO jobstats.%I SELECT * FROM gone',
            relation || '_default', key, name) USING low, high;
        EXECUTE format('ALTER TABLE jobstats.%I ATTACH PARTITION jobstats.%I FOR VALUES FROM (%L) TO (%L)', relation, name, low, high);
        room := room - greatest(strays, 5000);
        moved := moved + strays;
    END LOOP;
    -- To a snapshot from before the end of this transaction, rows that move would be neither here nor there.
    FOR try IN 1..20 LOOP
        EXIT WHEN moved = 0 OR NOT EXISTS (SELECT FROM jobstats_internal.snapshots());
        IF try = 20 THEN
            RAISE lock_not_available USING MESSAGE = 'other sessions have snapshots from before rows were moved';
        END IF;
        PERFORM pg_sleep(0.05);
    END LOOP;
    IF made > 0 THEN
        PERFORM jobstats_internal.give_replica_identity();
    END IF;
    RETURN made;
END
$$;
COMMENT ON FUNCTION jobstats_internal.add_partitions(text, text, timestamptz, timestamptz, boolean) IS
'Internal: makes the missing partitions, a day, month or year (UTC) each, of a table of the store for a span and returns their number; none where TimescaleDB keeps it. moving: also of days with rows in the default partition, of which 200,000 move per call.';

CREATE FUNCTION jobstats_internal.forget() RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    gone integer;
BEGIN
    -- Increments that rollups have yet to sum are kept, however old they are. So are increments that a feed may
    -- change that does not know a horizon yet.
    UPDATE jobstats.refresh r
    SET dropped = greatest(r.dropped, least(r.horizon, (
        SELECT jobstats_internal.bucket(interval '1 day', least(min(l.refreshed), (SELECT min(d.span_from) FROM jobstats.dirty d)))
        FROM jobstats.rollups l)))
    WHERE r.settled = r.number;
    -- A rollup is kept at least as long as the rollups that it sums.
    UPDATE jobstats.rollups l
    SET dropped = greatest(l.dropped, least(
        jobstats_internal.bucket(interval '1 day', now() - (SELECT max(f.retention) FROM jobstats.rollups f WHERE f.width <= l.width)), r.dropped,
        (SELECT jobstats_internal.bucket(interval '1 day', min(n.refreshed)) FROM jobstats.rollups n WHERE n.width > l.width)))
    FROM jobstats.refresh r
    WHERE NOT EXISTS (SELECT FROM jobstats.rollups f WHERE f.width <= l.width AND f.retention IS NULL);

    -- The spans in which targets were observed are kept as long as there are rollups, and open ones until the target comes back.
    DELETE FROM jobstats.spans s WHERE s.until <= (SELECT min(l.dropped) FROM jobstats.rollups l);
    GET DIAGNOSTICS gone = ROW_COUNT;
    DELETE FROM jobstats.coarse c WHERE c.span_to <= (SELECT min(l.dropped) FROM jobstats.rollups l);
    RETURN gone;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget() IS
'Internal: says up to where increments, observations, rollups and spans of observation are too old to be kept. From then on nobody reads what is older; jobstats_internal.drop_before() drops it.';

-- The spans in which targets were observed. Each observation reaches from the one before to its own time, a baseline is its own time alone,
-- and the spans of a target are the union of these, both ends included. What is older than the observations that are kept is as it is stored.
CREATE FUNCTION jobstats_internal.spans_told(after timestamptz, until timestamptz, target integer DEFAULT NULL)
RETURNS TABLE (target_id integer, newest timestamptz, stored tstzrange[], told tstzrange[])
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT t.target_id, CASE WHEN edge.next IS NULL THEN upper(told.spans) END, stored.spans, ARRAY(SELECT unnest(told.spans))
FROM jobstats.refresh r
CROSS JOIN jobstats.targets t
CROSS JOIN LATERAL (
    SELECT coalesce((
            SELECT o."time" FROM jobstats.observations o
            WHERE o.target_id = t.target_id AND o."time" <= spans_told.after AND o."time" > r.dropped ORDER BY o."time" DESC LIMIT 1), (
            SELECT o.since FROM jobstats.observations o
            WHERE o.target_id = t.target_id AND o."time" > spans_told.after AND o."time" > r.dropped ORDER BY o."time" LIMIT 1),
            r.dropped) AS previous,
        (
            SELECT o."time" FROM jobstats.observations o
            WHERE o.target_id = t.target_id AND o."time" > spans_told.until AND o."time" > r.dropped ORDER BY o."time" LIMIT 1) AS next
) edge
CROSS JOIN LATERAL (
    SELECT coalesce(range_agg(tstzrange(coalesce(o.since, o."time"), o."time", text '[]')), tstzmultirange()) AS spans
    FROM jobstats.observations o
    WHERE o.target_id = t.target_id AND o."time" > edge.previous AND o."time" <= coalesce(edge.next, spans_told.until)
) observed
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(s.span ORDER BY s.span), '{}') AS spans, coalesce(range_agg(s.span), tstzmultirange()) AS whole
    FROM (SELECT tstzrange(o.since, o.until, text '[]') AS span FROM jobstats.observed_spans o WHERE o.target_id = t.target_id) s
) stored
CROSS JOIN LATERAL (
    SELECT stored.whole - tstzmultirange(tstzrange(edge.previous, coalesce(edge.next, timestamptz 'infinity'), text '(]')) + observed.spans AS spans
) told
WHERE spans_told.target IS NULL OR t.target_id = spans_told.target
$$;
COMMENT ON FUNCTION jobstats_internal.spans_told(timestamptz, timestamptz, integer) IS
'Internal: the spans of each target as they are stored, and as the observations in (after, until] and the next one say. newest: its last observation, if that is not after these.';

CREATE FUNCTION jobstats_internal.note_spans(after timestamptz, until timestamptz, target integer DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    it record;
BEGIN
    FOR it IN SELECT s.* FROM jobstats_internal.spans_told(note_spans.after, note_spans.until, note_spans.target) s LOOP
        DELETE FROM jobstats.spans s
        WHERE s.target_id = it.target_id AND NOT EXISTS (SELECT FROM unnest(it.told) AS n (span) WHERE lower(n.span) = s.since);
        INSERT INTO jobstats.spans AS s (target_id, since, until)
        SELECT it.target_id, lower(n.span), CASE WHEN n.number < cardinality(it.told) THEN upper(n.span) END
        FROM unnest(it.told) WITH ORDINALITY AS n (span, number)
        ON CONFLICT ON CONSTRAINT spans_pkey DO UPDATE SET until = excluded.until WHERE s.until IS DISTINCT FROM excluded.until;
        UPDATE jobstats.targets t SET last_observation = it.newest, server = o.server, received = o.received
        FROM jobstats.observations o
        WHERE t.target_id = it.target_id AND o.target_id = it.target_id AND o."time" = it.newest
            AND (t.last_observation, t.server, t.received) IS DISTINCT FROM (it.newest, o.server, o.received);
    END LOOP;
END
$$;
COMMENT ON FUNCTION jobstats_internal.note_spans(timestamptz, timestamptz, integer) IS
'Internal: stores the spans of targets as observations in (after, until] say, and where their last ones end. The targets are locked, as by feeds.';

-- The readings of each of these are compared with the one before.
CREATE FUNCTION jobstats_internal.compared_by(relation text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
RETURN CASE WHEN relation IN ('raw', 'target_snapshots') THEN 'r.target_id'
    WHEN relation = 'server_snapshots' THEN 'r.cluster, r.server, r.service' END;
COMMENT ON FUNCTION jobstats_internal.compared_by(text) IS
'Internal: the key by which rows of a table are compared with the one before, of an alias r; NULL: they are not.';

CREATE FUNCTION jobstats_internal.newest_texts(relation text, horizon timestamptz, OUT keys text[], OUT times timestamptz[])
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    key text := jobstats_internal.compared_by(relation);
BEGIN
    keys := '{}';
    times := '{}';
    IF key IS NULL THEN
        RETURN;
    END IF;
    -- The next reading is compared with this one. A backlog may be older than raw_retention while it is sent.
    EXECUTE format($sql$
        SELECT coalesce(array_agg(o.key), '{}'), coalesce(array_agg(o."time"), '{}')
        FROM (
            SELECT %1$s, ROW(%1$s)::text AS key, max(r."time") AS "time" FROM jobstats.%2$I r
            -- Text is not kept longer than its observation.
            WHERE r."time" < $1 AND r."time" > coalesce((SELECT f.dropped FROM jobstats.refresh f), timestamptz '-infinity')
            GROUP BY %1$s
        ) o
        WHERE NOT EXISTS (SELECT FROM jobstats.%2$I r WHERE (%1$s) = (%3$s) AND r."time" >= $1)
    $sql$, key, relation, replace(key, 'r.', 'o.')) INTO keys, times USING horizon;
END
$$;
COMMENT ON FUNCTION jobstats_internal.newest_texts(text, timestamptz) IS
'Internal: the newest reading of each target or service that has none since the horizon, by key and time; nothing for relations whose rows are not compared.';

CREATE FUNCTION jobstats_internal.drop_span(
    relation text, part text, span_from timestamptz, span_to timestamptz, keys text[], times timestamptz[])
RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    timescale text := jobstats_internal.timescale_schema();
BEGIN
    IF EXISTS (SELECT FROM unnest(times) AS k (kept) WHERE k.kept >= span_from AND k.kept < span_to) THEN
        EXECUTE format('DELETE FROM jobstats.%I r WHERE r."time" >= $1 AND r."time" < $2 AND (ROW(%s)::text, r."time") NOT IN (
                SELECT k.key, k."time" FROM unnest($3, $4) AS k (key, "time"))',
            relation, jobstats_internal.compared_by(relation)) USING span_from, span_to, keys, times;
        RETURN false;
    END IF;
    IF part IS NOT NULL THEN
        EXECUTE format('DROP TABLE jobstats.%I', part);
    ELSE
        EXECUTE format('SELECT count(*) FROM %s.drop_chunks($1::regclass, older_than => $2, newer_than => $3)', timescale)
            USING format('jobstats.%I', relation), span_to, span_from;
    END IF;
    RETURN true;
END
$$;
COMMENT ON FUNCTION jobstats_internal.drop_span(text, text, timestamptz, timestamptz, text[], timestamptz[]) IS
'Internal: drops a partition, or the chunk of a span where part is NULL; where it holds readings of these keys and times, deletes all others. Returns whether it was dropped.';

CREATE FUNCTION jobstats_internal.drop_before(relation text, horizon timestamptz) RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '300ms'
AS $$
DECLARE
    timescale text := jobstats_internal.timescale_schema();
    key name;
    part record;
    kept record;
    dropped integer := 0;
BEGIN
    SELECT * INTO kept FROM jobstats_internal.newest_texts(relation, horizon);
    SELECT a.attname INTO key
    FROM pg_partitioned_table p JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
    WHERE p.partrelid = to_regclass(format('jobstats.%I', relation));
    IF NOT FOUND AND kept.keys = '{}' THEN
        EXECUTE format('SELECT count(*) FROM %s.drop_chunks($1::regclass, older_than => $2)', timescale)
            INTO dropped USING format('jobstats.%I', relation), horizon;
        RETURN dropped;
    END IF;
    FOR part IN EXECUTE CASE WHEN key IS NULL THEN
        'SELECT NULL::text AS name, c.range_start AS low, c.range_end AS high
        FROM timescaledb_information.chunks c
        WHERE c.hypertable_schema = ''jobstats'' AND c.hypertable_name = $1 AND c.range_end <= $2
        ORDER BY c.range_start'
    ELSE
        'SELECT s.name, s.low, s.low + s.width AS high
        FROM pg_inherits i
        JOIN pg_class c ON c.oid = i.inhrelid
        CROSS JOIN LATERAL substring(c.relname FROM ''\d+$'') AS span
        CROSS JOIN LATERAL (SELECT c.relname::text AS name,
            to_date(span, left(''YYYYMMDD'', length(span)))::timestamptz AS low,
            CASE length(span) WHEN 4 THEN interval ''1 year'' WHEN 6 THEN interval ''1 month'' WHEN 8 THEN interval ''1 day'' END AS width) s
        WHERE i.inhparent = to_regclass(format(''jobstats.%I'', $1)) AND s.low + s.width <= $2
        ORDER BY s.name'
    END USING relation, horizon
    LOOP
        IF jobstats_internal.drop_span(relation, part.name, part.low, part.high, kept.keys, kept.times) THEN
            dropped := dropped + 1;
        END IF;
    END LOOP;
    IF key IS NOT NULL THEN
        EXECUTE format('DELETE FROM jobstats.%I r WHERE r.%I < $1%s', relation || '_default', key,
            CASE WHEN kept.keys <> '{}' THEN format(' AND (ROW(%s)::text, r."time") NOT IN (
                SELECT k.key, k."time" FROM unnest($2, $3) AS k (key, "time"))', jobstats_internal.compared_by(relation)) END)
            USING horizon, kept.keys, kept.times;
    END IF;
    RETURN dropped;
END
$$;
COMMENT ON FUNCTION jobstats_internal.drop_before(text, timestamptz) IS
'Internal: drops the chunks or partitions of a table of the store that end before the horizon, and returns their number. The newest reading of a target or service stays.';

-- TimescaleDB warns of chunks that are too small to gain by columns. Nobody can or needs to do something about these.
CREATE FUNCTION jobstats_internal.compress_before(horizon timestamptz, again boolean DEFAULT false) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = error SET lock_timeout = '300ms'
AS $$
DECLARE
    timescale text := jobstats_internal.timescale_schema();
    name text;
    chunk text;
BEGIN
    IF timescale IS NULL OR current_setting('timescaledb.license', true) IS DISTINCT FROM 'timescale' THEN
        RETURN NULL;
    END IF;
    -- A chunk that has rows beside its columns is partial: bit 8 of its status. Feeds leave a note in jobstats.dirty where
    -- they have just changed increments, and may change more of the same chunk.
    EXECUTE $sql$
        SELECT h.relation, format('%I.%I', c.chunk_schema, c.chunk_name)
        FROM jobstats_internal.hypertables() h
        JOIN timescaledb_information.chunks c
            ON format('%I.%I', c.hypertable_schema, c.hypertable_name)::regclass = h.hypertable
        JOIN _timescaledb_catalog.chunk k ON k.schema_name = c.chunk_schema AND k.table_name = c.chunk_name
        WHERE h.packed_by IS NOT NULL AND c.range_end < $1
            AND CASE WHEN $2 THEN c.is_compressed AND k.status & 8 <> 0 AND NOT EXISTS (
                    SELECT FROM jobstats.dirty d
                    WHERE d.span_from < c.range_end AND d.span_to >= c.range_start)
                ELSE NOT c.is_compressed END
        ORDER BY c.range_end, h.relation
        LIMIT 1
    $sql$ INTO name, chunk USING horizon, again;
    IF chunk IS NOT NULL THEN
        EXECUTE format('SELECT %s.compress_chunk($1::regclass)', timescale) USING chunk;
    END IF;
    RETURN name;
END
$$;
COMMENT ON FUNCTION jobstats_internal.compress_before(timestamptz, boolean) IS
'Internal: where TimescaleDB can, keeps one more chunk that ends before the horizon in columns, and returns what it is of; NULL: there is none. again: one that has got rows beside its columns since, and is not just being changed.';

CREATE FUNCTION jobstats_internal.pack_columns(again boolean) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    began timestamptz := clock_timestamp();
    relation text := (
        SELECT jobstats_internal.compress_before(now() - greatest(s.compress_after, s.raw_retention), again) FROM jobstats.settings s);
BEGIN
    IF relation IS NULL THEN
        RETURN NULL;
    END IF;
    INSERT INTO jobstats.maintenance (step, began, took, affected) VALUES ('columns of ' || relation, began, clock_timestamp() - began, 1);
    RETURN 1;
END
$$;
COMMENT ON FUNCTION jobstats_internal.pack_columns(boolean) IS
'Internal: keeps one more old chunk in columns, and records of which relation; NULL: there is none. again: one that has got rows beside its columns since.';

-- Without statistics the planner takes an index by time for useless. A crash takes the counts of rows and of what VACUUM and ANALYZE have done:
-- then each table is analyzed once more.
CREATE FUNCTION jobstats_internal.summarize_ranges() RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET lock_timeout = '500ms'
AS $$
DECLARE
    until CONSTANT timestamptz := clock_timestamp() + interval '10 seconds';
    it record;
    summarized integer := 0;
BEGIN
    FOR it IN
        SELECT x.indexrelid::regclass AS index, x.indrelid::regclass AS relation, k.is_unknown
        FROM pg_class t
        JOIN pg_inherits h ON h.inhparent = t.oid
        JOIN pg_stat_user_tables s ON s.relid = h.inhrelid
        CROSS JOIN LATERAL (
            SELECT coalesce(s.last_vacuum, s.last_autovacuum, s.last_analyze, s.last_autoanalyze) IS NULL AND pg_relation_size(s.relid) > 0 AS is_unknown) k
        JOIN pg_index x ON x.indrelid = h.inhrelid
        JOIN pg_class c ON c.oid = x.indexrelid
        JOIN pg_am a ON a.oid = c.relam
        WHERE t.relnamespace = 'jobstats'::regnamespace AND a.amname = 'brin' AND (s.n_ins_since_vacuum > 0 OR k.is_unknown)
        ORDER BY c.relname DESC
    LOOP
        BEGIN
            summarized := summarized + brin_summarize_new_values(it.index);
            IF it.is_unknown AND clock_timestamp() < until THEN
                EXECUTE format('ANALYZE %s', it.relation);
            END IF;
        EXCEPTION WHEN lock_not_available THEN
            -- VACUUM holds the lock. An automatic VACUUM would cancel itself if this waited for a second.
            CONTINUE;
        END;
    END LOOP;
    RETURN summarized;
END
$$;
COMMENT ON FUNCTION jobstats_internal.summarize_ranges() IS
'Internal: enters the ranges of pages with new rows into the indexes by time, and returns their number. Until VACUUM does that, maybe hours later, every query of recent times reads all of them. Analyzes what nobody has.';

-- Deletes entries that neither increments nor rollups refer to, and forgets whose those are that have long been idle. It goes through the entries in the order of their keys,
-- a batch per transaction.

CREATE FUNCTION jobstats_internal.unused_entries(candidates bigint[], low bigint, high bigint, since timestamptz) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    unsummed timestamptz;
BEGIN
    -- Increments that are older than this are in the rollups.
    SELECT least(l.refreshed, (SELECT min(d.span_from) FROM jobstats.dirty d)) INTO unsummed
    FROM jobstats.rollups l WHERE l.level = '10m';
    -- One condition on all keys lets TimescaleDB read columnar chunks in parts.
    RETURN QUERY
    SELECT c.entry_id
    FROM unnest(candidates) AS c (entry_id)
    WHERE NOT EXISTS (SELECT FROM jobstats.increments i WHERE i."time" > unsummed AND i.entry_id = c.entry_id)
        AND NOT EXISTS (SELECT FROM jobstats.rollup_1d r
            WHERE r.entry_id = c.entry_id AND r.entry_id > low AND r.entry_id <= high AND r.bucket >= since)
        AND NOT EXISTS (SELECT FROM jobstats.rollup_1h r
            WHERE r.entry_id = c.entry_id AND r.entry_id > low AND r.entry_id <= high AND r.bucket >= since)
        AND NOT EXISTS (SELECT FROM jobstats.rollup_10m r
            WHERE r.entry_id = c.entry_id AND r.entry_id > low AND r.entry_id <= high AND r.bucket >= since);
END
$$;
COMMENT ON FUNCTION jobstats_internal.unused_entries(bigint[], bigint, bigint, timestamptz) IS
'Internal: which of these entries, whose keys lie in (low, high], nothing refers to that is of a time since then.';

CREATE FUNCTION jobstats_internal.sweep_entries(horizon timestamptz, people_since timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    batch CONSTANT integer := 10000;
    low bigint;
    high bigint;
    seen integer;
    candidates bigint[];
    idle bigint[];
    gone bigint := 0;
BEGIN
    SELECT coalesce(s.after, -9223372036854775808) INTO low FROM jobstats.sweep s;
    SELECT count(*), max(e.entry_id), array_agg(e.entry_id) FILTER (WHERE e.first_seen < horizon),
        array_agg(e.entry_id) FILTER (WHERE e.first_seen < people_since AND e.status <> 'forgotten')
    INTO seen, high, candidates, idle
    FROM (SELECT e.entry_id, e.first_seen, e.status FROM jobstats.entries e WHERE e.entry_id > low ORDER BY e.entry_id LIMIT batch) e;
    SELECT array_agg(u.entry_id) INTO candidates FROM jobstats_internal.unused_entries(candidates, low, high, timestamptz '-infinity') AS u (entry_id);
    idle := ARRAY(SELECT jobstats_internal.unused_entries(idle, low, high, people_since));
    IF candidates IS NOT NULL OR idle <> '{}' THEN
        -- Feeds that have found one of these entries must have committed. Later feeds check whether the entry is
        -- still there, and do not wait.
        PERFORM jobstats_internal.lock_entries();
        -- Who matches jobs locks entries in the same order.
        PERFORM FROM jobstats.entries e WHERE e.entry_id = ANY (candidates || idle) ORDER BY e.entry_id FOR UPDATE;
        WITH deleted AS (
            DELETE FROM jobstats.entries e
            WHERE e.entry_id IN (SELECT jobstats_internal.unused_entries(candidates, low, high, timestamptz '-infinity'))
            RETURNING e.entry_id
        ), unmatched AS (
            DELETE FROM jobstats.entry_jobs j USING deleted d WHERE j.entry_id = d.entry_id
        )
        SELECT count(*) INTO gone FROM deleted d;
        -- Now that no feed relies on what it has found.
        idle := ARRAY(SELECT jobstats_internal.unused_entries(ARRAY(SELECT unnest(idle) EXCEPT SELECT unnest(candidates)), low, high, people_since));
        PERFORM jobstats_internal.forget_idle_entries(idle);
        gone := gone + cardinality(idle);
    END IF;
    UPDATE jobstats.sweep s
    SET after = CASE WHEN seen = batch THEN high END, ended = CASE WHEN seen = batch THEN s.ended ELSE now() END,
        deleted = s.deleted + gone;
    RETURN gone;
END
$$;
COMMENT ON FUNCTION jobstats_internal.sweep_entries(timestamptz, timestamptz) IS
'Internal: deletes those of the next 10,000 entries that were first seen before the horizon and that nothing refers to, and takes from those that have been idle since another time whose they are; returns their number. Fails with 55006 where feeds are in the way.';

CREATE FUNCTION jobstats_internal.sweep() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    horizon timestamptz := (SELECT min(l.dropped) FROM jobstats.rollups l);
    people_since timestamptz := now() - jobstats_internal.people_kept_for();
BEGIN
    -- One pass per day.
    IF horizon = timestamptz 'epoch' AND NOT EXISTS (SELECT FROM jobstats.rollup_1d r WHERE r.bucket < people_since) OR EXISTS (
        SELECT FROM jobstats.sweep s WHERE s.after IS NULL AND s.ended > now() - interval '1 day')
    THEN
        RETURN NULL;
    END IF;
    PERFORM jobstats_internal.lock_store();
    RETURN jobstats_internal.sweep_entries(horizon, people_since);
END
$$;
COMMENT ON FUNCTION jobstats_internal.sweep() IS
'Internal: deletes entries of the next batch that nothing refers to any more, and returns their number; NULL: there is nothing to look through.';

-- What maintenance does with used space, gauges and sums of services.

CREATE FUNCTION jobstats_internal.sum_used() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    written bigint;
BEGIN
    -- From here on no feed puts another list in the place of one of these. A list that comes later is added to the sums.
    UPDATE jobstats.used_lists l SET summed = true
    FROM jobstats.settings s
    WHERE NOT l.summed AND l.day < ((now() - s.refresh_lag) AT TIME ZONE 'UTC')::date;
    WITH gone AS (
        DELETE FROM jobstats.used_first f USING jobstats.used_lists l
        WHERE l.target_id = f.target_id AND l.kind = f.kind AND l.day = f.day AND l.summed
        RETURNING f.*
    )
    INSERT INTO jobstats.used AS used (day, cluster, filesystem, kind, id, kbytes, inodes, targets)
    -- On an OST, inodes are objects, and none of a user's files.
    SELECT g.day, t.cluster, coalesce(t.filesystem, ''), g.kind, g.id, sum(g.kbytes), sum(g.inodes) FILTER (WHERE t.kind = 'MDT'), count(*)
    FROM gone g JOIN jobstats.targets t ON t.target_id = g.target_id
    GROUP BY g.day, t.cluster, coalesce(t.filesystem, ''), g.kind, g.id
    ON CONFLICT (day, kind, cluster, filesystem, id) DO UPDATE
    SET kbytes = used.kbytes + EXCLUDED.kbytes, inodes = coalesce(used.inodes + EXCLUDED.inodes, used.inodes, EXCLUDED.inodes),
        targets = used.targets + EXCLUDED.targets;
    GET DIAGNOSTICS written = ROW_COUNT;
    RETURN written;
END
$$;
COMMENT ON FUNCTION jobstats_internal.sum_used() IS
'Internal: sums the first lists of used space of days that are over, and returns the number of sums that were written.';

CREATE FUNCTION jobstats_internal.forget_samples() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    hours timestamptz := (SELECT l.dropped FROM jobstats.rollups l WHERE l.level = '1h');
    minutes timestamptz := (SELECT l.dropped FROM jobstats.rollups l WHERE l.level = '10m');
    days timestamptz := (SELECT l.dropped FROM jobstats.rollups l WHERE l.level = '1d');
    silent timestamptz := (SELECT now() - s.jobs_retention FROM jobstats.settings s);
    idle timestamptz := (SELECT now() - s.raw_retention - interval '1 hour' FROM jobstats.settings s);
    gone bigint;
    all_gone bigint := 0;
    statement text;
BEGIN
    FOREACH statement IN ARRAY ARRAY[
        'DELETE FROM jobstats.server_hours h WHERE h.bucket <= $1',
        'DELETE FROM jobstats.samples_1h h WHERE h.bucket <= $1',
        'DELETE FROM jobstats.samples_1d d WHERE d.bucket <= $2',
        'DELETE FROM jobstats.energy e WHERE e.bucket <= $5',
        'DELETE FROM jobstats.used u WHERE u.day < ($2 AT TIME ZONE ''UTC'')::date',
        -- A server that has gone, or names that a server made up.
        'WITH series AS (DELETE FROM jobstats.sample_series s WHERE s."time" < $3 RETURNING s.series_id),
            hours AS (DELETE FROM jobstats.samples_1h h USING series s WHERE h.series_id = s.series_id),
            readings AS (DELETE FROM jobstats.energy e USING series s WHERE e.series_id = s.series_id)
        DELETE FROM jobstats.samples_1d d USING series s WHERE d.series_id = s.series_id',
        'DELETE FROM jobstats.used_now u USING (
            SELECT l.target_id, l.kind FROM jobstats.used_lists l GROUP BY l.target_id, l.kind HAVING max(l.last) < $3) l
        WHERE l.target_id = u.target_id AND l.kind = u.kind',
        'DELETE FROM jobstats.used_lists l WHERE l.summed AND l.last < least($3, $2)',
        -- A feed that waits for its row makes it again.
        'DELETE FROM jobstats.locks l WHERE l.name IN (
            SELECT k.name FROM jobstats.locks k
            WHERE k.name LIKE ''server %'' AND NOT EXISTS (
                SELECT FROM (
                    SELECT format(''server %L/%L'', h.cluster, h.server) AS name FROM jobstats.server_hours h WHERE h.bucket > $4
                    UNION ALL
                    SELECT format(''server %L/%L'', s.cluster, s.server) FROM jobstats.sample_series s WHERE s."time" > $4
                ) alive
                WHERE alive.name = k.name)
            FOR UPDATE OF k SKIP LOCKED)']
    LOOP
        EXECUTE statement USING hours, days, silent, idle, minutes;
        GET DIAGNOSTICS gone = ROW_COUNT;
        all_gone := all_gone + gone;
    END LOOP;
    RETURN all_gone;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_samples() IS
'Internal: deletes what is too old of sums of services, gauges and used space, and returns the number of rows.';

CREATE FUNCTION jobstats_internal.forget_events(horizon timestamptz DEFAULT jobstats_internal.kept_since('events_retention')) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    gone bigint;
BEGIN
    -- What was usual is judged by once more as long as texts may come late.
    DELETE FROM jobstats.baseline_waits u WHERE u.day < (now() - interval '60 days')::date;
    DELETE FROM jobstats.baseline_probes u WHERE u.day < (now() - interval '60 days')::date;
    DELETE FROM jobstats.baseline_largest u WHERE u.day < (now() - interval '60 days')::date;
    DELETE FROM jobstats.baseline_calls u WHERE u.day < (now() - interval '60 days')::date;
    DELETE FROM jobstats.windows w WHERE w.until < horizon;
    DELETE FROM jobstats.events e WHERE e.until < horizon;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_events(timestamptz) IS
'Internal: deletes events and maintenance windows that ended before a time, and what was usual long ago; returns the number of events.';

CREATE FUNCTION jobstats_internal.forget_rejects() RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
WITH gone AS (DELETE FROM jobstats.rejects r WHERE r.received < (SELECT jobstats_internal.kept_since('rejects_retention')) RETURNING 1)
SELECT count(*) FROM gone
$$;
COMMENT ON FUNCTION jobstats_internal.forget_rejects() IS
'Internal: deletes rejects that are older than settings.rejects_retention, and returns their number.';

CREATE FUNCTION jobstats_internal.forget_maintenance() RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
WITH gone AS (
    DELETE FROM jobstats.maintenance m
    WHERE m.began < (SELECT least(a.began, jobstats_internal.kept_since('rejects_retention')) FROM jobstats.maintenance a WHERE a.took IS NULL AND a.step = 'all')
    RETURNING 1
)
SELECT count(*) FROM gone
$$;
COMMENT ON FUNCTION jobstats_internal.forget_maintenance() IS
'Internal: deletes steps of earlier calls that are older than settings.rejects_retention, and returns their number.';

CREATE FUNCTION jobstats_internal.forget_ended_jobs() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    horizon timestamptz := jobstats_internal.kept_since('jobs_retention');
    affected bigint;
BEGIN
    WITH gone AS (
        DELETE FROM jobstats.jobs j WHERE j.ended < horizon OR j.ended IS NULL AND j.updated < horizon RETURNING j.job
    ), queued AS (
        INSERT INTO jobstats.to_match (job) SELECT DISTINCT g.job FROM gone g
    )
    SELECT count(*) INTO affected FROM gone g;
    DELETE FROM jobstats.schedulers s
    WHERE NOT EXISTS (SELECT FROM jobstats.jobs j WHERE j.scheduler = s.scheduler);
    -- Of the time before the horizon, nobody can say any more that accounting was read.
    DELETE FROM jobstats.covered c WHERE c.until < horizon;
    UPDATE jobstats.covered c SET since = horizon WHERE c.since < horizon;
    RETURN affected;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget_ended_jobs() IS
'Internal: deletes jobs that ended before settings.jobs_retention, and returns their number. The caller holds the lock on jobs, which feeds of jobs lock in another order.';

-- Maintenance by the jobs of TimescaleDB, and jobs of others that would do parts of it.

CREATE PROCEDURE jobstats_internal.maintain_job(job_id integer, config jsonb)
LANGUAGE plpgsql
AS $$
BEGIN
    CALL @extschema@.jobstats_maintain();
END
$$;
COMMENT ON PROCEDURE jobstats_internal.maintain_job(integer, jsonb) IS
'Internal: calls jobstats_maintain() as a job of TimescaleDB: SELECT add_job(''jobstats_internal.maintain_job'', ''10 minutes'');';

CREATE FUNCTION jobstats_internal.foreign_policies() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    foreign_policies text;
BEGIN
    IF to_regclass('timescaledb_information.jobs') IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE $sql$
        SELECT string_agg(format('job %s of TimescaleDB drops chunks of %s whether they have been summed or not: SELECT remove_retention_policy(''jobstats.%2$s'')',
            j.job_id, j.hypertable_name), '; ' ORDER BY j.job_id)
        FROM timescaledb_information.jobs j
        WHERE j.hypertable_schema = 'jobstats' AND j.hypertable_name <> 'realtime_10m' AND j.proc_name = 'policy_retention'
    $sql$ INTO foreign_policies;
    RETURN foreign_policies;
END
$$;
COMMENT ON FUNCTION jobstats_internal.foreign_policies() IS
'Internal: retention policies of TimescaleDB on tables of the store, which drop without the care of jobstats_maintain(), and how to remove them; NULL: there is none.';

CREATE FUNCTION jobstats_internal.failing_jobs() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    version text := (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'timescaledb');
    seen boolean;
BEGIN
    IF version IS NULL OR to_regclass('timescaledb_information.job_errors') IS NULL THEN
        RETURN NULL;
    END IF;
    -- A job that succeeded since then shows that another version of either has mended it.
    EXECUTE $sql$
        SELECT coalesce(max(e.finish_time) > (SELECT coalesce(max(s.last_successful_finish), '-infinity') FROM timescaledb_information.job_stats s), false)
        FROM timescaledb_information.job_errors e
        WHERE e.sqlerrcode = '24000' AND e.err_message LIKE 'cannot drop portal %'
    $sql$ INTO seen;
    -- Before the first job has run, and for a role that sees no job, these versions are known to fail.
    IF seen OR current_setting('server_version_num') = '150020' AND version = '2.28.3' THEN
        RETURN format('TimescaleDB %s records every job as failed on PostgreSQL %s, although its work is done',
            version, substring(current_setting('server_version') FROM '^[0-9.]+'));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION jobstats_internal.failing_jobs() IS
'Internal: says that TimescaleDB records jobs as failed that have done their work, by the errors of its jobs or by the versions; NULL: it does not, as far as is known.';

CREATE FUNCTION jobstats_internal.failing_job() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem text := jobstats_internal.failing_jobs();
    job integer;
BEGIN
    IF problem IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE $sql$
        SELECT min(j.job_id) FROM timescaledb_information.jobs j WHERE j.proc_schema = 'jobstats_internal' AND j.proc_name = 'maintain_job' AND j.scheduled
    $sql$ INTO job;
    RETURN CASE WHEN job IS NOT NULL THEN
        format('%s: let cron or pg_cron call jobstats_maintain() instead, then SELECT delete_job(%s)', problem, job) END;
END
$$;
COMMENT ON FUNCTION jobstats_internal.failing_job() IS
'Internal: the problem of a job of TimescaleDB that maintains the store where such jobs are recorded as failed, and what to use instead; NULL: there is none.';

-- health is asked every minute. Its advice on matches is found here, at most once per call of maintenance, in an hour or a day that
-- rollups know, so that it costs as much in a store of years as in one of a day.
CREATE FUNCTION jobstats_internal.advise() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    known timestamptz := (SELECT l.refreshed FROM jobstats.rollups l WHERE l.level = '10m');
    day timestamptz := (SELECT date_bin(interval '24 hours', l.refreshed, timestamptz 'epoch') FROM jobstats.rollups l WHERE l.level = '1d');
    written bigint;
BEGIN
    DELETE FROM jobstats.advice a;
    INSERT INTO jobstats.advice (cluster, status, remedy, noted)
    SELECT q.cluster, q.status, q.remedy, now()
    -- The span ends where rollups end, and lies within a day of UTC as matches do.
    FROM jobstats.status_quality(
        greatest(known - interval '1 hour', jobstats_internal.bucket(interval '24 hours', known - interval '1 microsecond')), known) q
    WHERE q.urgent
    UNION ALL
    -- Of a whole day, since who claims jobs may do so in bursts. Where no entry claims any, nothing is read.
    (SELECT DISTINCT ON (c.cluster) c.cluster, 'claimed', format('Of what was read and written on %s, %s %% was by identifiers that name jobs of other users, most of it of uid %s for jobs of %s, for example %s. If one person has both numbers, accounting and clients disagree about users; otherwise the user exports numbers of these jobs.',
        ((day - interval '24 hours') AT TIME ZONE 'UTC')::date, round(100 * c.claimed / c.of_all), c.uid, c.owner, c.example), now()
    FROM (
        SELECT t.cluster, e.uid, e.owner, min(e.name) AS example, sum(b.bytes) AS bytes, sum(sum(b.bytes)) OVER w AS of_all,
            sum(sum(b.bytes) FILTER (WHERE e.entry_id IS NOT NULL)) OVER w AS claimed
        FROM jobstats.rollup_1d r
        CROSS JOIN LATERAL (SELECT coalesce(r.read_bytes, 0) + coalesce(r.write_bytes, 0) AS bytes) b
        JOIN jobstats.targets t ON t.target_id = r.target_id
        LEFT JOIN (
            SELECT e.entry_id, e.uid, e.name, coalesce((
                SELECT coalesce(text 'uid ' || k.uid, k.user_name) FROM jobstats.job_ids k
                WHERE k.job = e.claimed ORDER BY k.started > day, k.started DESC LIMIT 1), text 'others') AS owner
            FROM jobstats.entries e WHERE e.claimed IS NOT NULL) e ON e.entry_id = r.entry_id
        WHERE r.bucket > day - interval '24 hours' AND r.bucket <= day AND EXISTS (SELECT FROM jobstats.entries k WHERE k.claimed IS NOT NULL)
        GROUP BY t.cluster, e.uid, e.owner
        WINDOW w AS (PARTITION BY t.cluster)) c
    WHERE c.uid IS NOT NULL AND 20 * c.claimed >= c.of_all AND c.claimed > 0
    ORDER BY c.cluster, c.bytes DESC, c.uid);
    GET DIAGNOSTICS written = ROW_COUNT;
    RETURN written;
END
$$;
COMMENT ON FUNCTION jobstats_internal.advise() IS
'Internal: notes in jobstats.advice what needs care in the matches of entries with jobs, and returns how much that is.';

-- What is usual at a site, by which jobstats_findings() judges. A day is judged once: work that becomes known later changes little.
-- To judge a day takes as long as to read all its increments, so each call judges a part of it: first the sizes of reads and
-- writes are summed up by job, ten minutes at a time; then some jobs at a time are valued; then the rules get their values, one at a time.
CREATE FUNCTION jobstats_internal.judge_some() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
    known timestamptz := (SELECT l.refreshed FROM jobstats.rollups l WHERE l.level = '1d');
    progress record;
    batch text[];
BEGIN
    SELECT * INTO progress FROM jobstats.finding_progress;
    IF progress.day IS NULL THEN
        INSERT INTO jobstats.finding_progress (day, sized)
        SELECT d.day, d.day - interval '1 day'
        FROM (
            SELECT s.day
            FROM generate_series(jobstats_internal.bucket(interval '24 hours', known), known - interval '29 days', interval '-1 day') AS s (day)
            WHERE s.day <= known AND NOT EXISTS (SELECT FROM jobstats.finding_days f WHERE f.day = s.day)
            OFFSET 0
        ) d
        -- OFFSET 0 keeps the planner from reading all increments to find out of which days there are some.
        WHERE EXISTS (SELECT FROM jobstats.increments i WHERE i."time" > d.day - interval '1 day' AND i."time" <= d.day OFFSET 0)
        ORDER BY d.day DESC
        LIMIT 1
        RETURNING day INTO progress.day;
        -- From now on the day is not begun again, whatever becomes of it.
        INSERT INTO jobstats.finding_days (day, finding, "values")
        SELECT progress.day, r.finding, '{}' FROM jobstats.finding_rules r WHERE progress.day IS NOT NULL;
        DELETE FROM jobstats.finding_days f WHERE f.day <= known - interval '30 days';
        RETURN CASE WHEN progress.day IS NOT NULL THEN 0 END;
    ELSIF progress.sized < progress.day THEN
        INSERT INTO jobstats.finding_sizes AS s (job, reads, small_reads, writes, small_writes)
        SELECT e.job, coalesce(sum(i.reads), 0), coalesce(sum(i.small_reads), 0), coalesce(sum(i.writes), 0), coalesce(sum(i.small_writes), 0)
        FROM (
            -- The first 16 elements are those of at most 32 KiB.
            SELECT u.entry_id, sum(jobstats_internal.sized(u.sizes, 0, 32)) AS reads,
                sum(jobstats_internal.sized(u.sizes, 0, 16)) AS small_reads,
                sum(jobstats_internal.sized(u.sizes, 1, 32)) AS writes,
                sum(jobstats_internal.sized(u.sizes, 1, 16)) AS small_writes
            FROM jobstats.increments u
            WHERE u."time" > progress.sized AND u."time" <= progress.sized + interval '10 minutes'
            GROUP BY u.entry_id
        ) i
        JOIN jobstats.entries e ON e.entry_id = i.entry_id
        WHERE e.job IS NOT NULL
        GROUP BY e.job
        ON CONFLICT (job) DO UPDATE SET reads = s.reads + excluded.reads, small_reads = s.small_reads + excluded.small_reads,
            writes = s.writes + excluded.writes, small_writes = s.small_writes + excluded.small_writes;
        UPDATE jobstats.finding_progress SET sized = progress.sized + interval '10 minutes';
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
COMMENT ON FUNCTION jobstats_internal.judge_some() IS
'Internal: takes the next step of valuing the jobs of a day, the newest of the last 30 that rollups know and that is not valued yet, and of what is usual by then; returns the number of jobs valued in it, NULL: no day was left.';

CREATE FUNCTION jobstats_internal.judge() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN jobstats_internal.judge_some();
EXCEPTION
    WHEN lock_not_available THEN
        RAISE;
    WHEN OTHERS THEN
        -- Tried again, the day would most likely fail again, in each call for 30 days.
        DELETE FROM jobstats.finding_progress;
        DELETE FROM jobstats.finding_sizes;
        PERFORM jobstats_internal.end_step('a day is not judged any further: ' || SQLERRM);
        RETURN NULL;
END
$$;
COMMENT ON FUNCTION jobstats_internal.judge() IS
'Internal: what judge_some() does, as a step of maintenance; gives a day up that fails.';

CREATE FUNCTION jobstats_internal.feeding() RETURNS TABLE (pid integer, role text, since timestamptz, idle_since timestamptz)
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_feeding_wrapper';
COMMENT ON FUNCTION jobstats_internal.feeding() IS
'Internal: the sessions that hold locks of a feed, the oldest transaction first, for who may read health or feed; idle_since NULL: at work.';

CREATE FUNCTION jobstats_internal.require_top_level(routine text) RETURNS void
LANGUAGE c VOLATILE STRICT AS 'MODULE_PATHNAME', 'jobstats_require_top_level_wrapper';
COMMENT ON FUNCTION jobstats_internal.require_top_level(text) IS
'Internal: fails with 25001 inside of a transaction block, and with 25006 on a standby.';

CREATE FUNCTION jobstats_internal.begin_maintenance() RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_begin_maintenance_wrapper';
COMMENT ON FUNCTION jobstats_internal.begin_maintenance() IS
'Internal: waits until no other maintenance is at work, as long as lock_timeout allows.';

CREATE FUNCTION jobstats_internal.end_maintenance() RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'jobstats_end_maintenance_wrapper';
COMMENT ON FUNCTION jobstats_internal.end_maintenance() IS
'Internal: lets the next maintenance begin.';
