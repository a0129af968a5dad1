#!/usr/bin/env bash
# How long a database is busy with the accounting of a day, on a private server that keeps everything as safely as PostgreSQL does when it
# is installed. Prints a table, with rows for each scheduler:
#
#   whole    one text with all jobs of the day, into an empty store
#   again    the same text once more: the nightly call about three days repeats known jobs
#   calls    a day of texts into an empty store, one for every five minutes, in one session and a transaction each
#
# Below the table it prints the cost of matching two entries of each job of `whole` during maintenance.
#
#   accounting.sh [SCHEDULER ...]    all by default
#
#   JOBSTATS_ACCOUNTING_JOBS     jobs of the day (100000)
#   JOBSTATS_ACCOUNTING_CALLS    also measure calls, which takes some minutes for each scheduler (yes)
. "$(dirname "$0")/../scripts/lib.sh"
. bench/machine.sh

jobs=${JOBSTATS_ACCOUNTING_JOBS:-100000}
day=$(date -u -d yesterday +%Y-%m-%dT00:00:00Z)

sql() { psql -q -At "$url" "$@"; }

simulate() { "$simulator" accounting --scheduler "$scheduler" --jobs "$jobs" --from "$day" --undisturbed "$@"; }

# add KIND FILE TIME: packs a text as the shipper packs it.
add() {
    zstd -q -1 "$2" -o "$2.zst"
    printf "INSERT INTO texts VALUES ('%s', '%s', pg_read_binary_file('%s'), %s);\n" "$1" "$3" "$2.zst" "$(stat -c %s "$2")"
}

# Creates a table with the texts. Some calls print nothing, so these are left out.
texts() {
    local directory=$cluster/texts text
    mkdir "$directory"
    sql -c 'CREATE UNLOGGED TABLE texts (kind text, at timestamptz, body_zstd bytea, size bigint)' -c 'ALTER TABLE texts ALTER body_zstd SET STORAGE external'
    simulate >"$directory/whole"
    simulate --no-nightly --directory "$directory" >/dev/null
    {
        add whole "$directory/whole" now
        echo "INSERT INTO texts SELECT 'again', at + interval '1 second', body_zstd, size FROM texts WHERE kind = 'whole';"
        find "$directory" -mindepth 2 -type f -size +0 | while read -r text; do
            add calls "$text" "$(basename "$text")"
        done
    } >"$directory/insert"
    chmod -R a+rX "$directory"
    sql -f "$directory/insert"
    rm -r "$directory"
}

# feed KIND: prints the seconds of all feeds and of their phases, each with the CPU time in it, and the largest memory
# of the session without its part of shared memory.
feed() {
    sql >"$cluster/said" 2>&1 <<-SQL
		SET client_min_messages = debug1;
		SELECT format('INSERT INTO jobstats.feed (server, "time", body_zstd, source)
		    SELECT ''batch1'', at, body_zstd, ''$scheduler'' FROM texts WHERE kind = ''$1'' AND at = %L', at)
		FROM texts WHERE kind = '$1' ORDER BY at \gexec
		SELECT 'memory ' || ((substring(status FROM 'VmHWM:\s*(\d+)')::numeric - substring(status FROM 'RssShmem:\s*(\d+)')::numeric) * 1024 / 1e6)::integer
		FROM pg_read_file('/proc/self/status') status;
	SQL
    awk '/the feed took/ {
            gsub(/[,:]/, "")
            for (i = 1; i < NF; i++) if (split($(i + 1), spent, "/") == 2) { time[$i] += spent[1]; work[$i] += spent[2] }
        }
        /^memory/ { memory = $2 }
        function both(name) { return sprintf("%.1f (%.1f)", time[name] / 1000, work[name] / 1000) }
        END { print both("took") " | " both("unpack") " | " both("scan") " | " both("jobs") " | " both("match") " | " memory }' "$cluster/said"
}

# measure KIND: prints a row.
measure() {
    local fed
    sql -c CHECKPOINT
    fed=$(feed "$1")
    sql -F ' | ' <<-SQL | sed 's/.*/| & |/'
		SELECT '$scheduler, $1', count(*), round(sum(size) / 1e6, 1), (SELECT count(*) FROM jobstats.jobs), (SELECT count(*) FROM jobstats.rejects), '$fed'
		FROM texts WHERE kind = '$1'
	SQL
}

# Adds two entries for each number of a job, and prints the CPU time that it takes to match the numbers.
match() {
    sql <<-'SQL' 2>&1 | awk -v scheduler="$scheduler" '/^numbers/ { numbers = $2 } / s user, .* elapsed/ { seconds = $2 + $5 }
        END { printf "%s: %.1f s of CPU time to match %d numbers, %.0f ms per thousand\n", scheduler, seconds, numbers, 1e6 * seconds / numbers }' >>"$cluster/matched"
		TRUNCATE jobstats.entries;
		INSERT INTO jobstats.entries (entry_id, name, job, node, status, workload, first_seen)
		SELECT 2 * n + e, format('%s:n%s', j.job, e), j.job, 'n' || e, 'identified', 'batch', j.started
		FROM (SELECT row_number() OVER () AS n, job, min(started) AS started FROM jobstats.jobs WHERE started IS NOT NULL GROUP BY job) j,
		    generate_series(0, 1) e;
		SELECT 'numbers ' || count(DISTINCT job) FROM jobstats.to_match;
		VACUUM ANALYZE;
		SET client_min_messages = log;
		SET log_statement_stats = on;
		DO 'BEGIN WHILE jobstats_internal.match_some() > 0 LOOP END LOOP; END';
	SQL
}

scripts/install.sh all
simulator=$built/jobstats-simulator
start_cluster accounting fsync=on full_page_writes=on synchronous_commit=on shared_buffers=1GB
# shellcheck disable=SC2046 # each is a word
[ $# -gt 0 ] || set -- $(schedulers)
printf '| %s jobs | texts | MB | rows of jobs | rejects | s (of CPU time) | unpack | scan | merge | match | MB of memory |\n' "$jobs"
printf '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n'
for scheduler; do
    new_store "$cluster" "$scheduler" >/dev/null
    url=$(scripts/cluster.sh url "$cluster" "$scheduler")
    texts
    measure whole
    measure again
    match
    [ "${JOBSTATS_ACCOUNTING_CALLS:-yes}" = yes ] || continue
    sql -c 'TRUNCATE jobstats.jobs, jobstats.job_ids, jobstats.entries, jobstats.to_match, jobstats.rejects'
    measure calls
done
cat "$cluster/matched"
machine
