#!/usr/bin/env bash
# What a day takes in the store, per record that Lustre printed (an entry of a target's text), beside tables as others
# keep it: a wide row for each such record. With TimescaleDB's Community edition also what is left of that in columns. Then
# what each value of settings.keep saves, in stores of the same texts. Writes bench/storage.md.
#
#   JOBSTATS_STORAGE_JOBS    jobs of the day (10000)
. "$(dirname "$0")/../scripts/lib.sh"
. bench/simulated.sh

jobs=${JOBSTATS_STORAGE_JOBS:-10000}
from=$(date -u -d yesterday +%Y-%m-%d)

scripts/install.sh all
start_cluster storage max_wal_size=1GB shared_buffers=1GB

# open_store DATABASE KEEP
# A store that keeps so much of increments, with partitions for the day. Sets url.
open_store() {
    new_store "$cluster" "$1" "raw_retention => '10 days', compress_after => '10 days'" >/dev/null
    url=$(scripts/cluster.sh url "$cluster" "$1")
    sql -c "UPDATE jobstats.settings SET keep = '$2'" \
        -c "SELECT jobstats_internal.add_partitions(relation, 'day', '$from', '$from'::timestamptz)
            FROM unnest('{raw,observations,increments}'::text[]) relation" >/dev/null
}

open_store storage everything
awk -v from="$(date -u -d "$from" +%s)" -v jobs="$jobs" -v mdts=4 -v osts=24 -v filesystem=puhti -f bench/work.awk >"$cluster/work.csv"
simulate texts "${from}T00:00:00Z" 24 --preset puhti --undisturbed --layout 2.16 --work "$cluster/work.csv"
feed_day "${from}T00:00:00Z" 10 texts
sql -c 'CALL jobstats_maintain()'

timescale=$(sql -c "SELECT count(*) FROM pg_extension WHERE extname = 'timescaledb'")
community=$(sql -c "SELECT coalesce(current_setting('timescaledb.license', true) = 'timescale', false)")
sql -v timescale="$timescale" -f bench/storage.sql
sql -c 'VACUUM ANALYZE'

# Bytes of a table and of its indexes, whatever it is divided into.
relations() {
    if [ "$timescale" = 0 ]; then
        cat <<-'SQL'
			CREATE TEMPORARY VIEW sizes AS
			SELECT c.relname AS name, sum(pg_table_size(p.relid)) AS bytes, sum(pg_indexes_size(p.relid)) AS indexes
			FROM pg_class c CROSS JOIN LATERAL pg_partition_tree(c.oid) p
			WHERE c.relkind = 'p' GROUP BY c.relname
		SQL
    else
        cat <<-'SQL'
			CREATE TEMPORARY VIEW sizes AS
			SELECT h.name, s.table_bytes + s.toast_bytes AS bytes, s.index_bytes AS indexes
			FROM (
			    SELECT hypertable_name AS name, hypertable_schema AS schema, hypertable_name AS table
			    FROM timescaledb_information.hypertables WHERE hypertable_schema <> '_timescaledb_internal'
			    UNION ALL
			    SELECT view_name, materialization_hypertable_schema, materialization_hypertable_name
			    FROM timescaledb_information.continuous_aggregates
			) h CROSS JOIN LATERAL hypertable_detailed_size(format('%I.%I', h.schema, h.table)) s
		SQL
    fi
    cat <<-'SQL'
		UNION ALL
		SELECT c.relname, pg_table_size(c.oid), pg_indexes_size(c.oid) FROM pg_class c
		WHERE c.oid = 'jobstats.entries'::regclass OR c.relname IN ('only_mdt', 'only_ost')
		    OR c.relname IN ('everything', 'numbers', 'usual') AND NOT c.relhassubclass;
	SQL
}

