#!/usr/bin/env bash
# Checks that jobstats.jobs matches the accounting of a simulated scheduler, which the shipper sends out of order, and that each identifier
# of job_stats is matched, day by day, to its true job. Fails if a run is missing or invented, if a field differs from the texts, if an
# identifier gets a wrong job, or no job although it can be determined, or if identifiers do not add up by status.
#
#   jobs.sh DIR SCHEDULER    uses the server that runs in DIR; databases are named after the scheduler, and the simulated files
#                            stay in target/jobs/SCHEDULER
. "$(dirname "$0")/lib.sh"

cluster=$1 scheduler=$2
output=$target/jobs/$scheduler
simulator=$built/jobstats-simulator
from=2025-06-01T00:00:00Z

# simulate NAME DAYS ARGUMENTS
# Writes the texts of some days and their truth.
simulate() {
    rm -rf "${output:?}/$1"
    mkdir -p "$output/$1"
    "$simulator" accounting --scheduler "$scheduler" --from "$from" --days "$2" --directory "$output/$1" "${@:3}" >"$output/said"
}

# store DATABASE
store() {
    new_database "$cluster" "$1"
    url=$(scripts/cluster.sh url "$cluster" "$1")
    psql -q "$url" -c 'CREATE EXTENSION jobstats' -c 'SELECT jobstats_setup()' >/dev/null
}

# ship SOURCE FILE ARGUMENTS
ship() {
    JOBSTATS_DATABASE_URL=$url "$built/jobstats-shipper" once --quiet --server scheduler --source "$1" --input "$2" --lock "$output/lock" "${@:3}"
}

# texts NAME
# Lists the texts in random order. A command may print nothing; the shipper does not send an empty text.
texts() {
    find "$output/$1" -mindepth 2 -type f -size +0 | LC_ALL=C sort | awk 'BEGIN { srand(1) } { print rand() "\t" $0 }' | sort -k 1,1 | cut -f 2
}

ship_all() {
    texts "$1" |
        while read -r text; do
            ship "$scheduler" "$text" --cluster "$(basename "$(dirname "$text")")" --time "$(basename "$text")"
        done
}

# Every field of every run, with names that are hard to read.
runs() {
    simulate runs 1 --odd 0.1
    store "$scheduler"
    ship_all runs
    psql -q -At "$url" -v scheduler="$scheduler" -f tests/jobs/runs.sql <"$output/runs/truth.jsonl"
}

# feed_all
# Sends the texts whose names it reads from stdin. Only commands declare the time that they cover; files show it by their records.
feed_all() {
    local text covers=NULL is_command=
    grep -q 'grows: false' "core/src/accounting/$scheduler.rs" && is_command=yes
    while read -r text; do
        if [ -n "$is_command" ]; then
            covers="tstzrange(timestamptz '$(basename "$text")' - interval '135 minutes', '$(basename "$text")')"
        fi
        # shellcheck disable=SC2016 # psql runs the backquotes
        printf '\\set body `cat %s`\nINSERT INTO jobstats.feed (cluster, server, "time", body, source, covers) VALUES (%s, %s, %s, %s, %s, %s);\n' \
            "$text" "'$(basename "$(dirname "$text")")'" "'scheduler'" "'$(basename "$text")'" ":'body' || E'\\n'" "'$scheduler'" "$covers"
    done | psql -q "$url"
}

# Checks every identifier of some days, or of a week, on two clusters with overlapping job numbers. Accounting is read every two hours, with
# a daily gap of three hours, from eleven days earlier on, so that numbers recur. Half of it arrives late. Some sites have only the job
# number in their identifiers.
entries() {
    local format=%j:%u:%H to_fill=12 days=2
    ! is_long || days=7
    case $scheduler in pbs | lsf) format=%j ;; esac
    local world=(--clusters 2 --jobs 40 --jobid-name "$format")
    simulate entries $((to_fill + days)) --odd 0 --every 2h --no-nightly "${world[@]}"
    store "${scheduler}_entries"
    psql -q "$url" -f tests/jobs/prepare.sql
    ship passwd "$output/entries/passwd"
    texts entries | awk 'NR % 2' | feed_all
    "$simulator" load --preset small --scale 0.2 --interval 10m --scheduler "$scheduler" "${world[@]}" --undisturbed --database-url "$url" \
        --from "$(date -u -d "$from + $to_fill days" +%Y-%m-%dT%H:%M:%SZ)" --hours $((24 * days)) >"$output/loaded" 2>&1
    psql -q "$url" -c 'CALL jobstats_maintain()'
    texts entries | awk 'NR % 2 == 0' | feed_all
    psql -q "$url" -c 'CALL jobstats_maintain()'
    psql -q -At "$url" -v scheduler="$scheduler" -f tests/jobs/entries.sql <"$output/entries/truth.jsonl"
}

runs
entries
