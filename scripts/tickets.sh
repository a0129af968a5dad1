#!/usr/bin/env bash
# Asks the console about the tickets in tests/tickets, about a simulated day whose work, incidents and jobs are known, and compares its answers
# with the truth. Prints a line for each ticket, and fails if one is answered wrongly.
#
#   tickets.sh DIR DATABASE    on the server that runs in DIR; answers stay in target/tickets/answers
. "$(dirname "$0")/lib.sh"

data=tests/tickets output=$target/tickets/answers
simulator=$built/jobstats-simulator
# The day of the world that is played as yesterday.
first=2026-03-10 day=$(date -u -d yesterday +%F)

# The world of the demo, with other work.
export JOBSTATS_SIMULATOR_PRESET=medium JOBSTATS_SIMULATOR_CLUSTER=alpha JOBSTATS_SIMULATOR_UNDISTURBED=true JOBSTATS_SIMULATOR_INTERVAL=5m \
    JOBSTATS_SIMULATOR_SCHEDULER=slurm JOBSTATS_SIMULATOR_ODD=0 JOBSTATS_SIMULATOR_WORK=$data/work.csv \
    JOBSTATS_SIMULATOR_INCIDENT_PLAN=$output/incidents.json \
    JOBSTATS_SIMULATOR_LATER=$((($(date -u -d "$day" +%s) - $(date -u -d "$first" +%s)) / 86400))

# load FROM HOURS [ARGUMENTS]
load() { "$simulator" load --from "$1" --hours "$2" --database-url "$url" "${@:3}" >"$output/loaded" 2>&1; }

# ship SOURCE FILE [ARGUMENTS]
ship() {
    JOBSTATS_DATABASE_URL=$url "$built/jobstats-shipper" once --quiet --cluster alpha --server login1 --source "$1" --input "$2" \
        --lock "$output/lock" "${@:3}"
}

# Half an hour of each day of the week before makes the baselines.
fill_store() {
    local back
    sed "s/$first/$day/g" "$data/incidents.json" >"$JOBSTATS_SIMULATOR_INCIDENT_PLAN"
    "$simulator" accounting --scheduler slurm --from "${day}T00:00:00Z" --days 1 --every 24h --no-nightly --directory "$output/accounting" >/dev/null
    ship passwd "$output/accounting/passwd"
    "$simulator" accounting --scheduler slurm --from "${day}T00:00:00Z" --days 1 >"$output/jobs"
    ship slurm "$output/jobs" --covers 36h
    for back in 7 6 5 4 3 2 1; do
        load "$(date -u -d "$day - $back days" +%F)T12:00:00Z" 0.5 --interval 10m
    done
    load "${day}T12:00:00Z" 5
    maintain_all "$url"
    psql -q "$url" -c ANALYZE
}

# answer ID ZONE ARGUMENTS
# Asks as a reader.
answer() {
    TZ=$2 "$built/jobstats-console" "${@:3}" --database-url "$reader" >"$output/$1" 2>&1 || true
    tr -s '[:space:]' ' ' <"$output/$1"
}

# judge
# Prints the problems of the ticket that has been read.
judge() {
    local arguments pattern text
    read -ra arguments <<<"$ask"
    text=$(answer "$id" "$zone" "${arguments[@]}")
    for pattern in "${has[@]}"; do
        grep -Eqi -- "$pattern" <<<"$text" || echo "lacks $pattern"
    done
    for pattern in "${lacks[@]}"; do
        ! grep -Eqi -- "$pattern" <<<"$text" || echo "has $pattern"
    done
}

# close_ticket
# Judges a ticket, and forgets it.
close_ticket() {
    local problems
    [ -z "$id" ] && return
    problems=$(judge)
    if [ -z "$problems" ]; then
        printf '%-13s answered\n' "$id"
    else
        printf '%-13s FAILED\n' "$id"
        printf '    %s\n' "${problems//$'\n'/$'\n'    }"
        failed=1
    fi
    id=
}

new_store "$1" "$2" "raw_retention => '30 days'" >/dev/null
url=$(scripts/cluster.sh url "$1" "$2")
reader=${url/user=postgres/user=${2}_reader}
psql -q "$url" -c "CREATE ROLE ${2}_reader LOGIN" -c "SELECT jobstats_grant_reader('${2}_reader')" >/dev/null
rm -rf "$output"
mkdir -p "$output"
fill_store
failed=0 id=
while IFS= read -r line || [ -n "$line" ]; do
    value=${line#*: }
    case $line in
    '') close_ticket ;;
    id:*) id=$value zone=UTC has=() lacks=() ;;
    ask:*) ask=$value ;;
    zone:*) zone=$value ;;
    has:*) has+=("$value") ;;
    lacks:*) lacks+=("$value") ;;
    esac
done <"$data/tickets.txt"
close_ticket
exit "$failed"