# sizes FORM
# Rows of the report: each table with its bytes per record, table and indexes apart. They are kept for the goals.
sizes() {
    { relations && cat && echo ';'; } <<-SQL | sql -f - -F ' | ' | sed 's/.*/| & |/'
		SET client_min_messages = warning;
		CREATE TABLE IF NOT EXISTS figures (form text, n integer, label text, bytes numeric, indexes numeric);
		INSERT INTO figures SELECT '$1', w.n, w.label, sum(s.bytes) / r.records, sum(s.indexes) / r.records
		FROM (VALUES
		    (1, 'raw text (kept for days)', '{raw}'::text[]),
		    (2, 'observations', '{observations}'),
		    (3, 'entries', '{entries}'),
		    (4, 'increments', '{increments}'),
		    (5, 'rollup_10m', '{rollup_10m}'),
		    (6, 'rollup_1h', '{rollup_1h}'),
		    (7, 'rollup_1d', '{rollup_1d}'),
		    (8, 'rollup_10m_users', '{rollup_10m_users}'),
		    (9, 'rollup_1h_users', '{rollup_1h_users}'),
		    (10, 'rollup_1d_users', '{rollup_1d_users}'),
		    (11, '**increments and rollups**', '{increments,rollup_10m,rollup_1h,rollup_1d,rollup_10m_users,rollup_1h_users,rollup_1d_users,rollup_10m_accounts,rollup_1h_accounts,rollup_1d_accounts,rollup_1h_members,rollup_1d_members}'),
		    (12, 'increments of MDTs and OSTs apart', '{only_mdt,only_ost}'),
		    (13, '**usual**: text for keys; calls and sum of each operation', '{usual}'),
		    (14, '**numbers**: the same with numbers for keys, no index but by time', '{numbers}'),
		    (15, '**everything**: with min, max, sumsq and histograms as well', '{everything}')
		) w (n, label, names)
		JOIN sizes s ON s.name = ANY (w.names)
		CROSS JOIN (SELECT sum(entries) AS records FROM jobstats.observations) r
		WHERE '$1' = 'rows' OR w.n BETWEEN 4 AND 11 OR w.n > 12
		GROUP BY w.n, w.label, r.records;
		SELECT f.label, round(f.bytes, 1), round(f.indexes, 1), round(f.bytes + f.indexes, 1)
		FROM figures f WHERE f.form = '$1' ORDER BY f.n
	SQL
}

# What of increments takes what, where they are in columns.
columns_in_chunks() {
    sql <<-'SQL'
		CREATE TABLE stored (what text, bytes numeric);
		SELECT format('INSERT INTO stored SELECT %L, sum(pg_column_size(%I)) FROM %I.%I',
		    CASE WHEN a.attname ~ '^_ts_meta' OR a.attname = 'target_id' THEN 'what batches are found by'
		        WHEN a.attname IN ('time', 'since', 'observed', 'last_active') THEN 'times'
		        WHEN a.attname IN ('entry_id', 'detail') THEN a.attname
		        WHEN a.attname ~ '_hist$' THEN 'histograms' ELSE 'operations' END, a.attname, n.nspname, c.relname)
		FROM _timescaledb_catalog.chunk k
		JOIN _timescaledb_catalog.hypertable h ON h.id = k.hypertable_id AND h.schema_name = 'jobstats' AND h.table_name = 'increments'
		JOIN _timescaledb_catalog.chunk p ON p.id = k.compressed_chunk_id
		JOIN pg_namespace n ON n.nspname = p.schema_name
		JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = p.table_name
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \gexec
		SELECT 'Of the columns of increments: ' || string_agg(format('%s %s', s.what, round(s.bytes / r.records, 1)), ', ' ORDER BY s.bytes DESC)
		FROM (SELECT what, sum(bytes) AS bytes FROM stored GROUP BY what) s,
		    (SELECT sum(entries) AS records FROM jobstats.observations) r;
	SQL
}

