#!/usr/bin/env bash
# Calls all functions of the extension at random, by a role with each grant, and feeds random texts. Fails where a call ends
# with an internal error (XX000), where the server goes down, or where a session takes more memory than it should.
#
#   fuzz.sh [SECONDS]    600 by default; the extension is installed already
. "$(dirname "$0")/lib.sh"

seconds=${1:-600}
# Calls of a session.
batch=500
# Texts have at most about 100 kB: the rest is PostgreSQL itself with its shared buffers, and 64 MB of headroom.
limit_kb=$((160 << 10))
roles=(fuzz_owner fuzz_writer fuzz_bound fuzz_reader fuzz_nobody)

# The compiler of jit takes 70 MB by itself.
start_cluster fuzz shared_buffers=16MB jit=off log_min_messages=panic
new_database "$cluster" fuzz
url=$(scripts/cluster.sh url "$cluster" fuzz)
psql -q "$url" -f tests/fuzz/prepare.sql
states=$(mktemp)
trap 'rm -f "$states"; scripts/cluster.sh remove "$cluster"' EXIT

calls() { psql -q -At "$url" -c "SELECT fuzz.call() || ';' FROM generate_series(1, $batch)"; }

# session ROLE
# Prints SQLSTATEs, and the largest memory of the session.
session() {
    {
        printf '%s\n' "SET SESSION AUTHORIZATION $1;" "SET statement_timeout = '5s';" 'SET client_min_messages = error;' \
            '\set VERBOSITY sqlstate' '\set ON_ERROR_STOP off' '\o /dev/null'
        cat
        printf '%s\n' 'ROLLBACK;' 'RESET SESSION AUTHORIZATION;' 'RESET search_path;' '\o' \
            "SELECT 'memory ' || (regexp_match(pg_read_file('/proc/self/status'), 'VmHWM:\\s+(\\d+)'))[1];"
    } | "$("$PG_CONFIG" --bindir)/psql" -X -q -At "$url" 2>&1
}

began=$SECONDS sessions=0 largest=0
while [ $((SECONDS - began)) -lt "$seconds" ]; do
    role=${roles[sessions % ${#roles[@]}]}
    calls >"$states.calls"
    session "$role" <"$states.calls" >"$states.said"
    sed -n 's/.*ERROR:  \([0-9A-Z]\{5\}\).*/\1/p' "$states.said" >>"$states"
    memory=$(sed -n 's/^memory //p' "$states.said")
    sessions=$((sessions + 1))
    if [ -z "$memory" ] || grep -q 'XX000' "$states.said"; then
        cp "$states.calls" "$target/fuzz.calls.sql"
        grep -n 'XX000\|server closed\|FATAL' "$states.said" | head >&2 || true
        die "a session of $role failed; its calls are in $target/fuzz.calls.sql"
    fi
    [ "$memory" -le "$limit_kb" ] || { cp "$states.calls" "$target/fuzz.calls.sql" && die "a session of $role took $memory kB; its calls are in $target/fuzz.calls.sql"; }
    [ "$memory" -le "$largest" ] || largest=$memory
done
rm -f "$states.calls" "$states.said"
printf '%s calls in %s sessions, %s of them errors of %s kinds; the largest session took %s MB\n' \
    "$((sessions * batch))" "$sessions" "$(wc -l <"$states")" "$(sort -u "$states" | wc -l)" "$((largest >> 10))"
sort "$states" | uniq -c | sort -rn | awk '{ print $2, $1 }' | paste -sd ' '
