#!/usr/bin/env bash
# Writes the pictures that README shows: the first page of a report, and the terminal. The cluster that they show, its users and its jobs
# are simulated: yesterday and today, and the day a week before.
export JOBSTATS_PROFILE=${JOBSTATS_PROFILE:-dev}
. "$(dirname "$0")/lib.sh"

pictures=docs/pictures
simulator=$built/jobstats-simulator
console=$built/jobstats-console
pages=("$test_tools/bin/python" scripts/pages.py)
now=$(date +%s)
yesterday=$((now / 86400 * 86400 - 86400))
before=$((yesterday - 7 * 86400))

# at SECONDS
# A time as the simulator reads it.
at() { date -u -d "@$1" +%Y-%m-%dT%H:%M:%SZ; }

# load BEGINNING END
load() {
    "$simulator" load --preset puhti --scheduler slurm --undisturbed --from "$(at "$1")" \
        --hours "$(awk "BEGIN { print ($2 - $1) / 3600 }")" --database-url "$url"
}

# Feeds names of users, and the jobs.
load_names() {
    local texts=$work/accounting
    "$simulator" accounting --scheduler slurm --odd 0 --undisturbed --no-nightly --every 12h --from "$(at "$before")" --to "$(at "$now")" \
        --directory "$texts" >/dev/null
    # The simulator calls Slurm's cluster alpha.
    "$simulator" accounting --scheduler slurm --odd 0 --undisturbed --from "$(at "$before")" --to "$(at "$now")" |
        sed 's/\balpha\b/puhti/' >"$texts/slurm"
    for source in slurm passwd; do
        JOBSTATS_DATABASE_URL=$url "$built/jobstats-shipper" once --quiet --server login1 --cluster puhti \
            --source "$source" --input "$texts/$source" --lock "$work/lock"
    done
}

# Captures what `top` draws in a terminal of 110 columns and 24 lines.
capture_top() {
    local session=(tmux -L "jobstats-$$" -f /dev/null)
    "${session[@]}" new-session -d -x 110 -y 24 \
        "LC_ALL=C.UTF-8 '$console' top --database-url '$url' --at '$(at $((now - 3600)))' --speed 1"
    sleep 5
    "${session[@]}" capture-pane -e -p >"$work/top"
    "${session[@]}" kill-server
}

for tool in tmux pngquant; do
    command -v "$tool" >/dev/null || die "$tool is missing: run make setup-dev"
done
scripts/install.sh tests
start_cluster screenshots
work=$(mktemp -d)
trap 'rm -r "$work"; scripts/cluster.sh remove "$cluster"' EXIT
new_store "$cluster" jobstats "raw_retention => '9 days'" >&2
url=$(scripts/cluster.sh url "$cluster" jobstats)
say "two days of 4 MDTs and 24 OSTs, and one a week before (two to four minutes)"
load "$before" $((before + 86400))
load "$yesterday" $((now - 60))
load_names
maintain_all "$url"
psql -q "$url" -c ANALYZE
say "$pictures"
mkdir -p "$pictures"
JOBSTATS_DATABASE_URL=$url "$console" report puhti --from yesterday --to today -o "$work/report.html"
"${pages[@]}" picture --width 1040 --height 1340 "$work/report.html" "$pictures/report.png"
capture_top
"${pages[@]}" terminal "$work/top" "$pictures/top.png"
pngquant --force --ext .png --strip "$pictures"/*.png
ls -l "$pictures"
