#!/usr/bin/env bash
# Converts a store while eight feeders feed it, and interrupts it repeatedly: no feeder fails, and no data is lost.
#
#   convert.sh CLUSTER DATABASE
#
# Ends with status 77 where TimescaleDB is not installed.
. "$(dirname "$0")/lib.sh"

cluster=$1 database=$2
url=$(scripts/cluster.sh url "$cluster" "$database")

# feed FROM TO [OPTION OF pgbench]
# Feeds steps of the work, all feeders at once.
feed() {
    "$("$PG_CONFIG" --bindir)/pgbench" -n -c 8 -j 1 -D step="$1" -t "$(($2 - $1))" "${@:3}" -f tests/stress/feed.sql "$url"
}

# read_on NAME
# Reads again and again while there is the file converting.
read_on() { while [ -e "$converting" ]; do psql -q "$url" -f "tests/convert/$1.sql" || exit 1; done; }

# Calls that end sooner or later than the last, until one is done.
convert() {
    local milliseconds=40
    until psql -q "$url" -c "SET statement_timeout = $milliseconds" -c 'CALL jobstats_convert()'; do
        # A busy machine may need more than seconds for a step.
        [ "$milliseconds" -lt 300000 ] || return 1
        milliseconds=$((milliseconds + (milliseconds < 2000 ? 20 : milliseconds)))
        ended=$((ended + 1))
        # Maintenance also covers tables in an intermediate state.
        [ $((ended % 8)) -ne 0 ] || { psql -q "$url" -f tests/stress/maintain.sql && says 'jobstats_convert|hypertables'; }
    done
}

# says PATTERN
# jobstats_setup() works at every stage of a conversion, and reports the stage.
says() {
    local said
    # It replaces views that are being read: not at any price.
    for _ in {1..1000}; do
        ! said=$(psql -q -At "$url" -c "SET lock_timeout = '300ms'" -c 'SELECT jobstats_setup()') || break
    done
    [[ $said =~ $1 ]] || { printf 'it says: %s\n' "$said" && exit 1; }
}

# refused SQLSTATE DO UNDO
# A conversion is refused while the object that the statement DO creates exists.
refused() {
    local said
    psql -q "$url" -c "$2"
    ! said=$(psql -q -v VERBOSITY=verbose "$url" -c 'CALL jobstats_convert()' 2>&1) || { echo "not refused: $2" && exit 1; }
    psql -q "$url" -c "$3"
    [[ $said = *"ERROR:  $1:"*HINT:* ]] || { printf 'refused otherwise: %s\n' "$said" && exit 1; }
    psql -q "$url" -c "DO \$\$ BEGIN ASSERT NOT EXISTS (SELECT FROM pg_class WHERE relname LIKE 'new\_%'); END \$\$"
}

have_timescaledb || { echo 'not run: TimescaleDB is not installed' && exit 77; }
converting=$(mktemp)
# Whatever happened, readers end.
trap 'rm -f "$converting"' EXIT
psql -q "$(scripts/cluster.sh url "$cluster")" -c "CREATE DATABASE \"$database\" TEMPLATE template0"
psql -q "$url" -f tests/convert/prepare.sql >/dev/null
steps=$(psql -At "$url" -c 'SELECT max(step) FROM work')
feed 0 $((steps / 3))
psql -q "$url" -f tests/stress/maintain.sql
refused 55000 'SELECT' 'SELECT'
psql -q "$url" -c 'SET client_min_messages = warning; CREATE EXTENSION timescaledb'
refused 2BP01 'CREATE MATERIALIZED VIEW m AS SELECT count(*) FROM jobstats.rollup_10m' 'DROP MATERIALIZED VIEW m'
refused 2BP01 "CREATE FUNCTION f() RETURNS SETOF jobstats.rollup_1d LANGUAGE sql AS 'TABLE jobstats.rollup_1d'" 'DROP FUNCTION f'
refused 2BP01 'CREATE PUBLICATION p FOR ALL TABLES' 'DROP PUBLICATION p'
refused 2BP01 'CREATE POLICY p ON jobstats.rollup_1h' 'DROP POLICY p ON jobstats.rollup_1h'
says jobstats_convert

feed $((steps / 3)) "$steps" --rate=6 &
feeders=$!
ended=0
read_on meanwhile &
reader=$!
read_on long &
long_reader=$!
read_on forget &
forgetting=$!
convert
wait "$feeders"
rm "$converting"
wait "$reader"
wait "$long_reader"
wait "$forgetting"
psql -q "$url" -f tests/convert/commented.sql
says hypertables
psql -q -At "$url" -f tests/convert/compare.sql
audit "$url"
echo "converted while it was fed, ended $ended times before it was done"
