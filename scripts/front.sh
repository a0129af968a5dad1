#!/usr/bin/env bash
# Four stores behind a front answer every question as one store with the same texts does, and so does a standby of that store. With
# TimescaleDB, two of the four are without it.
#
#   front.sh DIR    in the server that runs in DIR
. "$(dirname "$0")/lib.sh"

cluster=$1 output=$target/front/stores
standby=$cluster.standby
simulator=$built/jobstats-simulator
# The servers of each node, as patterns. Servers that can take over a target from each other feed the same node.
nodes=(mds oss1 oss2 'oss[34]')
forever=$(printf '%s => jobstats_internal.forever(), ' raw_retention retention rollup_10m_retention rollup_1h_retention)

server() { psql -q -At "$(scripts/cluster.sh url "$cluster")" "$@"; }
database() { scripts/cluster.sh url "$cluster" "front $1"; }
in_database() { psql -q "$(database "$1")" "${@:2}"; }

# make NAME [NUMBER]
# A database with an empty store that keeps old text.
make() {
    if [[ $1 =~ ^node[01]$ ]]; then
        server -c "CREATE DATABASE \"front $1\""
    else
        new_database "$cluster" "front $1"
    fi
    in_database "$1" -At -c 'CREATE EXTENSION jobstats' -c "SELECT jobstats_setup(${forever}node => ${2:-0})" >"$output/setup.$1"
}

# Writes the texts of a world, including people and jobs, to a table of the single store's database and to a file.
simulate() {
    local people=(accounting --scheduler slurm --odd 0)
    make single
    in_database single -c 'CREATE TABLE public.texts (LIKE jobstats.feed)'
    "$simulator" load --preset medium --cluster alpha --scheduler slurm --from 2026-03-10T00:00:00Z --hours 3 --interval 3m --undisturbed --overload \
        --table public.texts --database-url "$(database single)" 2>"$output/loaded"
    "$simulator" "${people[@]}" --no-nightly --from 2026-03-10T00:00:00Z --days 0.001 --directory "$output"
    "$simulator" "${people[@]}" --undisturbed --from 2026-03-08T00:00:00Z --to 2026-03-10T03:00:00Z >"$output/jobs"
    in_database single -v directory="$(realpath "$output")" -f tests/front/people.sql
    in_database single -c '\copy public.texts TO STDOUT' >"$output/texts"
}

load() { in_database "$1" -c 'CREATE TABLE public.texts (LIKE jobstats.feed)' -c '\copy public.texts FROM STDIN' <"$output/texts"; }

# feed NAME PATTERN [SINCE [UNTIL]]
# Names and accounting go to every store.
feed() {
    in_database "$1" -v servers="$2" -v since="${3:--infinity}" -v until="${4:-infinity}" -f tests/front/feed.sql
    maintain_all "$(database "$1")"
    # Statistics determine how a node plans its sums.
    in_database "$1" -c ANALYZE
}

# ask NAME
# Collects the answers of functions and views, the data of dashboards, and the output of console commands except its timestamps and the numbers of events.
ask() {
    local arguments
    local -x JOBSTATS_DATABASE_URL
    JOBSTATS_DATABASE_URL=$(database "$1")
    {
        in_database "$1" -f tests/front/questions.sql
        in_database "$1" -f tests/front/dashboards.sql
        while read -r arguments; do
            echo "== $arguments"
            eval "$built/jobstats-console $arguments" </dev/null || echo "exit code $?"
        done <tests/front/commands
    } 2>&1 | sed -E 's/Created 20[^<]* by/Created by/; s/"event_id":[0-9]+/"event_id":N/; /<td>silent</d' >"$output/$1"
}

# await CONDITION
# On sessions of this server, for minutes at most.
await() {
    for _ in {1..3000}; do
        [ "$(server -c "SELECT EXISTS (SELECT FROM pg_stat_activity a WHERE a.backend_type = 'client backend' AND $1)")" != t ] || return 0
        sleep 0.1
    done
    die "this has not come true: $1"
}

