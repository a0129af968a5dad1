-- Retention, indexes and, without TimescaleDB, the partitions of the coming days.
--
-- All readers and feeds of a table queue behind a session that waits for a lock on it. So functions that lock tables wait for
-- 300 ms, and maintenance calls them again later.

CREATE FUNCTION jobstats_internal.fill_partition(
    relation text, partition text, owner name, key name, low timestamptz, high timestamptz, portion bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    rows_from text := format('FROM jobstats.%I d WHERE d.%I >= $1 AND d.%2$I < $2', relation || '_default', key);
BEGIN
    -- From here on no session has a plan that misses rows in the partition. Only the table is locked: rows are written and read through it.
    EXECUTE format('LOCK TABLE ONLY jobstats.%I', relation);
    IF to_regclass(format('jobstats.%I', partition)) IS NULL THEN
        EXECUTE format('CREATE TABLE jobstats.%I (LIKE jobstats.%I INCLUDING ALL EXCLUDING INDEXES EXCLUDING COMMENTS)', partition, relation);
        EXECUTE format('ALTER TABLE jobstats.%I OWNER TO %I', partition, owner);
    ELSE
        EXECUTE format('ALTER TABLE jobstats.%I DETACH PARTITION jobstats.%I', relation, partition);
    END IF;
    -- Of more rows than a portion only the earliest are moved: the partition ends behind these until the next call.
    EXECUTE format('SELECT coalesce((SELECT d.%I + interval ''1 microsecond'' %s ORDER BY d.%1$I OFFSET greatest($3, 1) - 1 LIMIT 1), $2)', key, rows_from)
        INTO high USING low, high, portion;
    EXECUTE format('WITH gone AS (DELETE %s RETURNING d.*) INSERT INTO jobstats.%I SELECT * FROM gone', rows_from, partition) USING low, high;
    EXECUTE format('ALTER TABLE jobstats.%I ATTACH PARTITION jobstats.%I FOR VALUES FROM (%L) TO (%L)', relation, partition, low, high);
END
$$;
COMMENT ON FUNCTION jobstats_internal.fill_partition IS
'Internal: moves rows of [low, high), at most a portion, from the default partition of a table into another partition, which it creates if missing.';

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
    -- All sessions wait while rows move.
    room bigint := 200000;
    moved bigint := 0;
    made integer := 0;
BEGIN
    IF NOT isfinite(span_from) OR NOT isfinite(span_to) OR span_to - span_from > interval '100000 days' THEN
        RAISE invalid_parameter_value USING MESSAGE = format('invalid span of partitions: %s to %s', span_from, span_to),
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
        PERFORM jobstats_internal.fill_partition(relation, name, owner, key, low, high, room);
        made := made + is_new::integer;
        room := room - greatest(strays, 5000);
        moved := moved + strays;
    END LOOP;
    -- A snapshot from before the end of this transaction would see moved rows in neither table.
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
COMMENT ON FUNCTION jobstats_internal.add_partitions IS
'Internal: creates the missing partitions (a day, month or year of UTC each) of a table for a span, unless it is a hypertable, and returns their number. moving: also for days with rows in the default partition, of which 200,000 move per call.';

-- Rows of these are compared with their predecessors.
CREATE FUNCTION jobstats_internal.compared_by(relation text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
RETURN CASE WHEN relation IN ('raw', 'target_snapshots') THEN 'r.target_id'
    WHEN relation = 'server_snapshots' THEN 'r.cluster, r.server, r.service' END;
COMMENT ON FUNCTION jobstats_internal.compared_by IS
'Internal: the key by which rows r of a table are compared with their predecessors; NULL: they are not compared.';

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
    -- The next snapshot is compared with this one. A backlog may be older than raw_retention while it is sent.
    EXECUTE format($sql$
        SELECT coalesce(array_agg(o.key), '{}'), coalesce(array_agg(o."time"), '{}')
        FROM (
            SELECT %1$s, ROW(%1$s)::text AS key, max(r."time") AS "time" FROM jobstats.%2$I r
            -- Text is retained no longer than its observation.
            WHERE r."time" < $1 AND r."time" > coalesce((SELECT f.dropped FROM jobstats.refresh f), timestamptz '-infinity')
            GROUP BY %1$s
        ) o
        WHERE NOT EXISTS (SELECT FROM jobstats.%2$I r WHERE (%1$s) = (%3$s) AND r."time" >= $1)
    $sql$, key, relation, replace(key, 'r.', 'o.')) INTO keys, times USING horizon;
END
$$;
COMMENT ON FUNCTION jobstats_internal.newest_texts IS
'Internal: the key and time of the newest snapshot of each target or service without any since the horizon; empty for tables whose rows are not compared.';

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
COMMENT ON FUNCTION jobstats_internal.drop_span IS
'Internal: drops a partition, or the chunk of a span if part is NULL. If it has snapshots of these keys and times, it stays with these rows alone. Returns whether it was dropped.';

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
COMMENT ON FUNCTION jobstats_internal.drop_before IS
'Internal: drops the chunks or partitions of a table that end before the horizon, and returns their number. The newest snapshot of a target or service stays.';

-- TimescaleDB warns of chunks that are too small for compression; no action is possible or needed.
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
    -- A compressed chunk that has uncompressed rows is partial: bit 8 of its status. Feeds note in jobstats.dirty where
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
COMMENT ON FUNCTION jobstats_internal.compress_before IS
'Internal: compresses one more chunk that ends before the horizon, where TimescaleDB can, and returns its table; NULL: no chunk is left. again: a compressed chunk that has got rows since, and is not being changed now.';

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
COMMENT ON FUNCTION jobstats_internal.pack_columns IS
'Internal: compresses one more old chunk, and records its table; NULL: no chunk is left. again: a compressed chunk that has got rows since.';

-- Without statistics the planner ignores an index by time. A crash resets the statistics of VACUUM and ANALYZE: then each table
-- is analyzed once more.
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
COMMENT ON FUNCTION jobstats_internal.summarize_ranges IS
'Internal: summarizes new page ranges of the indexes by time, and returns their number: until VACUUM does so, hours later, each query of recent times reads all of them. Analyzes tables without statistics.';
