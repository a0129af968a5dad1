-- Retention, indexes and, without TimescaleDB, the partitions of the coming days.
--
-- Who waits for a lock on a table makes all readers and feeds of that table wait behind itself. So functions that lock tables
-- wait for 300 ms, and maintenance calls them again later.

CREATE FUNCTION jobstats_internal.add_partitions(relation text, unit text, span_from timestamptz, span_to timestamptz)
RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET lock_timeout = '300ms'
AS $$
DECLARE
    owner name;
    key name;
    low timestamptz;
    high timestamptz;
    name text;
    strays boolean;
    held boolean := false;
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
    EXECUTE format('SELECT EXISTS (SELECT FROM jobstats.%I)', relation || '_default') INTO strays;
    FOR low IN SELECT * FROM generate_series(date_trunc(unit, span_from), span_to, ('1 ' || unit)::interval) LOOP
        high := low + ('1 ' || unit)::interval;
        name := format('%s_%s', relation, to_char(low, left('YYYYMMDD', CASE unit WHEN 'year' THEN 4 WHEN 'month' THEN 6 ELSE 8 END)));
        CONTINUE WHEN to_regclass(format('jobstats.%I', name)) IS NOT NULL;
        -- A partition cannot be created for a span that has rows in the default partition already. Such rows
        -- stay there.
        IF strays THEN
            EXECUTE format('SELECT EXISTS (SELECT FROM jobstats.%I WHERE %I >= $1 AND %2$I < $2)', relation || '_default', key)
                INTO held USING low, high;
        END IF;
        CONTINUE WHEN held;
        BEGIN
            EXECUTE format('CREATE TABLE jobstats.%I PARTITION OF jobstats.%I FOR VALUES FROM (%L) TO (%L)',
                name, relation, low, high);
        EXCEPTION WHEN check_violation THEN
            -- A feed has committed rows of the span to the default partition in the meantime.
            CONTINUE;
        END;
        IF owner <> current_user THEN
            EXECUTE format('ALTER TABLE jobstats.%I OWNER TO %I', name, owner);
        END IF;
        made := made + 1;
    END LOOP;
    RETURN made;
END
$$;
COMMENT ON FUNCTION jobstats_internal.add_partitions(text, text, timestamptz, timestamptz) IS
'Internal: makes the missing partitions, a day, month or year (UTC) each, of a table of the store for a span of time and returns their number; none where TimescaleDB keeps it.';

CREATE FUNCTION jobstats_internal.forget() RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
<<forget>>
DECLARE
    since timestamptz := (SELECT r.dropped FROM jobstats.refresh r);
    until timestamptz;
    kept integer;
BEGIN
    -- Increments that rollups have yet to sum are kept, however old they are. So are increments that a feed may
    -- change that does not know a horizon yet.
    UPDATE jobstats.refresh r
    SET dropped = greatest(r.dropped, least(r.horizon, (
        SELECT jobstats_internal.bucket(interval '1 day', least(min(l.refreshed), (SELECT min(d.span_from) FROM jobstats.dirty d)))
        FROM jobstats.rollups l)))
    WHERE r.settled = r.number
    RETURNING r.dropped INTO forget.until;
    -- A rollup is kept at least as long as the rollups that it sums.
    UPDATE jobstats.rollups l
    SET dropped = greatest(l.dropped, least(
        jobstats_internal.bucket(interval '1 day', now() - (SELECT max(f.retention) FROM jobstats.rollups f WHERE f.width <= l.width)), r.dropped,
        (SELECT jobstats_internal.bucket(interval '1 day', min(n.refreshed)) FROM jobstats.rollups n WHERE n.width > l.width)))
    FROM jobstats.refresh r
    WHERE NOT EXISTS (SELECT FROM jobstats.rollups f WHERE f.width <= l.width AND f.retention IS NULL);

    -- The spans in which targets were observed are kept as long as there are rollups.
    WITH fresh AS (
        SELECT o.target_id, unnest(range_agg(tstzrange(o.since, o."time", '(]'))) AS span
        FROM jobstats.observations o
        WHERE o."time" > forget.since AND o."time" <= forget.until AND o.since IS NOT NULL
        GROUP BY o.target_id
    ), touched AS (
        DELETE FROM jobstats.observed d USING fresh f
        WHERE d.target_id = f.target_id AND d.until = lower(f.span)
        RETURNING d.target_id, tstzrange(d.since, d.until, '(]') AS span
    )
    INSERT INTO jobstats.observed (target_id, since, until)
    SELECT a.target_id, lower(a.span), upper(a.span)
    FROM (
        SELECT b.target_id, unnest(range_agg(b.span)) AS span
        FROM (TABLE fresh UNION ALL TABLE touched) b GROUP BY b.target_id) a;
    GET DIAGNOSTICS kept = ROW_COUNT;
    DELETE FROM jobstats.observed d WHERE d.until <= (SELECT min(l.dropped) FROM jobstats.rollups l);
    DELETE FROM jobstats.coarse c WHERE c.span_to <= (SELECT min(l.dropped) FROM jobstats.rollups l);
    RETURN kept;
