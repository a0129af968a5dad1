#!/usr/bin/env bash
# Runs a simulated Lustre cluster with a private database, loaded with two days and today so far, and prints example queries of an admin.
# It always plays the same day of the same world, so that README, docs/questions.md and docs/recipes.md can print the answers.
#
#   demo.sh                 rebuilds the database, and leaves it and its readers running
#   demo.sh answers         writes the answers of that database into the two pages
#   demo.sh stop            stops everything and removes its files
#   demo.sh test DIR NAME   compares the answers of the pages with those from a database NAME of the server that runs in DIR
export JOBSTATS_PROFILE=${JOBSTATS_PROFILE:-dev}
. "$(dirname "$0")/lib.sh"

# The files are outside the cluster's directory, which belongs to postgres when root calls: no other user may write what root runs.
cluster=/tmp/jobstats-demo-$(id -un) database=jobstats files=$target/demo
[ "${1:-}" != test ] || cluster=$2 database=$3 files=$target/demo-test
# The file is there as long as the database shall be kept up to date, and locked by the process that does so.
reading=$files/reading
simulator=$built/jobstats-simulator
# What a user installs: the programs of `make package`, a configuration, and a spool for each server.
shipper=$files/jobstats-shipper
console=$files/jobstats-console
config=$files/shipper.conf
# Not below /tmp, which a sandboxed browser may not see. It remains when the demo ends.
report=$target/scratch.html
day=86400 interval=180
# The day of the world that is played as yesterday. The jobs of scripts/demo.csv are jobs of this day.
first=$(date -u -d 2026-03-10 +%s)

# The world, as the simulator reads it from its environment. Each day, somebody lets requests to a metadata server wait.
export JOBSTATS_SIMULATOR_PRESET=medium JOBSTATS_SIMULATOR_CLUSTER=alpha JOBSTATS_SIMULATOR_UNDISTURBED=true JOBSTATS_SIMULATOR_INTERVAL=${interval}s \
    JOBSTATS_SIMULATOR_SCHEDULER=slurm JOBSTATS_SIMULATOR_ODD=0 JOBSTATS_SIMULATOR_WORK=scripts/demo.csv JOBSTATS_SIMULATOR_OVERLOAD=true

now() { date +%s; }

# at SECONDS
# A time as the simulator reads it.
at() { date -u -d "@$1" +%Y-%m-%dT%H:%M:%SZ; }

# Sets today. Some minutes after midnight at the earliest, all of yesterday has been read.
begin_day() {
    while [ $(($(now) % day)) -lt 300 ]; do sleep 5; done
    today=$(($(now) / day * day))
    export JOBSTATS_SIMULATOR_LATER=$(((today - day - first) / day)) JOBSTATS_SIMULATOR_INCIDENT_PLAN=$files/incidents.json
    # Last night, an object storage server failed, and its partner had its targets for three quarters of an hour.
    printf '[{"kind": "failover", "from": "%s", "until": "%s", "targets": ["scratch-OST0006", "scratch-OST0007"]}]\n' \
        "$(at $((today - day + 9540)))" "$(at $((today - day + 12240)))" >"$JOBSTATS_SIMULATOR_INCIDENT_PLAN"
}

# Text is older than three days at the end of today. When today is set, used space of yesterday can be summed.
make_database() {
    local shipper=${database}_shipper
    url=$(scripts/cluster.sh url "$cluster" "$database")
    reader=${url/user=postgres/user=${database}_reader}
    psql -q "$(scripts/cluster.sh url "$cluster")" -c 'SET client_min_messages = warning' \
        -c "DROP DATABASE IF EXISTS $database WITH (FORCE)" -c "DROP ROLE IF EXISTS $shipper, ${database}_reader" \
        -c "CREATE ROLE $shipper LOGIN" -c "CREATE ROLE ${database}_reader LOGIN"
    new_store "$cluster" "$database" "raw_retention => '4 days', refresh_lag => '5 minutes'" >&2
    psql -q "$url" -c "SELECT jobstats_grant_writer('$shipper', sources => '{lctl,passwd,group,slurm}')" \
        -c "SELECT jobstats_grant_reader('${database}_reader')" >/dev/null
    (umask 077 && printf 'JOBSTATS_DATABASE_URL=%s\n' "${url/user=postgres/user=$shipper}" >"$config")
}