# Whether the goals are met, and what rows cannot go below.
goals() {
    sql <<-'SQL'
		SET client_min_messages = warning;
		CREATE TABLE IF NOT EXISTS stored (what text, bytes numeric);
		CREATE FUNCTION pg_temp.least_bytes(OUT fixed numeric, OUT numbers numeric) LANGUAGE plpgsql AS $$
		DECLARE
		    relation text;
		    columns integer;
		    filled text;
		    n bigint;
		    held bigint;
		BEGIN
		    fixed := 0; numbers := 0;
		    FOREACH relation IN ARRAY '{increments,rollup_10m,rollup_1h,rollup_1d,rollup_10m_users,rollup_1h_users,rollup_1d_users,rollup_10m_accounts,rollup_1h_accounts,rollup_1d_accounts,rollup_1h_members,rollup_1d_members}'::text[] LOOP
		        SELECT count(*), string_agg(quote_ident(a.attname), ', ') FILTER (WHERE o.operation IS NOT NULL) INTO columns, filled
		        FROM pg_attribute a LEFT JOIN jobstats_operations() o ON a.attname IN (o.operation, o.operation || '_usecs')
		        WHERE a.attrelid = format('jobstats.%I', relation)::regclass AND a.attnum > 0 AND NOT a.attisdropped;
		        EXECUTE format('SELECT count(*), sum(num_nonnulls(%s)) FROM jobstats.%I', filled, relation) INTO n, held;
		        -- A pointer; a header with a bit for each column; times and keys.
		        fixed := fixed + n * (4 + ceil((23 + ceil(columns / 8.0)) / 8) * 8 + 48);
		        numbers := numbers + held * 8;
		    END LOOP;
		END
		$$;
		WITH f AS (
		    SELECT form, max(bytes + indexes) FILTER (WHERE n = 11) AS ours, max(bytes + indexes) FILTER (WHERE n = 13) AS usual,
		        max(bytes + indexes) FILTER (WHERE n = 15) AS everything
		    FROM figures GROUP BY form
		), least AS (
		    SELECT l.fixed / r.records AS fixed, (l.fixed + l.numbers) / r.records AS filled
		    FROM pg_temp.least_bytes() l, (SELECT sum(entries) AS records FROM jobstats.observations) r
		)
		SELECT format(E'| increments and rollups | goal | |\n|---|---|---:|\n| in rows, of the usual layout in rows | at most 10 %% | %s |',
		        CASE WHEN ours <= usual / 10 THEN round(100 * ours / usual) || ' %' ELSE format('**%s %%**', round(100 * ours / usual)) END)
		    || format(E'\n| in rows, of everything in rows | | %s %% |', round(100 * ours / everything))
		FROM f WHERE form = 'rows'
		UNION ALL
		SELECT format('| in columns, of the usual layout in columns | under 100 %% | %s |',
		        CASE WHEN c.ours < c.usual THEN round(100 * c.ours / c.usual) || ' %' ELSE format('**%s %%**', round(100 * c.ours / c.usual)) END)
		    || format(E'\n| in columns, of everything in columns | | %s %% |\n| in columns, of the usual layout in rows | | %s %% |',
		        round(100 * c.ours / c.everything), round(100 * c.ours / r.usual))
		FROM f c, f r WHERE c.form = 'columns' AND r.form = 'rows'
		UNION ALL
		SELECT format(E'\nBold: missed. There is a lower limit for rows: the pointers, headers, times and keys of all these rows take %s bytes per record, %s %% of the usual layout; with their numbers, eight bytes each, they take %s bytes, %s %%.',
		    round(fixed, 1), round(100 * fixed / usual), round(filled, 1), round(100 * filled / usual))
		FROM f, least WHERE form = 'rows';
		SELECT 'The usual layout knows neither bounds, sums of squares and histograms (of increments in columns: detail, histograms) nor when an entry was last active.';
	SQL
}

# What a column of increments takes, of its row.
columns() {
    sql <<-'SQL'
		SELECT format('a row of increments takes %s bytes: %s', round(avg(pg_column_size(i.*))), concat_ws(', ',
		    format('%s detail', round(avg(coalesce(pg_column_size(i.detail), 0)))),
		    format('%s histograms', round(avg(coalesce(pg_column_size(i.read_bytes_hist), 0)
		        + coalesce(pg_column_size(i.write_bytes_hist), 0)))), '45 times and keys, the rest header and operations'))
		FROM jobstats.increments i;
	SQL
}

# In columns: what others keep in the order that packs it best, and also by what is asked for most.
pack_others() {
    sql -q <<-'SQL'
		SET client_min_messages = warning;
		ALTER TABLE usual SET (timescaledb.compress, timescaledb.compress_segmentby = 'target', timescaledb.compress_orderby = '"time"');
		ALTER TABLE numbers SET (timescaledb.compress, timescaledb.compress_segmentby = 'target_id', timescaledb.compress_orderby = 'entry_id, "time"');
		ALTER TABLE everything SET (timescaledb.compress, timescaledb.compress_segmentby = 'target_id', timescaledb.compress_orderby = 'entry_id, "time"');
		SELECT count(compress_chunk(c)) FROM unnest('{usual,numbers,everything}'::regclass[]) t, show_chunks(t) c;
	SQL
}

pack_store() {
    sql -q <<-'SQL'
		SELECT count(compress_chunk(c)) FROM unnest('{jobstats.increments,jobstats.rollup_10m,jobstats.rollup_1h,jobstats.rollup_1d,
		    jobstats.rollup_10m_users,jobstats.rollup_1h_users,jobstats.rollup_1d_users,
		    jobstats.rollup_10m_accounts,jobstats.rollup_1h_accounts,jobstats.rollup_1d_accounts,jobstats.rollup_1h_members,jobstats.rollup_1d_members}'::regclass[]) t, show_chunks(t) c;
	SQL
}

