#!/usr/bin/env bash
# What the width of TimescaleDB's chunks costs: stores that differ in nothing else. Writes bench/chunks.md.
#
#   JOBSTATS_STORAGE_JOBS    jobs of a day (3000)
. "$(dirname "$0")/../scripts/lib.sh"
. bench/simulated.sh

jobs=${JOBSTATS_STORAGE_JOBS:-3000}
from=$(date -u -d yesterday +%Y-%m-%d)
# The days before it that have the same rows.
days=6

have_timescaledb || { echo "not run, TimescaleDB is not installed" >&2 && exit 0; }
scripts/install.sh all
start_cluster chunks max_wal_size=1GB shared_buffers=1GB

# Milliseconds of processor time that a statement took, of all that a command ran.
processor_times() {
    PGOPTIONS='-c log_statement_stats=on -c client_min_messages=log -c max_parallel_workers_per_gather=0' "$@" 2>&1 |
        awk '/ elapsed$/ { print ($2 + $5) * 1000 }'
}

# What two sessions take for the first hour of the day.
feed_hour() {
    { for feeder in 0 1; do processor_times feed_texts 'TABLE texts' "'$from'::timestamptz" '1 hour' "$feeder" & done && wait; } |
        awk '{ all += $1 } END { printf "%.0f", all }'
}

# The fastest of five.
ask() {
    processor_times sql "$@" "$@" "$@" "$@" "$@" | awk '$1 > 1' | sort -n | awk 'NR == 1 { printf "%.0f", $1 }'
}

# A day that is fed.
one_day() {
    new_store "$cluster" day "raw_retention => '10 days', compress_after => '10 days'" >/dev/null
    url=$(scripts/cluster.sh url "$cluster" day)
    awk -v from="$(date -u -d "$from" +%s)" -v jobs="$jobs" -v mdts=4 -v osts=24 -v filesystem=puhti -f bench/work.awk >"$cluster/work.csv"
    simulate texts "${from}T00:00:00Z" 24 --preset puhti --undisturbed --layout 2.16 --work "$cluster/work.csv" 2>/dev/null
    feed_day "${from}T00:00:00Z" 10 texts
}

# The days before, and the texts of the day.
copy_days() {
    local relation names day
    day=$(scripts/cluster.sh url "$cluster" day)
    create_texts texts
    psql -q "$day" -c 'COPY texts TO STDOUT (FORMAT binary)' | sql -c 'COPY texts FROM STDIN (FORMAT binary)'
    for relation in targets entries; do
        names=$(columns_of "$day" "$relation")
        psql -q "$day" -c "COPY (SELECT $names FROM jobstats.$relation) TO STDOUT (FORMAT binary)" |
            sql -c "COPY jobstats.$relation ($names) FROM STDIN (FORMAT binary)"
    done
    for relation in observations increments; do
        names=$(columns_of "$day" "$relation")
        psql -q "$day" -c "COPY (SELECT $(sed -E "s/(\"time\"|\\b(since|observed|received|last_active)\\b)/\1 - d.n * interval '1 day'/g" <<<"$names")
            FROM jobstats.$relation, generate_series($days, 1, -1) AS d (n) ORDER BY d.n DESC, \"time\") TO STDOUT (FORMAT binary)" |
            sql -c "COPY jobstats.$relation ($names) FROM STDIN (FORMAT binary)"
    done
}

size() { sql -c "SELECT round(total_bytes / 1e6) FROM hypertable_detailed_size('jobstats.increments')"; }

measure() {
    local width=$1 hour="interval '1 hour'" at in_rows
    at=$(date -u -d "$from 12:00 $days days ago" +%FT%TZ)
    new_store "$cluster" chunks "chunk_interval => '$width', retention => '100 days'" >/dev/null
    url=$(scripts/cluster.sh url "$cluster" chunks)
    copy_days
    sql -c 'VACUUM ANALYZE'
    printf '| %s | %s ' "$width" "$(feed_hour)"
    in_rows=$(size)
    [ "$community" = f ] ||
        sql -c "SELECT compress_chunk(c) FROM show_chunks('jobstats.increments', older_than => '$from'::timestamptz) c" >/dev/null
    sql -c 'VACUUM ANALYZE'
    for question in "jobstats_rates('$from', '$from'::timestamptz + $hour, '{metadata,write_bytes}', '{target}', '2 minutes')" \
        "jobstats_rates('$at', '$at'::timestamptz + $hour, '{metadata,write_bytes}', '{target}', '2 minutes')" \
        "jobstats_totals('$at', '$from', '{metadata,write_bytes}', '{target}', job => '{4000100}')" 'jobstats_now()'; do
        printf '| %s ' "$(ask -c "SELECT count(*) FROM $question")"
    done
    printf '| %s | %s |\n' "$in_rows" "$(size)"
    psql -q "$(scripts/cluster.sh url "$cluster")" -c 'DROP DATABASE chunks WITH (FORCE)'
}

one_day
community=$(sql -c "SELECT current_setting('timescaledb.license') = 'timescale'")
{
    # shellcheck disable=SC2016 # code, not commands
    printf '# The width of chunks\n\n%s, %s, commit %s; PostgreSQL %s%s.\n\n' '`bench/chunks.sh`' "$(date -u +%F)" \
        "$(git rev-parse --short HEAD)" "$(pg_major)" "$(sql -c "SELECT ', TimescaleDB ' || extversion FROM pg_extension WHERE extname = 'timescaledb'")"
    cat <<-TEXT
		$days days of $jobs jobs each on 28 targets, by COPY ($(sql -c 'SELECT count(*) FROM jobstats.increments') rows of increments per day), then the
		first hour of the next day, fed by two sessions. The questions are answered from increments: about that hour, about an
		hour $days days earlier, and about a job of all days. *later*: $([ "$community" = t ] && echo "when all chunks that end before the last day are in the columnstore" || echo "the same, as there is no columnstore").
		CPU time in milliseconds, of questions the fastest of five runs; sizes in MB. COPY wrote the rows, which does not
		compress histograms and details as a feed does.

		| width | feed of an hour | that hour at 2 minutes | an older hour | a job of those days | \`jobstats_now()\` | increments | later |
		|---|---:|---:|---:|---:|---:|---:|---:|
	TEXT
    for width in '6 hours' '1 day' '3 days' '7 days'; do
        measure "$width"
    done
    printf '\nA chunk moves to the columnstore when all of it is old enough. So with wide chunks, more rows stay outside it.\n'
} | tee bench/chunks.md