END
$$;
COMMENT ON FUNCTION jobstats_internal.forget() IS
'Internal: says up to where increments, observations and rollups are too old to be kept, and keeps in observed when targets were observed. From then on nobody reads what is older; jobstats_internal.drop_before() drops it.';

-- The readings of each of these are compared with the one before.
CREATE FUNCTION jobstats_internal.compared_by(relation text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
RETURN CASE WHEN relation IN ('raw', 'target_readings') THEN 'r.target_id'
    WHEN relation = 'server_readings' THEN 'r.cluster, r.server, r.service' END;
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

CREATE FUNCTION jobstats_internal.pack_items(item jsonb, relation text) RETURNS jsonb
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
-- Packing again works for a few seconds per call; what feeds have changed may be very much.
SELECT jsonb_build_array(jsonb_build_object('do', 'nothing', 'step', 'columns of ' || pack_items.relation, 'records', true))
    || CASE
        WHEN NOT (item ->> 'again')::boolean THEN item
        WHEN l.until > clock_timestamp() THEN item || jsonb_build_object('until', l.until)
        ELSE jsonb '[]' END
FROM (SELECT coalesce((item ->> 'until')::timestamptz, clock_timestamp() + interval '10 seconds') AS until) l
WHERE pack_items.relation IS NOT NULL
$$;
COMMENT ON FUNCTION jobstats_internal.pack_items(jsonb, text) IS
'Internal: the items that record that a chunk of a relation was packed and go on with the next one; NULL: none was packed.';

CREATE FUNCTION jobstats_internal.summarize_ranges() RETURNS integer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET lock_timeout = '500ms'
AS $$
DECLARE
    index regclass;
    summarized integer := 0;
BEGIN
    FOR index IN
        SELECT x.indexrelid
        FROM pg_class t
        JOIN pg_inherits h ON h.inhparent = t.oid
        JOIN pg_stat_user_tables s ON s.relid = h.inhrelid AND s.n_ins_since_vacuum > 0
        JOIN pg_index x ON x.indrelid = h.inhrelid
        JOIN pg_class c ON c.oid = x.indexrelid
        JOIN pg_am a ON a.oid = c.relam
        WHERE t.relnamespace = 'jobstats'::regnamespace AND a.amname = 'brin'
        ORDER BY c.relname
    LOOP
        BEGIN
            summarized := summarized + brin_summarize_new_values(index);
        EXCEPTION WHEN lock_not_available THEN
            -- VACUUM holds the lock. An automatic VACUUM would cancel itself if this waited for a second.
            CONTINUE;
        END;
    END LOOP;
    RETURN summarized;
END
$$;
COMMENT ON FUNCTION jobstats_internal.summarize_ranges() IS
'Internal: enters the ranges of pages with new rows into the indexes by time, and returns their number. Until VACUUM does that, which on a large day may be hours later, every query of recent times reads all of them.';
