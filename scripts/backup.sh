#!/usr/bin/env bash
# Dumps a store and restores it elsewhere, as docs/backup.md describes: the copy is identical, gives the same answers and accepts feeds.
#
#   backup.sh CLUSTER WAY     WAY is custom (pg_dump -Fc), directory (-Fd with several jobs), owner (by a role that owns the store
#                             and its copy but is no superuser) or naive (not as in docs/backup.md: the copy is damaged and
#                             reports it). It is also the name of the database
. "$(dirname "$0")/lib.sh"

cluster=$1 way=$2
bindir=$("$PG_CONFIG" --bindir)
output=$target/backup/$way
copy="$way restored"
dump=$output/dump
superuser=postgres owner=postgres
world=(--layout 2.16 --interval 10m --scale 0.15 --connections 1)
# One hour for both, also if the next one begins meanwhile.
hour=$(date -u +%Y-%m-%dT%H:00:00Z)
from=$(date -u -d "$hour - 30 hours" +%Y-%m-%dT%H:00:00Z)
later=$(date -u -d "$hour - 4 hours" +%Y-%m-%dT%H:00:00Z)

# database NAME [ROLE]
database() { scripts/cluster.sh url "$cluster" "$1" | sed "s/user=postgres/user=${2:-postgres}/"; }
# as ROLE DATABASE ARGUMENTS
as() { psql -q "$(database "$2" "$1")" "${@:3}"; }
load() { "$built/jobstats-simulator" load "${world[@]}" --from "$2" --hours "$3" --database-url "$(database "$1")" >/dev/null 2>&1; }

# look DATABASE FILE
# What the copy is compared by.
look() {
    as "$superuser" "$1" -f tests/store/catalog.sql >"$2.catalog"
    as "$superuser" "$1" -f tests/store/answers.sql >"$2.answers"
    as "$superuser" "$1" -f tests/backup/kept.sql >"$2.kept"
}
compare() {
    local what
    for what in catalog answers "${@:3}"; do
        diff -u "$1.$what" "$2.$what"
    done
}

dump() { "$bindir/pg_dump" --dbname="$(database "$way" "$owner")" --file="$dump" "$@"; }
put_back() { "$bindir/pg_restore" --dbname="$(database "$copy" "$owner")" --exit-on-error "$@" "$dump"; }

restore() {
    new_database "$cluster" "$copy"
    as "$superuser" "$copy" -c "ALTER DATABASE \"$copy\" OWNER TO $owner"
    case $way in
    custom)
        dump --format=custom
        restoring "$(database "$copy")" put_back
        ;;
    directory)
        dump --format=directory --jobs=2
        # Of TimescaleDB's catalog everything must be there before the rest.
        restoring "$(database "$copy")" put_back --jobs="$(if have_timescaledb; then echo 1; else echo 2; fi)"
        ;;
    owner)
        dump --format=custom
        as "$superuser" "$copy" -c 'CREATE EXTENSION jobstats'
        "$bindir/pg_restore" --list "$dump" | grep -v ' EXTENSION ' >"$output/list"
        restoring "$(database "$copy")" put_back --use-list="$output/list"
        # The functions on text belong to who created the extension; setup gives them to readers and writers again.
        as "$owner" "$copy" -At -c 'SELECT jobstats_setup()' >"$output/setup"
        ;;
    esac
}

if [ "$way" = owner ]; then
    ! have_timescaledb || { echo 'not run: with TimescaleDB only a superuser restores' && exit 77; }
    owner=storage
fi
as "$superuser" postgres -f tests/backup/roles.sql
trap 'as "$superuser" postgres -c "SET client_min_messages = warning" -c "DROP DATABASE IF EXISTS \"$copy\" WITH (FORCE)"' EXIT
mkdir -p "$output"
new_database "$cluster" "$way"
if [ "$way" = naive ]; then
    [ "$(as "$superuser" "$way" -At -c "SELECT current_setting('timescaledb.license', true)")" = timescale ] ||
        { echo 'not run: this needs the Community edition of TimescaleDB' && exit 77; }
fi
as "$superuser" "$way" -c "ALTER DATABASE \"$way\" OWNER TO $owner" -c 'CREATE EXTENSION jobstats'
as "$owner" "$way" -f tests/backup/prepare.sql
load "$way" "$from" 26
as "$owner" "$way" -f tests/backup/change.sql

# Without timescaledb_pre_restore() the restore has errors in the middle; the copy then names the missing objects and repairs as many as
# possible.
if [ "$way" = naive ]; then
    new_database "$cluster" "$copy"
    as "$owner" "$way" -c 'SET client_min_messages = warning' -c 'DROP SCHEMA reports CASCADE'
    dump --format=custom
    ! "$bindir/pg_restore" --dbname="$(database "$copy")" "$dump" 2>"$output/errors" || exit 1
    as "$owner" "$copy" -At -f tests/backup/naive.sql >"$output/naive" 2>"$output/warnings"
    diff -u tests/backup/naive.expected "$output/naive"
    exit
fi

look "$way" "$output/original"
restore
look "$copy" "$output/copy"
compare "$output/original" "$output/copy" kept

# Whoever may read the store may dump it, without what only the owner may read. Where TimescaleDB is installed that takes rights on its catalog too.
if [ "$way" = custom ] && ! have_timescaledb; then
    for role in postgres backup:%20reader; do
        # Every dump has a different key.
        "$bindir/pg_dump" --dbname="$(database "$way" "$role")" --schema=jobstats --exclude-table='jobstats.(texts|secrets|forgotten)' |
            sed -E '/^\\(un)?restrict /d' >"$output/by $role"
    done
    cmp "$output"/by*
    rm "$output"/by*
fi

# Both go on from the same text.
for name in "$way" "$copy"; do
    load "$name" "$later" 2
    as "$superuser" "$name" -f tests/backup/go-on.sql
    as "$owner" "$name" -c 'CALL jobstats_maintain()' -f tests/store/rollups.sql
done
look "$way" "$output/original later"
look "$copy" "$output/copy later"
compare "$output/original later" "$output/copy later"
audit "$(database "$copy")"
printf '%s lines of catalog, %s of answers, %s of dump\n' "$(wc -l <"$output/copy.catalog")" "$(wc -l <"$output/copy.answers")" \
    "$(du -sh "$dump" | cut -f 1)"
