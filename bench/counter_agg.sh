#!/usr/bin/env bash
# Compares jobstats_counter_agg over ten million rows in order of time with max(value) - min(value) over the same rows, the cheapest
# possible scan of a column. Both run without parallel workers, which only the latter could use. Each runs five times in turn; the fastest
# run counts.
. "$(dirname "$0")/../scripts/lib.sh"
. bench/machine.sh

rows=${1:-10000000}
runs=5

scripts/install.sh all
start_cluster bench autovacuum=off shared_buffers=1GB max_parallel_workers_per_gather=0

psql -q "$url" <<-SQL
	CREATE EXTENSION jobstats;
	CREATE TABLE readings AS
	    SELECT timestamptz '2025-11-03' + n * interval '1 second' AS observed, n * 4096 % 1099511627776 AS value
	    FROM generate_series(1, $rows::bigint) n;
	VACUUM (FREEZE, ANALYZE) readings;
SQL

# Prints the execution time of one run in milliseconds, without startup and planning.
measure() {
    psql -At "$url" -c "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY) SELECT $1 FROM readings" |
        sed -n 's/^Execution Time: \(.*\) ms$/\1/p'
}

fastest() { sort -n | head -n 1; }

for ((run = 0; run < runs; run++)); do
    measure 'max(value) - min(value)' >>"$cluster/plain"
    measure 'jobstats_counter_increase(jobstats_counter_agg(observed, value))' >>"$cluster/counter"
    measure 'jobstats_counter_increase(jobstats_counter_agg(observed, value, observed))' >>"$cluster/lives"
done

plain=$(fastest <"$cluster/plain")
show() { awk -v name="$1" -v ms="$2" -v plain="$plain" 'BEGIN { printf "%-45s %8.0f ms  %4.2f\n", name, ms, ms / plain }'; }
show 'max(value) - min(value)' "$plain"
show 'jobstats_counter_agg(time, value)' "$(fastest <"$cluster/counter")"
show 'jobstats_counter_agg(time, value, start_time)' "$(fastest <"$cluster/lives")"
printf '%s rows; ' "$rows"
machine