# install_programs DIRECTORY
install_programs() {
    rm -rf "$files/spool"
    install -d -m 0700 "$files" "$files/spool"
    install -m 0755 -t "$files" "${programs[@]/#/$built/}"
}

# send SERVER ARGUMENTS
# Reads once, by the real shipper. A simulated server needs no rest: after a reading that took long, the next one would wait. Nor is anything
# else done on it. Simulating takes longer than lctl does, on a busy machine much longer.
send() {
    "$shipper" once --quiet --nice 0 --config "$config" --spool "$files/spool/$1" --cluster alpha --server "$1" --lock "$files/lock.$1" \
        --busy-limit 100 --lctl-timeout 10m "${@:2}"
}

# send_jobs SECONDS
# Sends the scheduler's accounting since a timestamp; the simulator stands in for sacct.
send_jobs() {
    send login1 --source slurm --covers "$((($(now) - $1) / 60))m" --command \
        "exec '$simulator' accounting --scheduler slurm --undisturbed --from $(at "$1") --to now"
}

send_names() {
    local names=$files/names
    "$simulator" accounting --scheduler slurm --no-nightly --from "$(at "$today")" --days 0.001 --directory "$names"
    printf '%s\n' root:x:0:0::/root:/bin/bash sssd:x:988:988::/:/bin/false node-exp:x:989:989::/:/bin/false slurm:x:982:982::/:/bin/false \
        >>"$names/passwd"
    send login1 --source passwd --command "cat '$names/passwd'"
    send login1 --source group --command "cat '$names/group'"
}

# Every server of the cluster once, now; the simulator is its lctl.
send_counters() {
    local server work=$files/lctl
    mkdir -p "$work"
    while read -r server; do
        "$simulator" lctl-script --server "$server" "$work"
        send "$server" --lctl "$work/lctl" --mds-nids 10.0.0.1@o2ib,10.0.0.2@o2ib
    done < <("$simulator" servers | cut -f 1 | sort -u)
}

# load [SECONDS]
# Loads the missing rest of these days up to a timestamp (default: now), then the minutes that loading took, so that no target has
# a gap.
load() {
    local until
    while until=${1:-$(($(now) / 60 * 60))} && [ "$until" -gt "$loaded" ]; do
        "$simulator" load --from "$(at "$loaded")" --hours "$(awk "BEGIN { print ($until - $loaded) / 3600 }")" --database-url "$url" 2>"$files/loaded" ||
            { cat "$files/loaded" >&2 && return 1; }
        loaded=$until
    done
}

fill_store() {
    # Login nodes alone send the program and the user.
    psql -q "$url" -c "UPDATE jobstats.entry_formats SET node_label = 'login' WHERE format = '%e.%u'"
    send_names
    send_jobs $((today - 3 * day))
    loaded=$((today - 2 * day))
    # Whoever looks for events for the first time looks back for a day.
    load "$today"
    psql -q "$url" -c 'CALL jobstats_detect()'
    load
    maintain_all "$url"
    psql -q "$url" -c ANALYZE
    load
}

# Reads on every three minutes, with jobs and maintenance in every third round, until the file or the database server is gone. What fails is
# in the log, and the next round goes on.
read_on() {
    local round=0 next
    exec 9<"$reading"
    flock -n 9
    while next=$(($(now) / interval * interval + interval)) && wait_until "$next"; do
        send_counters || true
        round=$((round + 1))
        [ $((round % 3)) != 0 ] || { send_jobs $(($(now) - 1200)) && psql -q "$url" -c 'CALL jobstats_maintain()'; } || true
    done
}

# wait_until SECONDS
# Fails when reading shall end.
wait_until() {
    while [ -e "$reading" ] && [ -e "$cluster/data/postmaster.pid" ]; do
        [ "$(now)" -lt "$1" ] || return 0
        sleep 2
    done
    return 1
}

start_reading() {
    touch "$reading"
    setsid scripts/demo.sh read </dev/null >"$files/reading.log" 2>&1 &
}