report() {
    sql <<-'SQL'
		SELECT format('%s records in %s texts; %s %% of them did something, %s operations each; %s rows of increments (%s of 10 are divided at an edge of ten minutes), %s, %s and %s of rollups.',
		    o.entries, o.n, round(100.0 * o.active / o.entries), round(i.operations, 1), i.n, round(10.0 * (i.n - o.active) / i.n, 1),
		    (SELECT count(*) FROM jobstats.rollup_10m), (SELECT count(*) FROM jobstats.rollup_1h), (SELECT count(*) FROM jobstats.rollup_1d))
		FROM (SELECT count(*) AS n, sum(entries) AS entries, sum(active) AS active FROM jobstats.observations) o,
		    (SELECT count(*) AS n, avg((SELECT count(*) FROM jsonb_each(to_jsonb(i)) c JOIN jobstats_operations() p ON p.operation = c.key
		        WHERE c.value <> 'null' AND p.kind = 'requests')) AS operations FROM jobstats.increments i) i;
	SQL
    columns
    printf '\nBytes per record:\n\n| | table | indexes | all |\n|---|---:|---:|---:|\n'
    sizes rows
    if [ "$community" = t ]; then
        pack_others >/dev/null
        pack_store >/dev/null
        printf '\nIn columns:\n\n| | table | indexes | all |\n|---|---:|---:|---:|\n'
        sizes columns
        echo
        columns_in_chunks
    fi
    printf '\n## Goals\n\n'
    goals
}

# keep_of KEEP
# The figures of a store that keeps so much, fed with the same texts.
keep_of() {
    local day
    day=$(scripts/cluster.sh url "$cluster" storage)
    open_store "${1/ /_}" "$1"
    create_texts texts
    psql -q "$day" -c 'COPY texts TO STDOUT (FORMAT binary)' | sql -c 'COPY texts FROM STDIN (FORMAT binary)'
    feed_day "${from}T00:00:00Z" 10 texts
    sql -c 'CALL jobstats_maintain()' -c 'VACUUM ANALYZE'
    sizes rows >/dev/null
    if [ "$community" = t ]; then
        pack_store >/dev/null
        sizes columns >/dev/null
    fi
    sql -c 'TABLE figures' | psql -q "$day" -c "CREATE TABLE \"figures ${1}\" (LIKE figures)" -c "COPY \"figures ${1}\" FROM STDIN (DELIMITER '|', NULL '')"
    url=$day
}

# Bytes per record of the store with each value of settings.keep, and whether the goals of counts are met.
keeps() {
    printf '\n## What is kept\n\n'
    cat <<-'TEXT'
		Stores of the same texts, with each value of `jobstats.settings.keep`. Bytes per record, with indexes:

		| keep | stored in | increments | rollups by entry | by user | all | of the usual layout | goal |
		|---|---|---:|---:|---:|---:|---:|---:|
	TEXT
    sql -F ' | ' <<-'SQL' | sed 's/.*/| & |/'
		WITH usual AS (SELECT form, bytes + indexes AS bytes FROM figures WHERE n = 13),
		store (number, keep, form, n, bytes) AS (
		    SELECT 1, 'everything', form, n, bytes + indexes FROM figures
		    UNION ALL SELECT 2, 'no detail', form, n, bytes + indexes FROM "figures no detail"
		    UNION ALL SELECT 3, 'counts', form, n, bytes + indexes FROM "figures counts"
		), part AS (
		    SELECT number, keep, form, sum(bytes) FILTER (WHERE n = 4) AS increments, sum(bytes) FILTER (WHERE n BETWEEN 5 AND 7) AS rollups,
		        sum(bytes) FILTER (WHERE n BETWEEN 8 AND 10) AS users, sum(bytes) FILTER (WHERE n = 11) AS everything
		    FROM store GROUP BY number, keep, form
		), goal (keep, form, percent) AS (VALUES ('counts', 'rows', 30), ('counts', 'columns', 80))
		SELECT format('`%s`', p.keep), p.form, round(p.increments, 1), round(p.rollups, 1), round(p.users, 1), round(p.everything, 1),
		    format(CASE WHEN 100 * p.everything / u.bytes > g.percent THEN '**%s %%**' ELSE '%s %%' END, round(100 * p.everything / u.bytes)),
		    coalesce('at most ' || g.percent || ' %', '')
		FROM part p JOIN usual u ON u.form = p.form LEFT JOIN goal g ON g.keep = p.keep AND g.form = p.form
		ORDER BY p.form DESC, p.number
	SQL
}

{
    printf '# Storage\n\n%s, %s, commit %s; PostgreSQL %s%s. ' 'make bench-storage' "$(date -u +%F)" \
        "$(git rev-parse --short HEAD)" "$(pg_major)" "$(sql -c "SELECT ', TimescaleDB ' || extversion FROM pg_extension WHERE extname = 'timescaledb'")"
    printf 'A day of %s jobs on 4 MDTs and 24 OSTs of Lustre 2.16, read every two minutes: ' "$jobs"
    report
    keep_of 'no detail'
    keep_of counts
    keeps
} | tee bench/storage.md
