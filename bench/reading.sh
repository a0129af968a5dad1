#!/usr/bin/env bash
# Compares the reading functions on a day of the simulated cluster puhti with hand-written statements that give the same answer from the
# same tables, as an expert would write them for one question, and with lag() over raw counters, the usual way without jobstats. The queries
# are in the directory named after this script. They run in turn in one session without parallel workers, after a check that ours and the
# hand-written statement return the same rows; ours then runs in new sessions as well.
#
#   reading.sh [QUESTION ...]    all by default; prints a table
#
# QUESTION/DAYS runs on another store, with a month in 95 partitions and a quarter of the users and jobs; QUESTION/DAYS/WORKERS allows
# parallel workers and measures elapsed instead of processor time.
#
#   JOBSTATS_READING_SCALE      users and jobs, relative to the preset (1)
#   JOBSTATS_READING_DAY        the last day (yesterday)
#   JOBSTATS_READING_DIRECTORY  directory of the stores and of all answers, which are left there; existing stores are queried
#                               again, with the functions of the installed extension
#   JOBSTATS_READING_RUNS       runs of each query (5); 0 only compares
#   JOBSTATS_READING_QUICK      skips lag(), if set
. "$(dirname "$0")/../scripts/lib.sh"
. bench/simulated.sh
. bench/machine.sh

scale=${JOBSTATS_READING_SCALE:-1}
day=$(date -u -d "${JOBSTATS_READING_DAY:-yesterday}" +%F)
of_month=(totals_users/2 top_jobs_user/7 {top_jobs,summary}/{1,30}{,/2})
runs=${JOBSTATS_READING_RUNS:-5}
settings=(shared_buffers=1GB work_mem=64MB max_wal_size=2GB autovacuum=off)

day() { date -u -d "$day $1 days" +%FT00:00:00Z; }

# fill DATABASE FIRST PARTITIONED SCALE [OPTION ...]: creates a store and its first day. FIRST and PARTITIONED count days back from the last
# day.
fill() {
    new_store "$cluster" "$1" "$(printf "%s => '100 years'," compress_after {raw_,,rollup_10m_,rollup_1h_,rollup_1d_}retention | sed 's/,$//')"
    sql -c "SELECT jobstats_internal.add_partitions(relation, 'day', '$(day "$3")', '$(day 0)')
        FROM unnest('{raw,observations,increments}'::text[]) relation" >/dev/null
    simulate texts "$(day "$2")" 24 --preset puhti --scale "$4" "${@:5}"
    feed_day "$(day "$2")" 60 texts
    sql -c 'DROP TABLE texts' -c ANALYZE
}

fill_month() {
    local back
    fill month -29 -94 "$(awk -v scale="$scale" 'BEGIN { print scale / 4 }')" --layout 2.15.8
    # The simulator names array elements as users do (JOBID_INDEX), but SLURM_JOB_ID has different numbers.
    sql -c "UPDATE jobstats.entries SET job = replace(job, '_', '') WHERE job LIKE '%\_%'"
    for ((back = 1; back < 30; back++)); do copy_day "$(day $((back - 29)))" "$back" "$(day -28)"; done
}

# store DATABASE: makes it, or lets the extension that is installed read it.
store() {
    url=$(scripts/cluster.sh url "$cluster" "$1")
    if sql -c '' 2>/dev/null; then
        sql -c 'SET client_min_messages = warning' -c 'DROP EXTENSION jobstats CASCADE' -c 'CREATE EXTENSION jobstats' -c 'SELECT jobstats_setup()' >/dev/null
    else
        if [ "$1" = month ]; then fill_month; else fill reading 0 0 "$scale" && sql -f bench/reading/counters.sql; fi >&2
        sql -c 'CALL jobstats_maintain()' -f bench/reading/prepare.sql
    fi
}

if [ -n "${JOBSTATS_READING_DIRECTORY:-}" ]; then
    cluster=$JOBSTATS_READING_DIRECTORY
    scripts/cluster.sh start "$cluster" fsync=off synchronous_commit=off full_page_writes=off "${settings[@]}"
else
    scripts/install.sh all
    start_cluster reading "${settings[@]}"
fi
mkdir -p "$cluster/answers"

