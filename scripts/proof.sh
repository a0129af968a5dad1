#!/usr/bin/env bash
# Known work through shipper, feed and reading functions, compared with the truth to the last byte, for every layout of
# job_stats and several intervals. Ends with a table of cases; fails if there is any difference.
#
#   proof.sh                     everything, in a private cluster
#   proof.sh part DIR PART ...   on a server that runs in DIR: work, now or the name of a layout, which also names the database.
#                                Output and measurements stay in target/proven
#   proof.sh parts               lists the parts
#
# JOBSTATS_PROOF_INTERVALS="1m 5m" chooses other intervals.
export JOBSTATS_PROFILE=${JOBSTATS_PROFILE:-dev}
. "$(dirname "$0")/lib.sh"

layouts=(2.5 2.12 2.14.0 2.15.0 2.15.8 2.16 2.17)
read -ra intervals <<<"${JOBSTATS_PROOF_INTERVALS:-1m 2m 5m 10m}"
simulator=$built/jobstats-simulator
shipper=$built/jobstats-shipper
# The servers that the metadata target can be on.
nids=10.0.0.1@o2ib,10.0.0.2@o2ib
table=tests/proof/work.csv

# verify CASE ARGUMENTS
# Compares a case with the truth, and adds it to the table of cases.
verify() {
    "$simulator" verify --cluster "$1" "${@:2}" --case "$output/cases.csv" --database-url "$url" >"$output/verified" ||
        { cat "$output/verified" && return 1; }
    printf '%s: %s\n' "$1" "$(tail -n 1 "$output/verified")"
}

# deliver CASE ARGUMENTS
# Loads a simulated day, and notes how many of its texts came late and twice.
deliver() {
    "$simulator" load --cluster "$1" "${@:2}" --database-url "$url" 2>&1 |
        awk -v OFS=, -v name="$1" '/  texts$/ { sent = $1 } /arrived late$/ { late = $1 } /arrived twice$/ { twice = $1 }
            END { print name, sent, late + 0, twice + 0 }' >>"$output/deliveries.csv"
}

# A simulated day at every interval, with an overload, and again with all texts in order and once. At one interval alone, only the oldest and the newest
# layout are sent in order: no rule about order depends on the layout.
days() {
    local interval world day=(--from 2025-06-01T00:00:00Z --overload) late=(--late 0.05 --repeated 0.05)
    for interval in "${intervals[@]}"; do
        world=(--layout "$1" --interval "$interval" "${day[@]}")
        # Maintenance sums the used space of days, and computes rollups.
        deliver "$1 $interval day" "${world[@]}" "${late[@]}" && psql -q "$url" -c 'CALL jobstats_maintain()' &&
            verify "$1 $interval day" "${world[@]}" --observed || return
    done
    [ "${#intervals[@]}" -gt 1 ] || [[ $1 =~ ^(${layouts[0]}|${layouts[-1]})$ ]] || return 0
    interval=${intervals[-1]} world=(--layout "$1" --interval "${intervals[-1]}" "${day[@]}")
    deliver "$1 $interval day in order" "${world[@]}" && verify "$1 $interval day in order" "${world[@]}"
}

# Moves some lines three lines down and repeats others. The first and the last stay in place.
disorder() {
    awk 'held != "" && NR == due { late = held; held = "" }
        NR % 7 == 4 && held == "" { held = $0; due = NR + 3; next }
        { print } NR % 11 == 0 { print } late != "" { print late; late = "" }
        END { if (held != "") print held }'
}

# ship CASE WORLD ...
# Text by text, by the real shipper, with the time that the server's clock showed. A reading that failed is not sent.
ship() {
    local case=$1 server time clock status
    shift
    while read -r server time clock; do
        status=0
        "$simulator" print "$@" --server "$server" --time "$time" >"$output/text" 2>"$output/said" || status=$?
        case $status in
        0 | 2) ;;
        5) continue ;;
        *) cat "$output/said" && return 1 ;;
        esac
        JOBSTATS_DATABASE_URL=$url "$shipper" once --cluster "$case" --server "$server" --input "$output/text" \
            --time "$clock" --lock "$output/lock" || return
    done
}

# gauges CASE WORLD ...
# Checks that the stored TBF rules and nodemap counters are those that servers printed last.
gauges() {
    local case=$1 server time
    shift
    awk '{ last[$1] = $2 } END { for (server in last) print server, last[server] }' "$output/schedule" | while read -r server time; do
        "$simulator" print "$@" --server "$server" --time "$time" | awk -v server="$server" -f tests/proof/gauges.awk
    done | LC_ALL=C sort >"$output/printed"
    psql -At -F ' ' "$url" -v case="$case" -f tests/proof/gauges.sql | LC_ALL=C sort >"$output/stored"
    [[ -s $output/printed || $case = 2.5* ]] && diff "$output/printed" "$output/stored"
}

# Work that anybody can count, at every interval, with a failover, a clock that steps, late and repeated texts.
work() {
    local layout interval world span=(--from 2025-06-01T04:30:00Z --hours 6)
    for layout in "${layouts[@]}"; do
        for interval in "${intervals[@]}"; do
            world=(--layout "$layout" --interval "$interval" --work "$table")
            "$simulator" schedule "${world[@]}" "${span[@]}" >"$output/schedule"
            disorder <"$output/schedule" | ship "$layout $interval work" "${world[@]}" || return
            verify "$layout $interval work" "${world[@]}" "${span[@]}" --observed || return
            gauges "$layout $interval work" "${world[@]}" || return
        done
    done
    psql "$url" -v table="$table" -f tests/proof/work.sql
}

