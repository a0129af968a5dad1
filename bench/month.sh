#!/usr/bin/env bash
# A month of a large cluster in the database, and how long the queries of a dashboard take on it, on each kind of
# installation that is here. Writes bench/month.md.
#
#   month.sh [STEP ...]    feed plain apache community; all of them by default
#
# feed makes a store without TimescaleDB from texts; the other steps time the queries on such a store, on one with
# TimescaleDB's Apache edition and on one with its Community edition, which get the same rows by COPY.
#
#   JOBSTATS_MONTH_SCALE      users and jobs, compared with the simulator's preset (2.1: 50 million increments)
#   JOBSTATS_MONTH_DAYS       how many days (30)
#   JOBSTATS_MONTH_FED        how many of them are fed from texts (all); the others are copies of these with jobs of their own
#   JOBSTATS_MONTH_DIRECTORY  where the database is made (/var/tmp/jobstats-month); it takes 20 GB
. "$(dirname "$0")/../scripts/lib.sh"

scale=${JOBSTATS_MONTH_SCALE:-2.1}
days=${JOBSTATS_MONTH_DAYS:-30}
fed=${JOBSTATS_MONTH_FED:-$days}
cluster=${JOBSTATS_MONTH_DIRECTORY:-/var/tmp/jobstats-month}
simulator=$target/release/jobstats-simulator
# The month ended at midnight, so that maintenance sums all of it.
until=$(date -u -d "$(cat "$cluster/until" 2>/dev/null || date -u +%Y-%m-%d)" +%s)
# The servers of most centres print no histograms yet.
world=(--preset puhti --scale "$scale" --layout 2.15.8)

day() { date -u -d "@$((until - 86400 * $1))" +%Y-%m-%dT00:00:00Z; }

database() { url=$(scripts/cluster.sh url "$cluster" "$1"); }

sql() { psql -q -At "$url" "$@"; }

start() {
    scripts/cluster.sh start "$cluster" fsync=off synchronous_commit=off full_page_writes=off \
        shared_buffers=2GB effective_cache_size=8GB max_wal_size=8GB "$@"
}

# One job of 90 days, on three targets of another, small cluster that is read every ten minutes.
long_job() {
    local at from to
    echo job,uid,node,target,operation,calls,bytes,usecs,from,until
    for ((at = 180; at > 0; at--)); do
        from=$(date -u -d "@$((until - 43200 * at))" +%FT%TZ) to=$(date -u -d "@$((until - 43200 * (at - 1)))" +%FT%TZ)
        echo "900001,4242,c1,small-MDT0000,open,43200,0,120,$from,$to"
        echo "900001,4242,c1,small-OST0000,write,43200,45298483200,900,$from,$to"
        echo "900001,4242,c1,small-OST0001,read,43200,45298483200,900,$from,$to"
    done
}

# simulate TABLE FROM HOURS [OPTION ...]
simulate() {
    sql -c "DROP TABLE IF EXISTS $1" -c "CREATE UNLOGGED TABLE $1 (cluster text, server text, \"time\" timestamptz,
        body_zstd bytea, duration interval, shipper text)"
    "$simulator" load --from "$2" --hours "$3" "${@:4}" --connections 1 --table "$1" --database-url "$url" >/dev/null
}

# The texts of a day, in order of time, a transaction each, as shippers send them. Servers that take over each other's
# targets come from the same one of two feeders.
feed_day() {
    local feeder feeders=()
    for feeder in 0 1; do
        sql <<-SQL &
			DO \$\$
			DECLARE
			    sent record;
			BEGIN
			    FOR sent IN
			        SELECT * FROM (TABLE $1 UNION ALL TABLE job) s
			        WHERE s."time" >= '$2' AND s."time" < '$2'::timestamptz + interval '1 day'
			            AND (substring(s.server FROM '[0-9]+\$')::integer + 1) / 2 % 2 = $feeder
			        ORDER BY s."time"
			    LOOP
			        INSERT INTO jobstats.feed (cluster, server, "time", body_zstd, duration, shipper)
			        VALUES (sent.cluster, sent.server, sent."time", sent.body_zstd, sent.duration, sent.shipper);
			        COMMIT;
			    END LOOP;
			END
			\$\$;
		SQL
        feeders+=($!)
    done
    wait "${feeders[0]}" && wait "${feeders[1]}"
}