# choose QUESTION: what all below is about.
choose() {
    IFS=/ read -r name days workers <<<"$1"
    url=$(scripts/cluster.sh url "$cluster" "$([ -z "$days" ] && echo reading || echo month)")
    answer=$cluster/answers/${1//\//_}
    export PGOPTIONS="-c jit=off -c max_parallel_workers_per_gather=${workers:-0}"
    { variables && echo '\set'; } | sql -f - | sed -n "s/'/''/g; s/^\([a-z_]*\) = ''\(.*\)''\$/\\\\set \1 '\2'/p" >"$cluster/variables"
}

# part NAME: one of the statements of the question.
part() { awk -v part="-- $1" '/^-- / { inside = $0 == part; next } inside' "bench/reading/$name.sql"; }

# What the statements name by variables of psql.
variables() {
    sed "s/^\t*//; s/@days@/${days:-1}/" <<-'SQL'
		SELECT format('timestamptz %L', date_trunc('day', min("time"), 'UTC')) AS since,
		    format('timestamptz %L', date_trunc('day', min("time"), 'UTC') + interval '@days@ days') AS until
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
		SELECT (array_agg(u.uid ORDER BY u.n, u.uid))[count(*) / 5 + 1] AS few FROM (
		    SELECT e.uid, count(*) AS n FROM jobstats.rollup_1d r JOIN jobstats.entries e USING (entry_id) WHERE e.uid IS NOT NULL GROUP BY 1) u \gset
	SQL
}

# session: runs the statements that it reads in a new session.
session() { cat "$cluster/variables" - | sql -F '|' -f -; }

# Compares our answer with the hand-written one. Numbers may differ by rounding, because sums are added up in different orders.
compare() {
    part ours | session | LC_ALL=C sort >"$answer"
    part 'by hand' | session | LC_ALL=C sort >"$cluster/by_hand"
    [ -s "$answer" ] || { echo "$question: no answer" >&2 && return 1; }
    paste -d '\n' "$answer" "$cluster/by_hand" | awk -F '|' -v question="$question" '
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
        END { if (shown) print question ": " shown " rows differ from those by hand"; exit shown > 0 }' >&2
}

# logged SETTING: runs statements in a new session, and prints milliseconds of each that the setting logs.
logged() {
    { printf '\\o /dev/null\nSET client_min_messages = log; SET %s = on;\n' "$1" && cat; } | session 2>&1 |
        awk -v elapsed="$workers" '/ elapsed$/ { print (elapsed ? $8 : $2 + $5) * 1000 }'
}

# Runs the statements in turn (0, 1, 2), then ours in the same number of new sessions (3), with the planning time included there (4).
measure() {
    local run part parts=(ours 'by hand')
    [ -n "$days" ] || [ -n "${JOBSTATS_READING_QUICK:-}" ] || parts+=('lag()')
    for ((run = 0; run < runs; run++)); do
        for part in "${parts[@]}"; do part "$part"; done
    done | logged log_statement_stats | awk -v parts="${#parts[@]}" '{ print n++ % parts, $0 }'
    for ((run = 0; run < runs; run++)); do
        part ours | logged log_statement_stats | sed 's/^/3 /'
        part ours | logged log_planner_stats | awk '{ sum += $0 } END { print 4, sum }'
    done
}

# How many tables and indexes ours locks, which PostgreSQL does until the transaction ends.
locks() {
    { echo 'BEGIN;' && echo '\o /dev/null' && part ours && echo '\o' && echo "SELECT count(DISTINCT relation) FROM pg_locks
        WHERE pid = pg_backend_pid() AND relation <> 'pg_locks'::regclass;"; } | session
}

row() {
    awk -v title="$(sed -n '1s/^-- //p' "bench/reading/$name.sql")${days:+, days: $days}${workers:+, workers: $workers}" -v rows="$(wc -l <"$answer")" -v locks="$(locks)" '
        { time[$1, ++count[$1]] = $2 }
        function median(which) { return time[which, int((count[which] + 1) / 2)] }
        function both(which) { return count[which] ? sprintf("%.1f, %.1f", time[which, 1], median(which)) : "" }
        function ratio(one, other) { return count[one] ? sprintf("%.2f, %.2f", time[one, 1] / time[other, 1], median(one) / median(other)) : "" }
        END {
            printf "| %s | %d | %s | %s | %s | %s | %s | %s | %s | %d |\n", title, rows, both(0), both(1), ratio(0, 1), both(2), ratio(2, 0), both(3), both(4), locks
        }'
}

if [ $# -eq 0 ]; then
    # The month has no counters for lag().
    mapfile -t questions < <(grep -l '^-- lag()' bench/reading/*.sql | xargs basename -as .sql)
    set -- "${questions[@]}" "${of_month[@]}"
fi
store reading
[[ $* != */* ]] || store month
cat <<-'TEXT'
	| question | rows | ours | by hand | ours to by hand | lag() | lag() to ours | in a new session | of that planning | locks |
	|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
TEXT
status=0
for question; do
    choose "$question"
    if compare; then measure | sort -k 2n | row; else status=1; fi
done
printf '\nMilliseconds of processor time, the fastest and the median of %s runs after VACUUM ANALYZE, without autovacuum; %s build. ' "$runs" "$profile"
for database in reading month; do
    url=$(scripts/cluster.sh url "$cluster" "$database")
    sql -c "SELECT format('%s: %s rows of increments, %s, %s and %s of rollups. ', current_database(), (SELECT count(*) FROM jobstats.increments),
        (SELECT count(*) FROM jobstats.rollup_10m), (SELECT count(*) FROM jobstats.rollup_1h), (SELECT count(*) FROM jobstats.rollup_1d))" 2>/dev/null || true
done
machine
exit "$status"
