#!/usr/bin/env bash
# Judges the event detectors on 200 simulated weeks with known incidents, and writes bench/watch.md and its picture. Takes ten minutes on
# two cores. The seeds from 3000 on are for judging only: tune a detector on those below, with
#
#   watch.sh tune [--seed N --count N --weeks N --details]
#
# which writes nothing, and with --details prints incidents that were not found or not named, and needless alerts.
. "$(dirname "$0")/../scripts/lib.sh"

say 'cargo build --release jobstats-bench-watch'
cargo build -q --release -p jobstats-bench-watch
judge=$target/release/jobstats-bench-watch
if [ "${1:-}" = tune ]; then
    exec "$judge" "${@:2}"
fi
say 'playing and judging 200 weeks'
tables=$(mktemp)
trap 'rm "$tables"' EXIT
"$judge" --seed 3001 --count 20 --weeks 11 --picture docs/pictures/events.svg >"$tables"
# shellcheck disable=SC2016 # awk's variables
awk -v tables="$tables" '
    /^<!-- judged -->$/ { print; print ""; while ((getline line < tables) > 0) print line; print ""; inside = 1 }
    /^<!-- end -->$/ { inside = 0 }
    !inside || /^<!-- end -->$/ { if (!/^<!-- judged -->$/) print }' bench/watch.md >"$tables.new"
mv "$tables.new" bench/watch.md
