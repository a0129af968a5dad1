#!/usr/bin/env bash
# Injects faults into the way from lctl to the database, and fails if a reading of the spool is lost or doubled.
#
#   faults.sh                        faults of maintenance, and 360 faults in three runs at once, with the seeds 1, 2 and 3
#   faults.sh FAULTS SEED [WORD]     one run; only faults whose name has the word
#
# Writes the table of faults and counts to target/faults/table.md, and the table of a run to target/faults/SEED.md. Needs the programs of
# install.sh, and root for faults of full disks.
export JOBSTATS_PROFILE=${JOBSTATS_PROFILE:-dev}
. "$(dirname "$0")/lib.sh"

output=$target/faults
mkdir -p "$output"

# The sums of the tables of several runs.
add_up() {
    awk -F '|' '
        /^\| fault / || /^\|---/ { if (FNR == NR) print; next }
        /^\|/ {
            if (!($2 in order)) { order[$2] = ++rows; name[rows] = $2 }
            for (column = 3; column < NF; column++) sum[$2, column] += $column
            columns = NF
        }
        /^not run: / { missing = $0 }
        /truth: cells/ { gsub(/[^0-9 ]/, ""); split($0, number, " "); seeds = seeds " " number[1]
            cells += number[2]; differences += number[3]; above += number[4] }
        END {
            for (row = 1; row <= rows; row++) {
                printf "|%s|", name[row]
                for (column = 3; column < columns; column++) printf " %d |", sum[name[row], column]
                print ""
            }
            if (missing != "") print "\n" missing
            printf "\nseeds%s; the truth: cells %d, differences %d, above the truth %d\n", seeds, cells, differences, above
        }' "$@"
}

if [ $# -eq 0 ]; then
    # What maintenance drops, by dates instead of clocks.
    scripts/test.sh regress:backlog_of_days regress:first_maintenance regress:clock_ahead
    printf '%s\n' 1 2 3 | xargs -P 3 -I SEED "$0" 120 SEED
    add_up "$output"/{1,2,3}.md | tee "$output/table.md"
    exit
fi

directory=$(mktemp -d -t jobstats-faults.XXXXXX)
chmod 755 "$directory"

clean_up() {
    scripts/cluster.sh stop "$directory/pg" || true
    local disk
    for disk in "$directory"/{database,small-mds1/disk,small-oss1/disk}; do
        ! mountpoint -q "$disk" || umount "$disk"
    done
    rm -rf "$directory"
}
trap clean_up EXIT

cc -O2 -Wall -shared -fPIC -o "$directory/clock.so" shipper/tests/faults/clock.c
if ! (cd shipper && "$(test_program shipper faults)" inject --faults "$1" --seed "$2" --only "${3:-}" \
    --directory "$directory" --shipper "$built/jobstats-shipper" --simulator "$built/jobstats-simulator" \
    --clock "$directory/clock.so" --table "$output/$2.md"); then
    # The messages of shippers and database may explain it.
    failed=$output/$2.failed
    rm -rf "$failed"
    mkdir -p "$failed"
    for server in small-mds1 small-oss1; do
        cp "$directory/$server/said" "$failed/$server.said" || true
        cp "$directory/$server/calls" "$failed/$server.calls" || true
    done
    cp "$directory/pg/log" "$failed/" || true
    die "a fault was not survived; see $failed"
fi
