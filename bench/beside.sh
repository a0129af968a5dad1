#!/usr/bin/env bash
# Measures the cost of additional parameters (all but job_stats): feed time, store size, and the time of queries about one month. Prints
# three tables.
#
#   beside.sh [PART ...]    feed, month; both by default
#
# feed feeds the same hours of the simulated cluster puhti into two databases, in turns of ten minutes: job_stats alone, and with additional
# parameters. month loads a month of puhti's targets with few users, because the rows of days and hours that are queried do not depend on
# users. All times are processor time of the session.
#
#   JOBSTATS_BESIDE_SCALE    users and jobs, relative to the simulator's preset (2.1, as in bench/month.md)
#   JOBSTATS_BESIDE_HOURS    hours to feed (2)
#   JOBSTATS_BESIDE_RUNS     runs of each query (20)
. "$(dirname "$0")/../scripts/lib.sh"
. bench/machine.sh
. bench/simulated.sh

world=(--preset puhti --layout 2.15.8 --scale "${JOBSTATS_BESIDE_SCALE:-2.1}")
hours=${JOBSTATS_BESIDE_HOURS:-2}
runs=${JOBSTATS_BESIDE_RUNS:-20}
from=$(date -u -d yesterday +%Y-%m-%dT12:00:00Z)

# store NAME DAYS: creates a store in a new database that accepts texts of the last DAYS days, and sets `url` to it.
store() {
    new_store "$cluster" "$1" "raw_retention => '$2 days'" >/dev/null
    url=$(scripts/cluster.sh url "$cluster" "$1")
    sql -c "SELECT jobstats_internal.add_partitions(relation, 'day', now() - interval '$2 days', now())
        FROM unnest('{raw,observations,increments,target_snapshots,target_increments,server_snapshots,server_increments}'::text[]) relation" >/dev/null
}

# The simulator loads a text for each target and one for its server; the shipper sends all of them in one.
join() {
    sql -c "CREATE UNLOGGED TABLE texts AS
        SELECT cluster, server, max(\"time\") AS \"time\", string_agg(body_zstd, '' ORDER BY \"time\") AS body_zstd, max(duration) AS duration, max(shipper) AS shipper
        FROM printed GROUP BY cluster, server, date_bin('2 minutes', \"time\", 'epoch')" -c 'DROP TABLE printed'
}

# turn NAME MINUTE: the ticks of the processor in a session that feeds the texts of ten minutes, from a minute on.
turn() {
    url=$(scripts/cluster.sh url "$cluster" "$1")
    feeding 'TABLE texts' "'$from'::timestamptz + interval '$2 minutes'" '10 minutes' true | spent
}

feed() {
    local minute texts
    store alone 3
    simulate printed "$from" "$hours" "${world[@]}" 2>/dev/null
    join
    store all 3
    create_texts printed 2>/dev/null
    "$simulator" load --from "$from" --hours "$hours" "${world[@]}" --connections 1 --table printed --database-url "$url" >/dev/null 2>&1
    join
    texts=$(sql -c 'SELECT count(*) FROM texts')
    for ((minute = 0; minute < 60 * hours; minute += 10)); do
        echo "$(turn alone "$minute") $(turn all "$minute")"
    done >"$cluster/turns"
    # The first turn fills caches.
    sed -i 1d "$cluster/turns"
    printf '| texts | ms each, alone | with all | ratio of turns |\n|---:|---:|---:|---|\n| %s | %s | %s |\n' "$texts" \
        "$(awk -v texts="$texts" -v turns="$((6 * hours))" '{ alone += $1; all += $2 }
            END { share = 10 * turns / NR / texts; printf "%.1f | %.1f", share * alone, share * all }' "$cluster/turns")" \
        "$(awk '{ print $2 / $1 }' "$cluster/turns" | median %.3f)"
    sql -c 'CALL jobstats_maintain()' -c 'VACUUM ANALYZE'
    printf '\n| of the store | bytes | %% |\n|---|---:|---:|\n'
    sql -F ' | ' <<-'SQL' | sed 's/.*/| & |/'
		WITH part AS (
		    SELECT CASE WHEN relname ~ '^target_increments|_targets(_|$)' THEN 'whole targets: increments and rollups' WHEN relname ~ '^target_snapshots' THEN 'whole targets: readings, kept as long as texts'
		            WHEN relname ~ '^server_' THEN 'services' WHEN relname ~ '^sample' THEN 'samples' WHEN relname ~ '^used' THEN 'used space'
		            WHEN relname ~ '^raw' THEN 'texts of job_stats' ELSE 'entries, increments and rollups' END AS name,
		        sum(pg_total_relation_size(oid)) AS bytes
		    FROM pg_class WHERE relnamespace = 'jobstats'::regnamespace AND relkind = 'r'
		    GROUP BY 1
		)
		SELECT name, bytes, round(100 * bytes / sum(bytes) FILTER (WHERE name <> 'texts of job_stats') OVER (), 2) FROM part ORDER BY bytes DESC
	SQL
}

month() {
    local name question
    store month 32
    "$simulator" load --from "$(date -u -d '30 days ago' +%Y-%m-%dT00:00:00Z)" --hours 720 --preset puhti --layout 2.15.8 --scale 0.02 \
        --interval 10m --database-url "$url" >/dev/null
    sql -c 'CALL jobstats_maintain()' -c 'VACUUM ANALYZE'
    printf '\n| question about 30 days | ms, mean of %s |\n|---|---:|\n' "$runs"
    while IFS='|' read -r name question; do
        printf '| %s | %.0f |\n' "$name" "$({ yes "$question;" || true; } | head -n "$runs" | spent | awk -v runs="$runs" '{ print 1000 * $1 / hertz / runs }' hertz="$(getconf CLK_TCK)")"
    done <<-'SQL'
		work without an identifier, by target|SELECT * FROM jobstats_untracked(now() - interval '30 days', now())
		the same by day|SELECT * FROM jobstats_untracked(now() - interval '30 days', now(), 'metadata', 'filesystem', step => '1 day')
		waits, by service|SELECT * FROM jobstats_queues(now() - interval '30 days', now())
		the same by day|SELECT * FROM jobstats_queues(now() - interval '30 days', now(), '1 day')
		largest users of space, and what they added|SELECT * FROM jobstats_space(since => now() - interval '29 days')
		space of targets by hour|SELECT s.target, h.bucket, h.sum / h.count FROM jobstats.samples s JOIN jobstats.samples_1h h USING (series_id) WHERE s.name = 'kbytesavail'
	SQL
}

start_cluster beside fsync=on full_page_writes=on synchronous_commit=on shared_buffers=1GB
for part in "${@:-feed month}"; do
    for each in $part; do "$each"; done
done
machine