# The first days of the month, while the next one is simulated.
feed_days() {
    local back last=$((days - fed + 1)) began simulation
    simulate "day_$days" "$(day "$days")" 24 "${world[@]}"
    for ((back = days; back >= last; back--)); do
        [ "$back" = "$last" ] || { simulate "day_$((back - 1))" "$(day $((back - 1)))" 24 "${world[@]}" & simulation=$!; }
        began=$(date +%s.%N)
        feed_day "day_$back" "$(day "$back")"
        sql -c "INSERT INTO feeding VALUES ('$(day "$back")', make_interval(secs => $(date +%s.%N) - $began))" \
            -c "DROP TABLE day_$back" -c "SELECT jobstats_drop_before('raw', '$(day "$back")')" >/dev/null
        [ "$back" = "$last" ] || wait "$simulation"
        say "day $((days - back + 1)) of $days, fed in $(sql -c 'SELECT took FROM feeding ORDER BY day DESC LIMIT 1')"
    done
}

# What was done so many days before this day, by other jobs of the same users.
copy_day() {
    local columns
    columns=$(sql -c "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = 'jobstats.increments'::regclass AND attnum > 7 AND NOT attisdropped")
    sql <<-SQL
		CREATE TEMPORARY VIEW span AS
		SELECT timestamptz '$1' AS upper, timestamptz '$1' - interval '$2 days' AS lower, interval '$2 days' AS later;
		INSERT INTO jobstats.observations SELECT o."time" + s.later, coalesce(o.since, o."time" - interval '2 minutes') + s.later, o.target_id, o.server,
		    o.received, o.duration, o.shipper, o.cleanup_interval, o.entries, o.active, o.added, o.resets, o.removed,
		    o.carried, o.unknown, o.problems, o.bytes, o.digest
		FROM span s, jobstats.observations o JOIN jobstats.targets t USING (target_id)
		WHERE t.cluster = 'puhti' AND o."time" > '$1'::timestamptz - interval '$2 days'
		    AND o."time" <= '$1'::timestamptz - interval '$((${2} - 1)) days';
		INSERT INTO jobstats.entries
		SELECT e.entry_id + $2, replace(e.name, e.job, e.job || '+$2'), e.job || '+$2', e.uid, e.gid, e.node, e.executable,
		    e.pid, e.format, e.status, e.job || '+$2', e.first_seen + s.later
		FROM span s, jobstats.entries e
		WHERE e.job IS NOT NULL AND e.job <> '900001' AND e.first_seen < '$(day $((days - fed)))'
		ON CONFLICT DO NOTHING;
		INSERT INTO jobstats.increments
		SELECT i."time" + s.later, i.since + s.later, i.observed + s.later, i.last_active + s.later,
		    CASE WHEN e.job IS NULL THEN e.entry_id ELSE e.entry_id + $2 END, i.target_id, i.reset, $columns
		FROM span s, jobstats.increments i JOIN jobstats.entries e USING (entry_id) JOIN jobstats.targets t USING (target_id)
		WHERE t.cluster = 'puhti' AND i."time" > '$1'::timestamptz - interval '$2 days'
		    AND i."time" <= '$1'::timestamptz - interval '$((${2} - 1)) days';
	SQL
}

feed() {
    local back
    date -u -d "@$until" +%F >"$cluster/until"
    new_database "$cluster" plain
    database plain
    sql -c 'DROP EXTENSION IF EXISTS timescaledb' -c 'CREATE EXTENSION jobstats' \
        -c "SELECT jobstats_setup(raw_retention => '90 days', retention => '100 days')" >/dev/null
    sql -c "SELECT jobstats_add_partitions(relation, 'day', '$(day 91)', '$(day 0)')
        FROM unnest('{raw,observations,increments}'::text[]) relation" >/dev/null
    long_job >"$cluster/job.csv"
    simulate job "$(day 90)" $((90 * 24)) --preset small --cluster long --undisturbed --interval 10m --work "$cluster/job.csv"
    sql -c 'CREATE TABLE empty (LIKE job)' -c 'CREATE TABLE feeding (day timestamptz, took interval)'
    for ((back = 90; back > days; back--)); do
        feed_day empty "$(day "$back")"
    done
    feed_days
    for ((back = days - fed; back > 0; back--)); do
        feed_day empty "$(day "$back")"
        copy_day "$(day "$back")" $((fed * ((days - back) / fed)))
        say "day $((days - back + 1)) of $days, copied"
    done
    sql -c 'DROP TABLE job, empty'
}

scripts/install.sh
cargo build --release -p jobstats-simulator
start
[ $# -gt 0 ] || set -- feed plain apache community
for step; do
    "$step"
done
