#!/usr/bin/env bash
# Writes the pictures in README and docs/job-pages.md: what the console shows of the demo's world, which `make demo` has loaded.
export JOBSTATS_PROFILE=${JOBSTATS_PROFILE:-dev}
. "$(dirname "$0")/lib.sh"

pictures=docs/pictures
demo=/tmp/jobstats-demo-$(id -un)
console=$target/demo/jobstats-console
pages=("$test_tools/bin/python" scripts/pages.py)

# terminal NAME COLUMNS LINES ARGUMENTS
# Takes a picture of what a command draws in a terminal.
terminal() {
    local session=(tmux -L "jobstats-$$" -f /dev/null)
    "${session[@]}" new-session -d -x "$2" -y "$3" "LC_ALL=C.UTF-8 '$console' ${*:4}; sleep 60"
    sleep 8
    "${session[@]}" capture-pane -e -p >"$work/$1"
    "${session[@]}" kill-server
    "${pages[@]}" terminal "$work/$1" "$pictures/$1.png"
}

for tool in tmux pngquant; do
    command -v "$tool" >/dev/null || die "$tool is missing: run make setup-dev"
done
[ -e "$demo/data/postmaster.pid" ] || die "the demo is not running: run make demo"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
reader=$(scripts/cluster.sh url "$demo" jobstats)
export JOBSTATS_DATABASE_URL=${reader/user=postgres/user=jobstats_reader} TZ=UTC
say "$pictures"
terminal top 120 20 top --at "'yesterday 14:40'" --speed 1
terminal jobs 96 9 jobs --user jan --from yesterday --to today
"$console" report scratch --from yesterday --to today -o "$work/report.html"
"${pages[@]}" picture --width 1040 --element '#load figure' "$work/report.html" "$pictures/load.png"
"$console" job 1003023 --html "$work/job.html"
"${pages[@]}" picture --width 1040 --height 1100 "$work/job.html" "$pictures/job.png"
pngquant --force --ext .png --strip "$pictures"/*.png
ls -l "$pictures"