# Ends the process that reads on for an earlier demo, and waits for it: a round takes some seconds.
stop_reading() {
    [ -e "$reading" ] || return 0
    exec 9<"$reading"
    rm -f "$reading"
    flock -w 60 9 || die "the process that reads into $cluster does not end"
    exec 9<&-
}

stop() {
    [ -e "$cluster" ] || [ -e "$files" ] || { echo "There is no demo: nothing is in $cluster." && return; }
    stop_reading
    scripts/cluster.sh remove "$cluster"
    rm -rf "${files:?}"
    echo "Stopped the demo's database server and removed $cluster and $files."
    [ ! -e "$report" ] || echo "The report stays: $report"
}

summary() {
    psql -At -F ' ' "$url" <<-SQL
		SELECT (SELECT count(*) FROM jobstats.raw), 'texts,', (SELECT count(*) FROM jobstats.entries), 'identifiers,',
		    (SELECT count(DISTINCT job) FROM jobstats.jobs), 'jobs,',
		    (SELECT count(*) FROM jobstats.increments), 'increments, differences: $1'
	SQL
}

# Compares the store with the simulation, and prints the full comparison only if something differs.
verify() {
    local verified status=0
    verified=$("$simulator" verify --from "$(at $((today - 2 * day)))" --hours $((($(now) - today) / 3600 + 49)) --observed --database-url "$url") || status=$?
    [ "$status" = 0 ] || printf '%s\n' "$verified"
    summary "$(sed -n '$s/.*differences \([0-9]*\).*/\1/p' <<<"$verified")"
    return "$status"
}

# Compares the answers with the pages, regardless of the order in sets. Minutes may pass on a busy machine until the last server is read:
# these readings are loaded too, or targets would lack some. A target that has not been read for two intervals counts as late, so both steps
# are repeated if they took longer.
compare() {
    local read
    for _ in 1 2 3 4 5; do
        read=$(now) differ=0
        send_counters
        load
        scripts/answers.sh "$url" >"$files/differences" || differ=1
        [ "$differ" = 1 ] && [ $(($(now) - read)) -ge $((2 * interval)) ] || return 0
    done
}

# Fills a database and compares its answers with the pages. Repeats this if midnight passed in between, because the answers are about
# yesterday.
fill_and_compare() {
    while :; do
        begin_day
        make_database
        fill_store
        compare
        if [ "$differ" = 0 ] || [ $(($(now) / day * day)) = "$today" ]; then return; fi
    done
}

# Prints the answers at the top of README, as this database gives them.
# shellcheck disable=SC2016 # these backquotes are those of the page
show_answers() { sed -n '/^Sample output from `make demo`/,/^## /{/^```/d;/^## /d;p}' "$target/answers/README.md"; }

case ${1:-} in
stop)
    stop
    exit
    ;;
read)
    url=$(scripts/cluster.sh url "$cluster" jobstats)
    read_on
    exit
    ;;
answers)
    scripts/answers.sh write "$(scripts/cluster.sh url "$cluster" jobstats)"
    exit
    ;;
test)
    install_programs
    fill_and_compare
    cat "$files/differences"
    exit "$differ"
    ;;
esac

stop_reading
scripts/install.sh all
say "a private cluster in $cluster"
scripts/cluster.sh start "$cluster" synchronous_commit=off
install_programs
say "two days and today: 2 MDTs and 8 OSTs, read every three minutes, names of users, the jobs of Slurm"
fill_and_compare
show_answers
say "the store, compared with the simulation"
verify
say "a report of yesterday, by the console"
"$console" report scratch --from yesterday --to today --database-url "$reader" --output "$report"
start_reading
cat <<TEXT

Go on:    psql "$url"
          README, docs/questions.md and docs/recipes.md have example queries with this database's answers.
          The shipper keeps reading every three minutes until you stop it.
Watch it: $console top --database-url "$reader"
Show it:  open $report in a browser
Stop it:  make demo-stop
TEXT
[ "$differ" = 0 ] || { cat "$files/differences" && die "these answers differ from README.md, docs/questions.md or docs/recipes.md"; }
