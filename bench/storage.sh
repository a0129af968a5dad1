#!/usr/bin/env bash
# What a day takes in the store, per record that Lustre printed (an entry of a target's text), beside tables as others
# keep it: a wide row for each such record. With TimescaleDB's Community edition also what is left of that in columns.
# Writes bench/storage.md.
#
#   JOBSTATS_STORAGE_JOBS    jobs of the day (3000)
. "$(dirname "$0")/../scripts/lib.sh"
. bench/simulated.sh

jobs=${JOBSTATS_STORAGE_JOBS:-3000}
from=$(date -u -d yesterday +%Y-%m-%d)

scripts/install.sh
cargo build --release -p jobstats-simulator
start_cluster storage max_wal_size=1GB shared_buffers=1GB
new_store "$cluster" storage "raw_retention => '10 days', compress_after => '10 days'"
url=$(scripts/cluster.sh url "$cluster" storage)
sql -c "SELECT jobstats_add_partitions(relation, 'day', '$from', '$from'::timestamptz)
    FROM unnest('{raw,observations,increments}'::text[]) relation" >/dev/null
awk -v from="$(date -u -d "$from" +%s)" -v jobs="$jobs" -v mdts=4 -v osts=24 -v filesystem=puhti -f bench/work.awk >"$cluster/work.csv"
simulate texts "${from}T00:00:00Z" 24 --preset puhti --undisturbed --layout 2.16 --work "$cluster/work.csv"
feed_day "${from}T00:00:00Z" 10 texts
sql -c 'DROP TABLE texts' -c 'CALL jobstats_maintain()'

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

# Rows of the report: each table with its bytes per record, table and indexes apart.
sizes() {
    { relations && cat && echo ';'; } <<-'SQL' | sql -f - -F ' | ' | sed 's/.*/| & |/'
		SELECT w.label, round(sum(s.bytes) / r.records, 1), round(sum(s.indexes) / r.records, 1),
		    round(sum(s.bytes + s.indexes) / r.records, 1)
		FROM (VALUES
		    (1, 'raw text (kept for days)', '{raw}'::text[]),
		    (2, 'observations', '{observations}'),
		    (3, 'entries', '{entries}'),
		    (4, 'increments', '{increments}'),
		    (5, 'rollup_10m', '{rollup_10m}'),
		    (6, 'rollup_1h', '{rollup_1h}'),
		    (7, 'rollup_1d', '{rollup_1d}'),
		    (8, '**increments and rollups**', '{increments,rollup_10m,rollup_1h,rollup_1d}'),
		    (9, 'increments of MDTs and OSTs apart', '{only_mdt,only_ost}'),
		    (10, '**usual**: text for keys; calls and sum of each operation', '{usual}'),
		    (11, '**numbers**: the same with numbers for keys, no index but by time', '{numbers}'),
		    (12, '**everything**: with min, max, sumsq and histograms as well', '{everything}')
		) w (n, label, names)
		JOIN sizes s ON s.name = ANY (w.names)
		CROSS JOIN (SELECT sum(entries) AS records FROM jobstats.observations) r
		GROUP BY w.n, w.label, r.records ORDER BY w.n
	SQL
}

# What a column of increments takes, of its row.
columns() {
    sql <<-'SQL'
		SELECT format('a row of increments takes %s bytes: %s', round(avg(pg_column_size(i.*))), concat_ws(', ',
		    format('%s detail', round(avg(coalesce(pg_column_size(i.detail), 0)))),
		    format('%s histograms', round(avg(coalesce(pg_column_size(i.read_bytes_hist), 0)
		        + coalesce(pg_column_size(i.write_bytes_hist), 0)))), '45 times and keys, 33 header, the rest operations'))
		FROM jobstats.increments i;
	SQL
}

# In columns: what others keep in the order that packs it best, and also by what is asked for most.
pack() {
    sql -q <<-'SQL'
		SET client_min_messages = warning;
		ALTER TABLE usual SET (timescaledb.compress, timescaledb.compress_segmentby = 'target', timescaledb.compress_orderby = '"time"');
		ALTER TABLE numbers SET (timescaledb.compress, timescaledb.compress_segmentby = 'target_id', timescaledb.compress_orderby = 'entry_id, "time"');
		ALTER TABLE everything SET (timescaledb.compress, timescaledb.compress_segmentby = 'target_id', timescaledb.compress_orderby = 'entry_id, "time"');
		SELECT count(compress_chunk(c)) FROM unnest('{usual,numbers,everything,jobstats.increments,jobstats.rollup_10m,jobstats.rollup_1h,jobstats.rollup_1d}'::regclass[]) t, show_chunks(t) c;
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
    sizes
    [ "$community" = t ] || return 0
    pack >/dev/null
    printf '\nIn columns:\n\n| | table | indexes | all |\n|---|---:|---:|---:|\n'
    sizes | grep -v 'apart\|raw\|observations\|entries'
}

{
    printf '# What the store takes\n\n%s, %s, commit %s; PostgreSQL %s%s. ' 'make bench-storage' "$(date -u +%F)" \
        "$(git rev-parse --short HEAD)" "$(pg_major)" "$(sql -c "SELECT ', TimescaleDB ' || extversion FROM pg_extension WHERE extname = 'timescaledb'")"
    printf 'A day of %s jobs on 4 MDTs and 24 OSTs of Lustre 2.16, read every two minutes: ' "$jobs"
    report
} | tee bench/storage.md
