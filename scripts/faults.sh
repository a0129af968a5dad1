#!/usr/bin/env bash
# Injects faults into the way from lctl to the database, and fails if a reading of the spool is lost or doubled.
#
#   faults.sh [FAULTS [SEED [WORD]]]    322 faults by default, with the seed 1; only those whose name has the word
#
# The table of faults and counts stays in target/faults/table.md. Needs what install.sh installs, and root for faults of
# full disks.
. "$(dirname "$0")/lib.sh"

output=$target/faults
directory=$(mktemp -d /tmp/jobstats-faults.XXXXXX)
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

mkdir -p "$output"
cc -O2 -Wall -shared -fPIC -o "$output/clock.so" shipper/tests/faults/clock.c
if ! cargo test -q -p jobstats-shipper --test faults -- inject --faults "${1:-322}" --seed "${2:-1}" --only "${3:-}" \
    --directory "$directory" --shipper "$target/release/jobstats-shipper" --simulator "$target/release/jobstats-simulator" \
    --clock "$output/clock.so" --table "$output/table.md"; then
    # What the shippers and the database said may explain it.
    rm -rf "$output/failed"
    mkdir -p "$output/failed"
    for server in small-mds1 small-oss1; do
        cp "$directory/$server/said" "$output/failed/$server.said" || true
        cp "$directory/$server/calls" "$output/failed/$server.calls" || true
    done
    cp "$directory/pg/log" "$output/failed/" || true
    die "a fault was not survived; see $output/failed"
fi
