#!/usr/bin/env bash
# What a simulated scheduler accounts for, sent in no order by the shipper, is what jobstats.jobs holds; and each identifier of job_stats
# belongs to the job that truly did its work. Fails if a run is missing or invented, if a field of one differs from what the texts
# say, or if an identifier gets a wrong job, or none where it can be known.
#
#   jobs.sh DIR SCHEDULER    of a server that runs in DIR; the databases are called like the scheduler, and what is simulated
#                            stays in target/jobs/SCHEDULER
. "$(dirname "$0")/lib.sh"

cluster=$1 scheduler=$2
output=$target/jobs/$scheduler
simulator=$target/release/jobstats-simulator
from=2025-06-01T00:00:00Z

# simulate NAME ARGUMENTS
# Writes the texts of a day and their truth.
simulate() {
    rm -rf "${output:?}/$1"
    mkdir -p "$output/$1"
    "$simulator" accounting --scheduler "$scheduler" --from "$from" --days 1 --directory "$output/$1" "${@:2}" >"$output/said"
}

# store DATABASE
store() {
    new_database "$cluster" "$1"
    url=$(scripts/cluster.sh url "$cluster" "$1")
    psql -q "$url" -c 'CREATE EXTENSION jobstats' -c 'SELECT jobstats_setup()' >/dev/null
}

# ship SOURCE FILE ARGUMENTS
ship() {
    JOBSTATS_DATABASE_URL=$url "$target/release/jobstats-shipper" once --quiet --server scheduler --source "$1" --input "$2" --lock "$output/lock" "${@:3}"
}

# Sends all texts in no order. A command may have nothing to print; the shipper does not send that.
ship_all() {
    find "$output/$1" -mindepth 2 -type f -size +0 | LC_ALL=C sort | awk 'BEGIN { srand(1) } { print rand() "\t" $0 }' | sort -k 1,1 | cut -f 2 |
        while read -r text; do
            ship "$scheduler" "$text" --cluster "$(basename "$(dirname "$text")")" --time "$(basename "$text")"
        done
}

# Every field of every run, with names that are hard to read.
runs() {
    simulate runs --odd 0.1
    store "$scheduler"
    ship_all runs
    psql -q -At "$url" -v scheduler="$scheduler" -f tests/jobs/runs.sql <"$output/runs/truth.jsonl"
}

# Every identifier of two clusters that count alike. Some sites have nothing but the number of the job in them.
entries() {
    local format=%j:%u:%H
    case $scheduler in pbs | lsf) format=%j ;; esac
    local world=(--clusters 2 --jobs 150 --jobid-name "$format")
    simulate entries --odd 0 "${world[@]}"
    store "${scheduler}_entries"
    psql -q "$url" -f tests/jobs/prepare.sql
    ship passwd "$output/entries/passwd"
    ship_all entries
    "$simulator" load --preset small --scheduler "$scheduler" "${world[@]}" --from "$from" --undisturbed --database-url "$url" >"$output/loaded" 2>&1
    psql -q "$url" -c 'CALL jobstats_maintain()'
    psql -q -At "$url" -v scheduler="$scheduler" -f tests/jobs/entries.sql <"$output/entries/truth.jsonl"
}

runs
entries