# hang NODE
# Holds what every question and every feed needs.
hang() {
    in_database "$1" -c 'BEGIN; LOCK TABLE jobstats.targets; SELECT pg_sleep(3600)' >/dev/null 2>&1 &
    await "a.datname = 'front $1' AND a.wait_event = 'PgSleep'"
}

# cut NODE
# Ends all sessions of a node, the session that holds the others last.
cut() {
    server -c "SELECT pg_terminate_backend(a.pid, 60000) FROM (
        SELECT a.pid FROM pg_stat_activity a WHERE a.datname = 'front $1' ORDER BY a.wait_event IS NOT DISTINCT FROM 'PgSleep') a" >/dev/null
}
down() { server -c "ALTER DATABASE \"front $1\" ALLOW_CONNECTIONS false" && cut "$1"; }
up() { server -c "ALTER DATABASE \"front $1\" ALLOW_CONNECTIONS true"; }

# amid NODE END COMMAND ...
# A command that must fail: END takes the node away in the middle of it.
amid() {
    local command
    hang "$1"
    "${@:3}" &
    command=$!
    await "a.datname = 'front $1' AND a.wait_event_type = 'Lock'"
    "$2" "$1"
    ! wait "$command"
}

# attach NODE [CLUSTER]
attach() { in_database front -At -v node="$1" -v host="${2:-$cluster}" -v dbname="front $1" -f tests/front/attach.sql; }

# Without what depends on where and when it runs.
plain() {
    sed -E '/^(LOCATION|DETAIL|CONTEXT|\t| )/d; s/^psql:[^ ]+ //; s/[0-9]+\.[0-9]+\.[0-9]+/VERSION/g; s/since 20[-0-9: .+]+[0-9]/since then/g; /^(WARNING: +08006|server closed)/d; s/(answer: )(FATAL|server).*/\1…/'
}

# away
# Nodes go, and come back.
away() {
    local node in_front=(in_database front -v VERBOSITY=verbose -v ON_ERROR_STOP=0 -P format=unaligned)
    echo 'in the middle of a question'
    amid node1 down in_database front -v VERBOSITY=verbose -P format=unaligned -f tests/front/away.sql
    echo 'two nodes, one of them with the accounting'
    down node0
    "${in_front[@]}" -c 'CALL jobstats_maintain()' -f tests/front/away.sql -f tests/front/nodes.sql
    echo 'questions fail by setting'
    "${in_front[@]}" -c 'UPDATE jobstats.settings SET leave_out_nodes = false' -c 'CALL jobstats_maintain()' -f tests/front/away.sql -f tests/front/nodes.sql
    up node0
    up node1
    echo 'a node that hangs'
    hang node2
    "${in_front[@]}" -c 'UPDATE jobstats.settings SET leave_out_nodes = true' -c "ALTER SERVER jobstats_node2 OPTIONS (SET options '-c statement_timeout=1s')" \
        -c 'CALL jobstats_maintain()' -f tests/front/away.sql
    cut node2
    echo 'all are back'
    "${in_front[@]}" -c "ALTER SERVER jobstats_node2 OPTIONS (SET options '-c statement_timeout=300s')" -c 'CALL jobstats_maintain()' \
        -f tests/front/away.sql -f tests/front/nodes.sql
    echo 'no node is left'
    for node in node{0..3} empty; do down "$node"; done
    "${in_front[@]}" -c 'CALL jobstats_maintain()' -f tests/front/away.sql 2>&1 | tail -n 3
    for node in node{0..3} empty; do up "$node"; done
    "${in_front[@]}" -c 'CALL jobstats_maintain()' 2>/dev/null
}

