#!/usr/bin/env bash
# What functions on text and feeds do where memory is short: an error, and never the end of the server. And that they take no
# more than they may, beyond what reading their argument takes.
#
#   memory.sh CLUSTER DATABASE
. "$(dirname "$0")/lib.sh"

cluster=$1
# The amounts of memory to try, in ninths of the required amount.
read -ra steps <<<"$(if is_long; then echo 1 2 3 4 5 6 7 8; else echo 1 4 7; fi)"
# Only who runs a process may limit it.
as_owner=
! is_root || as_owner='runuser -u postgres --'
new_database "$cluster" "$2"
url=$(scripts/cluster.sh url "$cluster" "$2")
psql -q "$url" -f tests/memory/prepare.sql

# session KB STATEMENT
# Runs a statement in a session that may have so many kB more than it has; 0 is no limit. Prints the SQLSTATE, of an error,
# how many kB of memory the session took, and how many of addresses. Before a limit, PL/pgSQL is loaded: a library that does not fit is another error.
session() {
    "$("$PG_CONFIG" --bindir)/psql" -X -q -At "$url" <<-SQL 2>&1
		SET client_min_messages = error;
		$([ "$1" = 0 ] || echo "DO 'BEGIN END';")
		SELECT pg_backend_pid() AS pid, count(*) FROM jobstats_parse('') \gset
		\setenv PID :pid
		\set VERBOSITY sqlstate
		BEGIN;
		\! awk -f tests/memory/amounts.awk -v word=before -v addresses=VmSize: /proc/\$PID/status
		\! [ $1 = 0 ] || $as_owner prlimit --pid="\$PID" --as=\$((1024 * (\$(awk '/^VmSize/ { print \$2 }' /proc/\$PID/status) + $1)))
		$2;
		\! awk -f tests/memory/amounts.awk -v word=after -v addresses=VmPeak: /proc/\$PID/status
		ROLLBACK;
		SELECT 'lives';
	SQL
}

# grown WHICH
# By how many kB a session grew: WHICH is 1 for addresses, 2 for memory, in the order of /proc.
grown() { awk -v which="$1" '$1 == "before" { before[++b] = $2 } $1 == "after" { after[++a] = $2 } END { print after[which] - before[which] }'; }

failed=0
while IFS=$'\t' read -r name argument statement allowed; do
    # Later tests would read the rows of feeds that were rolled back.
    psql -q "$url" -c VACUUM
    said=$(session 0 "$statement")
    addresses=$(grown 1 <<<"$said")
    memory=$(($(grown 2 <<<"$said") - $(session 0 "$argument" | grown 2)))
    refused=0 broken=
    [[ $said != *ERROR* ]] || broken+=" without a limit: ${said#*ERROR}"
    for step in "${steps[@]}"; do
        tried=$(session $((addresses * step / 9)) "$statement")
        case $tried in
        *lives*) [[ $tried != *ERROR* ]] || [[ $tried == *53200* ]] || broken+=" $step: $tried" ;;
        *) broken+=" $step: the server went down" ;;
        esac
        [[ $tried != *53200* ]] || refused=$((refused + 1))
    done
    printf '%-16s %4s MB of %4s; 53200 in %s of %s steps up to %s MB%s\n' \
        "$name" $((memory >> 10)) $((allowed >> 20)) "$refused" "${#steps[@]}" $((addresses >> 10)) "$broken"
    if [ -n "$broken" ] || [ "$refused" = 0 ] || [ "$memory" -gt $((allowed >> 10)) ]; then
        failed=1
    fi
done < <(psql -q -At -F $'\t' "$url" -c 'SELECT * FROM memory.statements')
exit "$failed"