# plan SECONDS
# Puts the work into half a minute that begins so many seconds from now.
plan() {
    awk -F , -v OFS=, -v from="$(date -u -d "$1 seconds" +%FT%TZ)" -v until="$(date -u -d "$(($1 + 30)) seconds" +%FT%TZ)" \
        'NR > 1 { $9 = from; $10 = until } { print }' "$table" >"$output/work.new"
    mv "$output/work.new" "$output/work.csv"
}

# all_read SINCE
# Waits until every target has been read after a time; minutes are enough on the busiest machine.
all_read() {
    local read
    for _ in {1..600}; do
        read=$(psql -At "$url" -v since="$1" <<'SQL'
SELECT CASE WHEN every(o.is_read) THEN count(DISTINCT (t.cluster, o.server)) END
FROM jobstats.targets t
CROSS JOIN LATERAL (
    SELECT max(o.server) AS server, coalesce(max(o.time) > :'since', false) AS is_read
    FROM jobstats.observations o WHERE o.target_id = t.target_id) o
SQL
        )
        [ "${read:-0}" -lt "$((2 * ${#layouts[@]}))" ] || return 0
        sleep 1
    done
    echo "only ${read:-some} servers were read after $1" && return 1
}

# The same work as it happens. Each server's shipper reads it every five seconds; the simulator is its lctl. The work begins
# when all have read, and the shippers end when all have read after its end, however long that takes. Until then it is planned
# for tomorrow; a reading that began before the plan changed has half a minute to end.
now() {
    local layout server world from running=() interval=5 status=0
    from=$(date -u +%FT%T.%3NZ)
    plan 86400
    for layout in "${layouts[@]}"; do
        world=(--layout "$layout" --interval "${interval}s" --undisturbed --work "$output/work.csv")
        for server in small-mds1 small-oss1; do
            "$simulator" lctl-script "${world[@]}" --server "$server" "$output/$layout-$server"
            JOBSTATS_DATABASE_URL=$url timeout --preserve-status 30m "$shipper" run --interval "${interval}s" \
                --cluster "$layout now" --server "$server" --lctl "$output/$layout-$server/lctl" --mds-nids "$nids" \
                --lock "$output/$layout-$server/lock" &
            running+=($!)
        done
    done
    { all_read "$from" && plan 30 && all_read "$(sed -n '2s/.*,//p' "$output/work.csv")"; } || status=1
    kill "${running[@]}" || true
    wait "${running[@]}" || true
    [ "$status" = 0 ] || return 1
    for layout in "${layouts[@]}"; do
        world=(--layout "$layout" --interval "${interval}s" --undisturbed --work "$output/work.csv")
        verify "$layout now" "${world[@]}" --from "$from" --hours 1 --observed || return
    done
    psql "$url" -v table="$output/work.csv" -f tests/proof/work.sql
}

# part DIR PART
part() {
    local url output=$target/proven/$2
    rm -rf "$output"
    mkdir -p "$output"
    : >"$output/deliveries.csv"
    url=$(scripts/cluster.sh url "$1" "$2")
    # The simulated days are long ago; late text is taken only as long as raw text is kept.
    new_store "$1" "$2" "raw_retention => '100 years', retention => '100 years', rollup_10m_retention => '100 years',
        rollup_1h_retention => '100 years', rollup_1d_retention => '100 years'" >"$output/store"
    psql -q "$url" -c "UPDATE jobstats.settings SET jobs_retention = '100 years'"
    case $2 in
    work) work ;;
    now) now ;;
    *) days "$2" ;;
    esac
    audit "$url"
}

# tables PART ...
tables() {
    local part all=$target/proven
    for part; do
        tail -n +2 "$all/$part/cases.csv"
    done >"$all/cases.csv"
    for part; do
        cat "$all/$part/deliveries.csv"
    done >"$all/deliveries.csv"
    psql "$(scripts/cluster.sh url "$cluster")" -v cases="$all/cases.csv" -v deliveries="$all/deliveries.csv" \
        -f tests/proof/cases.sql
}

parts=(now work "${layouts[@]}")
case ${1:-} in
part)
    part "$2" "$3"
    exit
    ;;
parts)
    printf '%s\n' "${parts[@]}"
    exit
    ;;
esac

scripts/install.sh all
start_cluster proof
say "known work in ${#layouts[@]} layouts, every ${intervals[*]}"
mkdir -p "$target/proven"
status=0
# shellcheck disable=SC2016 # of the inner shell
printf '%s\n' "${parts[@]}" | xargs -P 2 -I PART sh -c '
    if scripts/proof.sh part "$0" PART >"$1/PART.log" 2>&1; then echo "ok      PART"; else echo "FAILED  PART"; exit 1; fi' \
    "$cluster" "$target/proven" || status=$?
if [ "$status" -ne 0 ]; then
    cat "$target"/proven/*.log
    exit "$status"
fi
cat "$target/proven/"{work,now}.log
tables "${parts[@]}"