# frozen
# All processes of a server with two nodes are stopped while sessions wait for them, and go on later.
frozen() {
    local server=$cluster.frozen in_front=(in_database front -v VERBOSITY=verbose -v ON_ERROR_STOP=0 -P format=unaligned) n end=$((SECONDS + 1200))
    local -x PROCESS
    scripts/cluster.sh start "$server"
    PROCESS=$(head -n 1 "$server/data/postmaster.pid")
    trap 'go_on; scripts/cluster.sh remove "$server"' EXIT
    for n in 20 21; do
        cluster=$server make "frozen$n" "$n"
        attach "frozen$n" "$server"
    done
    echo 'questions end'
    "${in_front[@]}" -f tests/front/frozen.sql >"$output/waits" 2>&1 &
    await "a.application_name = 'waits' AND a.state = 'active'"
    echo 'there is always one that waits'
    for n in 1 2 3; do
        until in_database front -f tests/front/away.sql || [ "$SECONDS" -ge "$end" ]; do sleep 0.1; done >/dev/null 2>&1 &
    done
    in_database front -c "UPDATE jobstats.settings SET node_timeout = DEFAULT"
    for n in {1..20}; do
        "${in_front[@]}" -c 'CALL jobstats_maintain()' 2>&1 | grep -v 'in use' || true
        [ "$(in_database front -At -c "SELECT count(left_out_since) FROM jobstats.attached WHERE name LIKE 'frozen%'")" != 2 ] || break
    done | sort
    "${in_front[@]}" -f tests/front/away.sql
    go_on
    wait
    cat "$output/waits"
    echo 'all are back'
    "${in_front[@]}" -c 'CALL jobstats_maintain()' 2>&1 | sort
    "${in_front[@]}" -f tests/front/away.sql -c "SELECT jobstats_detach('frozen20'), jobstats_detach('frozen21')"
    scripts/cluster.sh remove "$server"
    trap - EXIT
}
go_on() { kill -CONT "$PROCESS" $(pgrep -P "$PROCESS"); }

# divide NAME PATTERN OTHER NUMBER PATTERN
# Copies a store that has been fed half of the texts of two patterns. The copy gets a number, and its rows change only in their store
# number. Each of the two drops the other's data and is fed further: no observation is lost or counted twice.
divide() {
    local half='2026-03-10 01:25Z'
    feed "$1" "$2|$5" -infinity "$half"
    # In columns, where the Community edition of TimescaleDB is installed.
    in_database "$1" -c "DO \$\$ BEGIN WHILE jobstats_internal.compress_before('infinity') IS NOT NULL LOOP END LOOP; END \$\$"
    # TimescaleDB may be at work in it.
    down "$1"
    server -c "CREATE DATABASE \"front $3\" TEMPLATE \"front $1\""
    up "$1"
    in_database "$3" -f tests/front/stored.sql >"$output/stored"
    in_database "$3" -At -c "SELECT jobstats_setup(node => $4)" >"$output/setup.$3"
    in_database "$3" -f tests/front/stored.sql | diff -u "$output/stored" -
    in_database "$1" -At -v servers="$5" -f tests/front/drop.sql
    in_database "$3" -At -v servers="$2" -f tests/front/drop.sql
    feed "$1" "$2" "$half"
    feed "$3" "$5" "$half"
    audit "$(database "$1")"
    audit "$(database "$3")"
}

# stand_by
# Creates a hot standby of this server. WAL replay never cancels its queries, however long they take.
stand_by() {
    install -d -m 0700 "$standby"
    "$("$PG_CONFIG" --bindir)/pg_basebackup" --dbname="$(scripts/cluster.sh url "$cluster")" --pgdata="$standby/data" --checkpoint=fast --write-recovery-conf
    ! is_root || chown -R postgres: "$standby"
    start_volatile "$standby" jit=off timescaledb.max_background_workers=0 unix_socket_directories="$standby" max_standby_streaming_delay=-1
}

# replayed
# Waits until the standby has all that is written here.
replayed() {
    local written
    server -c CHECKPOINT
    written=$(server -c 'SELECT pg_current_wal_flush_lsn()')
    await "EXISTS (SELECT FROM pg_stat_replication r WHERE r.replay_lsn >= '$written')"
}

mkdir -p "$output"/{,standby}
trap 'scripts/cluster.sh remove "$standby"' EXIT
server -c 'CREATE ROLE front_reader' -c 'CREATE ROLE front_own' -c 'CREATE ROLE front_nameless'
simulate
stand_by
feed single .
ask single
replayed
output=$output/standby cluster=$standby ask single
diff -u "$output/single" "$output/standby/single"
cluster=$standby in_database single -f tests/front/standby.sql 2>&1 | plain >"$output/standby/refused"
diff -u tests/front/standby.expected "$output/standby/refused"
cluster=$standby server -c 'SELECT pg_promote()' >/dev/null
make front
in_database front -c 'CREATE EXTENSION postgres_fdw'
for n in 0 1 2; do
    make "node$n" "$n"
    load "node$n"
