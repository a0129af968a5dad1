#!/usr/bin/env bash
# What a simulated scheduler accounts for, sent in no order by the shipper, is what jobstats.jobs holds; and each identifier of job_stats
# belongs, day by day, to the job that truly did its work. Fails if a run is missing or invented, if a field of one differs from what the
# texts say, if an identifier gets a wrong job, or none where it can be known, or if identifiers do not add up by status.
#
#   jobs.sh DIR SCHEDULER    of a server that runs in DIR; the databases are called like the scheduler, and what is simulated
#                            stays in target/jobs/SCHEDULER
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
# Lists the texts in no order. A command may have nothing to print; the shipper does not send that.
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
# Sends the texts whose names come in. That they cover is said of commands only: a file says it by its records.
feed_all() {
    local text covers=NULL is_command=
    grep -q 'grows: false' "core/src/accounting/$scheduler.rs" && is_command=yes
    while read -r text; do
        if [ -n "$is_command" ]; then
            covers="tstzrange(timestamptz '$(basename "$text")' - interval '135 minutes', '$(basename "$text")')"
        fi
        # shellcheck disable=SC2016 # psql runs what is in backquotes
        printf '\\set body `cat %s`\nINSERT INTO jobstats.feed (cluster, server, "time", body, source, covers) VALUES (%s, %s, %s, %s, %s, %s);\n' \
            "$text" "'$(basename "$(dirname "$text")")'" "'scheduler'" "'$(basename "$text")'" ":'body' || E'\\n'" "'$scheduler'" "$covers"
    done | psql -q "$url"
}

# Every identifier of some days, or of a week, on two clusters that count alike. Accounting is read every two hours, but for three hours a day, from eleven
# days before on: then numbers come back. Half of it comes late. Some sites have nothing but the number of the job in their identifiers.
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
