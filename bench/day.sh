#!/usr/bin/env bash
# How long a database is busy with a day of a cluster (the simulator's puhti: 28 targets read every two minutes), and with
# hundreds of targets: the first hour of that day, of seventeen such clusters. Two sessions feed, a transaction for each text,
# on a private server that keeps everything as safely as PostgreSQL does when it is installed. Prints a table.
#
#   JOBSTATS_DAY_HOURS      hours of the day that are fed (24)
#   JOBSTATS_DAY_SCALE      users and jobs, compared with the simulator's preset (1)
#   JOBSTATS_DAY_CLUSTERS   clusters that are fed for an hour (17: 476 targets)
. "$(dirname "$0")/../scripts/lib.sh"
. bench/machine.sh
. bench/simulated.sh

hours=${JOBSTATS_DAY_HOURS:-24}
scale=${JOBSTATS_DAY_SCALE:-1}
clusters=${JOBSTATS_DAY_CLUSTERS:-17}
from=$(date -u -d yesterday +%Y-%m-%dT00:00:00Z)

# fed NAME HOURS TABLE: feeds the rows of the table and prints a row.
fed() {
    local began seconds
    sql -c 'TRUNCATE jobstats.increments, jobstats.observations, jobstats.raw, jobstats.entries' -c CHECKPOINT
    began=$(date +%s.%N)
    feed_day "$from" 10 "$3"
    seconds=$(date +%s.%N | awk -v began="$began" '{ print $1 - began }')
    sql -F ' | ' <<-SQL | sed 's/.*/| & |/'
		SELECT '$1', o.targets, o.texts, round(o.entries), i.rows, round($seconds), round(1000 * $seconds / o.texts, 1), round(100 * $seconds / (3600 * $2), 1)
		FROM (SELECT count(*) AS texts, count(DISTINCT target_id) AS targets, avg(entries) AS entries FROM jobstats.observations) o,
		    (SELECT count(*) AS rows FROM jobstats.increments) i
	SQL
}

scripts/install.sh all
start_cluster day fsync=on full_page_writes=on synchronous_commit=on shared_buffers=1GB
new_store "$cluster" day "raw_retention => '10 days'" >/dev/null
url=$(scripts/cluster.sh url "$cluster" day)
sql -c "SELECT jobstats_internal.add_partitions(relation, 'day', '$from', '$from'::timestamptz)
    FROM unnest('{raw,observations,increments}'::text[]) relation" >/dev/null
simulate day "$from" "$hours" --preset puhti --scale "$scale"
sql -c "CREATE UNLOGGED TABLE clusters AS SELECT day.cluster || n AS cluster, server, \"time\", body_zstd, duration, shipper
    FROM day, generate_series(1, $clusters) n WHERE \"time\" < '$from'::timestamptz + interval '1 hour'"

printf '| scale %s | targets | texts | entries in each | rows of increments | s | ms per text | %% of the time |\n' "$scale"
printf '|---|---:|---:|---:|---:|---:|---:|---:|\n'
fed "$hours hours of puhti" "$hours" day
fed "an hour of $clusters clusters" 1 clusters
machine