done
feed node0 "${nodes[0]}"
# What a feed that is cut off had stored is gone, and it is fed again.
amid node1 cut feed node1 "${nodes[1]}" 2>/dev/null
feed node1 "${nodes[1]}"
divide node2 "${nodes[2]}" node3 3 "${nodes[3]}"
for n in "${!nodes[@]}"; do
    [ "$n" != 2 ] || amid "node$n" cut attach "node$n" 2>/dev/null
    attach "node$n"
done
# A node that is not fed yet changes no answer.
make empty 9
attach empty
ask front
diff -u "$output/single" "$output/front"
[ "$(wc -l <"$output/front")" -gt 3000 ]
# A query goes to each node at most as often as plans.sql lists, and a query about a target only to the node that has it.
in_database front -f tests/front/plans.sql 2>&1 | awk '
    /^question/ { question = $0 }
    /Foreign Scan on|Relations:/ && match($0, /"(node[0-3]|empty) [a-z0-9_]+/) {
        split(substr($0, RSTART + 1, RLENGTH - 1), table, " ")
        scans[question, table[1]]++
        tables[question, table[1]] = tables[question, table[1]] " " table[2]
        if (question ~ /of one node$/ && table[1] != "node3" && table[2] ~ /increments|rollup/) { print $0; bad = 1 }
    }
    END {
        for (it in scans) {
            split(it, of, SUBSEP)
            split(of[1], number, " ")
            if (scans[it] > number[2]) { print of[1] " asks " of[2] " " scans[it] " times:" tables[it]; bad = 1 }
        }
        exit bad || length(scans) == 0
    }' >"$output/scans" || { cat "$output/scans" && exit 1; }
away 2>&1 | plain >"$output/away"
diff -u tests/front/away.expected "$output/away"
# The reason for the end of the wait, and libpq's message, differ between versions of PostgreSQL.
frozen 2>&1 | plain | sed -E '/^invalid socket$/d; s/(it does not answer: ).*/\1REASON/' >"$output/frozen"
diff -u tests/front/frozen.expected "$output/frozen"
ask front
diff -u "$output/single" "$output/front"
# Live data arrives as from a single store.
live=$(date -u -d '50 minutes ago' +%FT%TZ)
in_database single -v servers=. -v live="$live" -f tests/front/live.sql
cluster=$standby in_database single -v servers=. -v live="$live" -f tests/front/live.sql
for n in "${!nodes[@]}"; do in_database "node$n" -v servers="${nodes[$n]}" -v live="$live" -f tests/front/live.sql; done
for name in single front; do in_database "$name" -At -v live="$live" -f tests/front/now.sql >"$output/$name.now"; done
diff -u "$output/single.now" "$output/front.now"
cluster=$standby in_database single -At -v live="$live" -f tests/front/now.sql | diff -u "$output/single.now" -
maintain_all "$(cluster=$standby database single)"
audit "$(cluster=$standby database single)"
scripts/cluster.sh remove "$standby"
in_database front -v host="$cluster" -f tests/front/refused.sql 2>&1 | plain | sed -E 's/\|20[-0-9]+ [0-9:.]+\+00\|/|then|/' >"$output/refused"
diff -u tests/front/refused.expected "$output/refused"
# A target fails over to a server of another node.
in_database node2 -f tests/front/failover.sql
{
    in_database front -P format=unaligned -f tests/front/both.sql
    in_database node1 -c "SELECT jobstats_alter_target('scratch-OST0000', 'alpha', retired => true)" -c "SELECT jobstats_alter_target('scratch-OST0001', 'alpha', retired => true)" >/dev/null
    in_database front -P format=unaligned -f tests/front/both.sql
} 2>&1 | plain >"$output/both"
diff -u tests/front/both.expected "$output/both"
