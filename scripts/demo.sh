#!/usr/bin/env bash
# A simulated day of a Lustre cluster in a private database, and what an admin asks of it.
#
#   demo.sh         makes the database anew and leaves it running
#   demo.sh stop    stops its server and removes its files
. "$(dirname "$0")/lib.sh"

cluster=/tmp/jobstats-demo-$(id -un)
if [ "${1:-}" = stop ]; then
    exec scripts/cluster.sh remove "$cluster"
fi

simulator=$target/release/jobstats-simulator
shipper=$target/release/jobstats-shipper
# The cluster of the preset, with half its users: a day of it loads in a minute on two cores.
world=(--preset puhti --scale "${JOBSTATS_DEMO_SCALE:-0.5}")
from=$(date -u -d '24 hours ago' +%Y-%m-%dT%H:%M:00Z)

make_database() {
    scripts/cluster.sh start "$cluster" synchronous_commit=off
    psql -q "$(scripts/cluster.sh url "$cluster")" -c 'SET client_min_messages = warning' \
        -c 'DROP DATABASE IF EXISTS jobstats WITH (FORCE)' -c 'DROP ROLE IF EXISTS shipper'
    new_store "$cluster" jobstats >&2
    url=$(scripts/cluster.sh url "$cluster" jobstats)
    psql -q "$url" -c 'CREATE ROLE shipper LOGIN' -c "SELECT jobstats_grant_writer('shipper')" >/dev/null
}

# Every server of the cluster once, now, by the real shipper; the simulator is its lctl.
ship() {
    local server work status
    work=$(mktemp -d)
    while read -r server; do
        "$simulator" lctl-script "${world[@]}" --server "$server" "$work"
        JOBSTATS_DATABASE_URL=${url/user=postgres/user=shipper} "$shipper" once \
            --cluster puhti --server "$server" --lctl "$work/lctl" --lock "$work/lock" && continue
        status=$?
        # On some days a server is down at this moment, or a reading fails: the shipper has said so.
        [ "$status" = 66 ] || [ "$status" = 74 ] || return "$status"
    done < <("$simulator" servers "${world[@]}" | cut -f 1 | sort -u)
    rm -r "$work"
}

verify() { "$simulator" verify "${world[@]}" --from "$from" --hours 25 --observed --database-url "$url"; }

summary() {
    psql -At -F ' ' "$url" <<-SQL
		SELECT (SELECT count(*) FROM jobstats.raw), 'texts,', (SELECT count(*) FROM jobstats.entries), 'entries,',
		    (SELECT count(*) FROM jobstats.increments), 'increments, difference to the truth: $1'
	SQL
}

scripts/install.sh all
say "a private cluster in $cluster"
make_database
say "a day of 4 MDTs and 24 OSTs, read every two minutes"
"$simulator" load "${world[@]}" --from "$from" --database-url "$url"
say "the last reading, by the shipper on each of the ten servers"
ship
say "maintenance: rollups of the day"
psql -q "$url" -c 'CALL jobstats_maintain()' -c 'ANALYZE' -f scripts/demo.sql
say "stored, compared with what was simulated"
status=0
verified=$(verify) || status=$?
printf '%s\n' "$verified"
printf '\nGo on:    psql "%s"\nStop it:  make demo-stop\n\n' "$url"
summary "$(sed -n '$s/.*differences \([0-9]*\).*/\1/p' <<<"$verified")"
exit "$status"
