#!/usr/bin/env bash
# What a simulated scheduler accounts for, sent in no order by the shipper, is what jobstats.jobs holds. Fails if a run is missing or
# invented, or if a field of one differs from what the texts say.
#
#   jobs.sh DIR SCHEDULER    of a server that runs in DIR; the database is called like the scheduler, and what is simulated
#                            stays in target/jobs/SCHEDULER
. "$(dirname "$0")/lib.sh"

cluster=$1 scheduler=$2
output=$target/jobs/$scheduler
simulated=$output/simulated
rm -rf "$simulated"
mkdir -p "$simulated"
"$target/release/jobstats-simulator" accounting --scheduler "$scheduler" --days 1 --odd 0.1 --directory "$simulated" >"$output/said"

new_database "$cluster" "$scheduler"
url=$(scripts/cluster.sh url "$cluster" "$scheduler")
psql -q "$url" -c 'CREATE EXTENSION jobstats' -c 'SELECT jobstats_setup()' >/dev/null

# A command may have nothing to print; the shipper does not send that.
find "$simulated" -mindepth 2 -type f -size +0 | LC_ALL=C sort | awk 'BEGIN { srand(1) } { print rand() "\t" $0 }' | sort -k 1,1 | cut -f 2 |
    while read -r text; do
        JOBSTATS_DATABASE_URL=$url "$target/release/jobstats-shipper" once --quiet --cluster "$(basename "$(dirname "$text")")" --server scheduler --source "$scheduler" \
            --input "$text" --time "$(basename "$text")" --lock "$output/lock"
    done
psql -q -At "$url" -v scheduler="$scheduler" -f tests/jobs/compare.sql <"$simulated/truth.jsonl"
