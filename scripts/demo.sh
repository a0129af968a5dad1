#!/usr/bin/env bash
# A simulated day of a Lustre cluster in a private database, and what an admin asks of it.
#
#   demo.sh         makes the database anew, and leaves it running and reading
#   demo.sh stop    stops all that and removes its files
export JOBSTATS_PROFILE=${JOBSTATS_PROFILE:-dev}
. "$(dirname "$0")/lib.sh"

cluster=/tmp/jobstats-demo-$(id -un)
# Apart from the cluster, which is the user postgres's when root calls: what root runs, nobody else may write.
files=$target/demo
# The file is there as long as the database shall be kept up to date, and locked by the process that does so.
reading=$files/reading
simulator=$built/jobstats-simulator
# What a user installs: the programs of `make package`, a configuration, and a spool for each server.
shipper=$files/jobstats-shipper
console=$files/jobstats-console
config=$files/shipper.conf
# Not below /tmp, where a browser in a sandbox of its own may not look. It stays when the demo ends: it needs nothing else.
report=$target/puhti.html
# The cluster of the preset, with half its users: a day of it loads in a minute on two cores.
world=(--preset puhti --scale "${JOBSTATS_DEMO_SCALE:-0.5}")

make_database() {
    scripts/cluster.sh start "$cluster" synchronous_commit=off
    psql -q "$(scripts/cluster.sh url "$cluster")" -c 'SET client_min_messages = warning' \
        -c 'DROP DATABASE IF EXISTS jobstats WITH (FORCE)' -c 'DROP ROLE IF EXISTS shipper, reader'
    new_store "$cluster" jobstats >&2
    url=$(scripts/cluster.sh url "$cluster" jobstats)
    reader=${url/user=postgres/user=reader}
    psql -q "$url" -c 'CREATE ROLE shipper LOGIN' -c "SELECT jobstats_grant_writer('shipper')" \
        -c 'CREATE ROLE reader LOGIN' -c "SELECT jobstats_grant_reader('reader')" >/dev/null
}

install_programs() {
    build_programs
    install -d -m 0700 "$files" "$files/spool"
    install -m 0755 -t "$files" "${programs[@]/#/$built/}"
    (umask 077 && printf 'JOBSTATS_DATABASE_URL=%s\n' "${url/user=postgres/user=shipper}" >"$config")
}

# load BEGINNING MINUTES
load() {
    "$simulator" load "${world[@]}" --from "$(at "$1")" --hours "$(awk "BEGIN { print $2 / 60 }")" --database-url "$url"
}

# at SECONDS
# A time as the simulator reads it.
at() { date -u -d "@$1" +%Y-%m-%dT%H:%M:%SZ; }

# The day up to now, and then the minutes that loading it took, or every target would have a gap.
load_until_now() {
    local begin=$(($(date +%s) / 60 * 60 - day)) minutes said
    from=$(at "$begin")
    load "$begin" $((day / 60))
    minutes=$((($(date +%s) - begin - day) / 60))
    [ "$minutes" = 0 ] || said=$(load $((begin + day)) "$minutes" 2>&1) || die "$said"
}

# Every server of the cluster once, now, by the real shipper; the simulator is its lctl.
ship() {
    local server work=$files/lctl status
    mkdir -p "$work"
    while read -r server; do
        "$simulator" lctl-script "${world[@]}" --server "$server" "$work"
        "$shipper" once --config "$config" --spool "$files/spool/$server" \
            --cluster puhti --server "$server" --lctl "$work/lctl" --lock "$work/lock" && continue
        status=$?
        # On some days a server is down at this moment, or a reading fails: the shipper has said so.
        [ "$status" = 66 ] || [ "$status" = 74 ] || return "$status"
    done < <("$simulator" servers "${world[@]}" | cut -f 1 | sort -u)
}

# Reads on every two minutes, with maintenance in every fifth round, until the file or the database server is gone. What
# fails is in the log, and the next round goes on.
read_on() {
    local round=0 next
    exec 9<"$reading"
    flock -n 9
    while next=$(($(date +%s) / interval * interval + interval)) && wait_until "$next"; do
        ship || true
        round=$((round + 1))
        [ $((round % 5)) != 0 ] || psql -q "$url" -c 'CALL jobstats_maintain()' || true
    done
}

# wait_until SECONDS
# Fails when reading shall end.
wait_until() {
    while [ -e "$reading" ] && [ -e "$cluster/data/postmaster.pid" ]; do
        [ "$(date +%s)" -lt "$1" ] || return 0
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

verify() { "$simulator" verify "${world[@]}" --from "$from" --hours 25 --observed --database-url "$url"; }

summary() {
    psql -At -F ' ' "$url" <<-SQL
		SELECT (SELECT count(*) FROM jobstats.raw), 'texts,', (SELECT count(*) FROM jobstats.entries), 'identifiers,',
		    (SELECT count(*) FROM (SELECT DISTINCT target_id, entry_id FROM jobstats.increments) AS entry), 'entries,',
		    (SELECT count(*) FROM jobstats.increments), 'increments, difference to the truth: $1'
	SQL
}

# Shows the comparison as a whole only if something differs.
compare() {
    local verified status=0
    verified=$(verify) || status=$?
    [ "$status" = 0 ] || printf '%s\n' "$verified"
    summary "$(sed -n '$s/.*differences \([0-9]*\).*/\1/p' <<<"$verified")"
    return "$status"
}

day=86400 interval=120
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
esac

stop_reading
scripts/install.sh all
say "a private cluster in $cluster"
make_database
install_programs
say "a day of 4 MDTs and 24 OSTs, read every two minutes"
load_until_now
say "the next reading, by the shipper on each of the ten servers"
ship
say "maintenance: rollups of the day"
psql -q "$url" -c 'CALL jobstats_maintain()' -c 'ANALYZE' -f scripts/demo.sql
say "stored, compared with what was simulated"
compare
say "a report of the day, by the console"
"$console" report puhti --database-url "$reader" --output "$report"
start_reading
cat <<TEXT

Go on:    psql "$url"
          The shipper reads on every two minutes, until you stop it. The first text is 24 hours old:
          in the afternoon, write 'today' where a question says 'yesterday'.
Watch it: $console top --database-url "$reader"
Show it:  open $report in a browser
Stop it:  make demo-stop
TEXT
