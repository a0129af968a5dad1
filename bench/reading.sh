#!/usr/bin/env bash
# What the reading functions cost, of a day of the simulator's cluster puhti: beside statements that say the same of the same
# tables, as an expert would write them for this one question, and beside lag() over the counters as they stood, which is
# what one writes without jobstats. The questions are in the directory of this script's name. Each is asked in turn, all in
# one session without parallel workers, after ours and the statement by hand have given the same answer, row by row.
#
#   reading.sh [QUESTION ...]    all by default; prints a table
#
#   JOBSTATS_READING_SCALE      users and jobs, compared with the preset (1)
#   JOBSTATS_READING_DIRECTORY  where the database is made and stays; one that is there already is asked again, of whatever day
. "$(dirname "$0")/../scripts/lib.sh"
. bench/simulated.sh
. bench/machine.sh

scale=${JOBSTATS_READING_SCALE:-1}
runs=5
settings=(shared_buffers=1GB work_mem=64MB max_wal_size=2GB autovacuum=off)

prepare() {
    local day
    day=$(date -u -d yesterday +%Y-%m-%d)
    new_store "$cluster" reading "raw_retention => '10 days', compress_after => '10 days'"
    sql -c "SELECT jobstats_internal.add_partitions(relation, 'day', '$day', '$day'::timestamptz)
        FROM unnest('{raw,observations,increments}'::text[]) relation" >/dev/null
    simulate texts "${day}T00:00:00Z" 24 --preset puhti --scale "$scale"
    feed_day "${day}T00:00:00Z" 60 texts
    sql -c 'DROP TABLE texts' -c 'CALL jobstats_maintain()' -f bench/reading/prepare.sql
}

if [ -n "${JOBSTATS_READING_DIRECTORY:-}" ]; then
    cluster=$JOBSTATS_READING_DIRECTORY
    scripts/cluster.sh start "$cluster" fsync=off synchronous_commit=off full_page_writes=off "${settings[@]}"
else
    scripts/install.sh all
    start_cluster reading "${settings[@]}"
fi
url=$(scripts/cluster.sh url "$cluster" reading)
sql -c '' 2>/dev/null || prepare >&2

# part QUESTION NAME: one of the statements of a question.
part() { awk -v part="-- $2" '/^-- / { inside = $0 == part; next } inside' "bench/reading/$1.sql"; }

# What the statements name by variables of psql.
variables() {
    sed 's/^\t*//' <<-'SQL'
		SELECT format('timestamptz %L', date_trunc('day', min("time"), 'UTC')) AS since,
		    format('timestamptz %L', date_trunc('day', min("time"), 'UTC') + interval '1 day') AS until
		FROM jobstats.observations \gset
		SELECT string_agg(format('coalesce(i.%I, 0)', operation || '_usecs'), ' + ') AS service_time,
		    string_agg(format('coalesce(i.%I, 0)', operation), ' + ') AS service_calls,
		    string_agg(format('coalesce(c.%I, 0)', operation || '_sum'), ' + ') AS service_sums,
		    string_agg(format('coalesce(c.%I, 0)', operation), ' + ') AS service_counts,
		    string_agg(format('coalesce(i.%1$I * p.until / p.width - i.%1$I * p.since / p.width, 0)', operation || '_usecs'), ' + ')
		        AS service_time_share
		FROM jobstats_operations() WHERE service_time \gset
		SELECT string_agg(format('coalesce(i.%I, 0)', operation), ' + ') AS metadata,
		    string_agg(format('coalesce(c.%I, 0)', operation), ' + ') AS metadata_calls,
		    string_agg(format('coalesce(i.%1$I * p.until / p.width - i.%1$I * p.since / p.width, 0)', operation), ' + ') AS metadata_share
		FROM jobstats_operations() WHERE metadata \gset
		SELECT quote_literal(e.job) AS job FROM jobstats.rollup_1d r JOIN jobstats.entries e USING (entry_id)
		WHERE e.job IS NOT NULL GROUP BY e.job ORDER BY count(*) DESC, e.job LIMIT 1 \gset
	SQL
}

# answer QUESTION NAME: its rows in order.
answer() { { variables && part "$1" "$2"; } | sql -F '|' -f - | LC_ALL=C sort; }

# Whether ours and the statement by hand say the same: numbers may differ by what adding them up in another order changes.
compare() {
    answer "$1" ours >"$cluster/ours"
    answer "$1" 'by hand' >"$cluster/by_hand"
    [ -s "$cluster/ours" ] || die "$1: no answer"
    paste -d '\n' "$cluster/ours" "$cluster/by_hand" | awk -F '|' -v question="$1" '
        function same(one, other) {
            return one == other || one + 0 == one && other + 0 == other && one != "" && other != "" &&
                (one - other) ^ 2 <= 1e-18 * one ^ 2
        }
        NR % 2 { fields = NF; split($0, ours); next }
        {
            different = NF != fields
            for (field = 1; field <= NF; field++) if (!same(ours[field], $field)) different = 1
            if (different && !shown++) { $0 = $0; print question ": ours and by hand:"; for (i = 1; i <= NF; i++) printf "%s (%s) ", ours[i], $i; print "" }
        }
        END { exit shown > 0 }' >&2 || die "$1: $(wc -l <"$cluster/ours") rows differ from those by hand"
}

# The statements of a question in turn, so many times; of each the processor time in milliseconds.
measure() {
    local run
    {
        variables
        echo "\\o /dev/null"
        echo "SET client_min_messages = log; SET log_statement_stats = on;"
        for ((run = 0; run < runs; run++)); do
            part "$1" ours && part "$1" 'by hand' && part "$1" 'lag()'
        done
    } | sql -f - 2>&1 | awk '/ elapsed$/ { print n++ % 3, ($2 + $5) * 1000 }'
}

row() {
    awk -v title="$(sed -n '1s/^-- //p' "bench/reading/$1.sql")" -v rows="$(wc -l <"$cluster/ours")" '
        { count[$1]++; time[$1, count[$1]] = $2 }
        END {
            for (which = 0; which < 3; which++) {
                fastest[which] = time[which, 1]; median[which] = time[which, int((count[which] + 1) / 2)]
            }
            printf "| %s | %d | %.0f, %.0f | %.0f, %.0f | %.2f, %.2f | %.0f, %.0f | %.0f, %.0f |\n", title, rows, fastest[0], median[0],
                fastest[1], median[1], fastest[0] / fastest[1], median[0] / median[1], fastest[2], median[2],
                fastest[2] / fastest[0], median[2] / median[0]
        }'
}

if [ $# -eq 0 ]; then
    mapfile -t questions < <(basename -as .sql bench/reading/*.sql | grep -v "^prepare$")
    set -- "${questions[@]}"
fi
export PGOPTIONS='-c jit=off -c max_parallel_workers_per_gather=0'
cat <<-'TEXT'
	| question | rows | ours | by hand | ours to by hand | lag() | lag() to ours |
	|---|---:|---:|---:|---:|---:|---:|
TEXT
for question; do
    compare "$question"
    measure "$question" | sort -k 2n | row "$question"
done
printf '\nMilliseconds of processor time, the fastest and the median of %s runs; ' "$runs"
sql -c "SELECT format('%s rows of increments, %s, %s and %s of rollups, %s of counters. ', (SELECT count(*) FROM jobstats.increments),
    (SELECT count(*) FROM jobstats.rollup_10m), (SELECT count(*) FROM jobstats.rollup_1h), (SELECT count(*) FROM jobstats.rollup_1d),
    (SELECT count(*) FROM counters))"
machine
