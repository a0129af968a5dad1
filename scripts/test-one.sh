#!/usr/bin/env bash
# Runs one of the tests of test.sh, in a new database in the cluster of its lane, JOBSTATS_TEST_CLUSTERS/JOBSTATS_TEST_LANE. Prints the
# result and appends it to target/results. The output stays in target/PART/NAME.
#
#   test-one.sh PART NAME
. "$(dirname "$0")/lib.sh"

part=$1 name=$2
# shellcheck disable=SC2153 # xargs sets it
cluster=$JOBSTATS_TEST_CLUSTERS/$JOBSTATS_TEST_LANE
url=$(scripts/cluster.sh url "$cluster")
output=$target/$part/$name
# Steps of a test do not count in the table of seconds.
unset JOBSTATS_TIMES

# Runs a Rust test program, as Cargo would run it. The name doc runs the examples of the documentation; a name that is no program selects
# the tests whose names contain it.
rust() {
    local features program status=0
    export JOBSTATS_TEST_DATABASE_URL=$url JOBSTATS_TEST_BUILT=$built JOBSTATS_TEST_PYTHON=$test_tools/bin/python PROPTEST_CASES PROPTEST_MAX_GLOBAL_REJECTS
    PROPTEST_CASES=$(if is_long; then echo 20000; else echo 256; fi)
    # Cases that do not fit a law are no failure, however many there are.
    PROPTEST_MAX_GLOBAL_REJECTS=$((100 * PROPTEST_CASES))
    if [ "$name" = doc ]; then
        mapfile -t features < <(features)
        # The build for the package's other tests serves its examples too.
        cargo test --doc --workspace --exclude jobstats-core "${features[@]}" &&
            cargo test --doc --package jobstats-core --config "profile.$profile.package.jobstats-core.opt-level=0"
    else
        program=$(test_program "$part" "$name")
        cd "$part" || return
        [ -z "$program" ] || exec "$program"
        for program in $(test_program "$part" '[^ ]*'); do
            "$program" "$name" || status=$?
        done
        return "$status"
    fi
}

# run_by_postgresql PROGRAM DIRECTORY [OPTION ...]
# PostgreSQL's own runner. Each file fills its database from CREATE EXTENSION on.
run_by_postgresql() {
    local load=()
    ! have_timescaledb || load=(--load-extension=timescaledb)
    "$(dirname "$("$PG_CONFIG" --pgxs)")/../test/$1" \
        --inputdir="$2" --outputdir="$output" --bindir="$("$PG_CONFIG" --bindir)" \
        --host="$cluster" --user=postgres --dbname="$name" --launcher=scripts/launch.sh \
        "${load[@]}" "${@:3}" "$name"
}

# copy_store
# Creates a database with a store from jobstats_setup(). The first test of a lane creates the template that the others copy, which is much
# faster. The template rejects connections, so that no worker of TimescaleDB blocks the copy.
copy_store() {
    [ -n "$(psql -q -At "$url" -c "SELECT datname FROM pg_database WHERE datname = 'store'")" ] ||
        { new_store "$cluster" store >/dev/null && psql -q "$url" -c 'ALTER DATABASE store ALLOW_CONNECTIONS false' \
            -c "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = 'store'"; } || return
    psql -q "$url" -c "CREATE DATABASE \"$name\" TEMPLATE store"
}

# A test that cannot run prints a line about it, which is also in its expected output.
regress() {
    local begun=()
    ! grep -qE '^\\i (store|readings?)\.sql' "tests/pg_regress/sql/$name.sql" || { copy_store && begun=(--use-existing); } || return
    run_by_postgresql regress/pg_regress tests/pg_regress "${begun[@]}" || return
    ! grep -a '^not run: ' "$output/results/$name.out" || return 77
}
# A step may wait for longer than a feed may stay in its transaction.
isolation() { PGOPTIONS='-c idle_in_transaction_session_timeout=10min' run_by_postgresql isolation/pg_isolation_regress tests/isolation; }

# Runs a regression test again, with a decoy for every function of jobstats that PostgreSQL would prefer: jobstats itself must never call
# one. The output of the test is ignored.
overload() {
    local begins
    new_database "$cluster" "$name" || return 1
    begins=$(wc -l <"$cluster/log")
    psql -q "$(scripts/cluster.sh url "$cluster" "$name")" -f tests/overload/decoys.sql || return 1
    run_by_postgresql regress/pg_regress tests/pg_regress --use-existing >"$output/printed" 2>&1
    psql -q -At "$(scripts/cluster.sh url "$cluster" "$name")" -f tests/overload/held.sql >"$output/held" || return 1
    tail -n "+$((begins + 1))" "$cluster/log" | grep -aA 3 'LOG:  decoy called' >"$output/called"
    cat "$output/held" "$output/called"
    [ ! -s "$output/held" ] && [ ! -s "$output/called" ]
}

# Runs tests of answers again with plans that leave all rows to a parallel worker. TimescaleDB's nodes have lost rows when a worker started
# before the leader, which otherwise happens only on a busy machine.
parallel() {
    new_database "$cluster" "$name" || return 1
    psql -q "$(scripts/cluster.sh url "$cluster" "$name")" -v name="$name" <<-'SQL'
		ALTER DATABASE :"name" SET parallel_leader_participation = off;
		ALTER DATABASE :"name" SET max_parallel_workers_per_gather = 1;
		ALTER DATABASE :"name" SET parallel_setup_cost = 0;
		ALTER DATABASE :"name" SET parallel_tuple_cost = 0;
		ALTER DATABASE :"name" SET min_parallel_table_scan_size = 0;
	SQL
    run_by_postgresql regress/pg_regress tests/pg_regress --use-existing
}

# Runs eight feeders at once, out of order, while two loops refresh rollups: the result equals feeding in order, and concurrent readers see
# only data that matches the raw text. Then waits for a lock again and again while another session holds it.
stress() {
    local url steps feeders maintainers=()
    new_database "$cluster" "$name"
    url=$(scripts/cluster.sh url "$cluster" "$name")
    psql -q "$url" -f tests/stress/prepare.sql >/dev/null || return 1
    steps=$(psql -At "$url" -c 'SELECT max(step) FROM work')
    "$("$PG_CONFIG" --bindir)/pgbench" -n -c 8 -j 2 -D step=0 -t "$steps" -f tests/stress/feed.sql "$url" &
    feeders=$!
    for _ in 1 2; do
        while kill -0 "$feeders" 2>/dev/null; do psql -q "$url" -f tests/stress/maintain.sql || exit 1; done &
        maintainers+=($!)
    done
    while kill -0 "$feeders" 2>/dev/null; do psql -q "$url" -f tests/stress/meanwhile.sql || return 1; done
    wait "$feeders" && wait "${maintainers[0]}" && wait "${maintainers[1]}" &&
        psql -q -At "$url" -f tests/stress/compare.sql >"$output/report" &&
        audit "$url" | tee -a "$output/report" || return 1
    "$("$PG_CONFIG" --bindir)/pgbench" -n -c 1 -T 5 -f tests/stress/hold.sql "$url" >/dev/null &
    psql -q "$url" -f tests/stress/locks.sql && wait $!
}

# A server that runs keeps the library that it has loaded when another is installed.
library() {
    local installed
    installed=$("$PG_CONFIG" --pkglibdir)/jobstats-$(product_version).so
    exec 9<"$installed"
    scripts/install.sh built || return 1
    [ ! /proc/self/fd/9 -ef "$installed" ] || { echo "$installed was written into" && return 1; }
    exec 9<&-
    cmp "$installed" "$built/libjobstats.so"
}

# The columns in the table of a page, each with its type.
columns_of() {
    awk -F ' *[|] *' '!/^[|]/ { inside = 0 } $2 == "column" { inside = 1 } inside && $2 ~ /^`/ {
        n = split($2, names, ", ")
        for (i = 1; i <= n; i++) { line = names[i] " " $3; gsub("`", "", line); print line }
    }' "$1"
}

# Checks that every function except internal ones has a page, or a section of one, that names its arguments and lists its columns in a
# table. A function's own page begins with the sentence of its comment.
docs() {
    local function comment names columns page word status=0
    new_database "$cluster" "$name"
    psql -q -At "$(scripts/cluster.sh url "$cluster" "$name")" -f tests/docs/functions.sql >"$output/functions"
    [ -s "$output/functions" ] || return 1
    while IFS='|' read -r function comment names columns; do
        page=$(grep -lE "^##? $function\$" docs/functions/*.md) || { echo "$function has no page" && status=1 && continue; }
        [ ! -e "docs/functions/$function.md" ] || sed 's/](\([^)]*\))//g; s/[][`]//g' "$page" | tr '\n' ' ' | grep -F "# $function  ${comment%.}" >/dev/null || { echo "$page does not begin: $comment" && status=1; }
        for word in $names; do
            grep -qF "\`$word\`" "$page" || { echo "$page does not name $word of $function" && status=1; }
        done
        [ -z "$columns" ] || diff <(echo "${columns//, /$'\n'}") <(columns_of "$page") || { echo "$page has other columns than $function" && status=1; }
    done <"$output/functions"
    return "$status"
}

# A store made without TimescaleDB is converted while it is fed.
convert() {
    scripts/convert.sh "$cluster" "$name" >"$output/all" 2>&1
    local status=$?
    [ "$status" -ne 0 ] || tail -n 3 "$output/all" >"$output/report"
    tail -n 40 "$output/all"
    return "$status"
}

# Runs the jobs of jobstats_setup() under pg_cron, in a private cluster that loads it.
cron() {
    local libraries=pg_cron own url status=0
    [ -e "$("$PG_CONFIG" --pkglibdir)/pg_cron.so" ] || { echo 'not run: pg_cron is not installed' && return 77; }
    ! have_timescaledb || libraries=timescaledb,pg_cron
    own=$(mktemp -d -t jobstats-cron.XXXXXX)
    ! is_root || chown postgres "$own"
    scripts/cluster.sh start "$own" shared_preload_libraries="$libraries" cron.database_name="$name" cron.host="$own"
    { new_database "$own" "$name" && url=$(scripts/cluster.sh url "$own" "$name") &&
        psql -q "$url" -f tests/cron/schedule.sql >/dev/null && psql -q -At "$url" -f tests/cron/check.sql >"$output/report"; } ||
        { status=1 && tail -n 20 "$own/log"; }
    scripts/cluster.sh remove "$own"
    return "$status"
}

# Prometheus and Alertmanager accept the output.
alerts() {
    scripts/alerts.sh "$cluster" "$name" >"$output/report" 2>&1
    local status=$?
    cat "$output/report"
    return "$status"
}

# What looks at the pages of the console finds every fault that it is there for.
pages() {
    have_test_tools || { echo 'not run: Playwright is not installed' && return 77; }
    "$test_tools/bin/python" tests/pages/faults.py
}

# Every query of the Grafana dashboards answers something on a simulated store.
dashboards() { scripts/dashboards.sh "$cluster" "$name"; }

# Runs some seconds of `make fuzz`, in a private cluster.
fuzz() { scripts/fuzz.sh 15 | tee "$output/report"; }

# Where memory is short there is an error, and the server stays up.
memory() { scripts/memory.sh "$cluster" "$name" | tee "$output/report"; }

# Stores behind a front, compared with one store.
front() { scripts/front.sh "$cluster" | tee "$output/report"; }

# Dumped, restored, gone on with.
backup() { scripts/backup.sh "$cluster" "$name" | tee "$output/report"; }

# The stored jobs match the accounting of the schedulers.
jobs() { scripts/jobs.sh "$cluster" "$name" | tee "$output/report"; }

# README and the page of questions match the demo.
demo() { scripts/demo.sh test "$cluster" "$name"; }

# The commands of the page of installing, as they are on the page, end with an answer.
evening() { scripts/evening.sh "$output" | tee "$output/all" | grep '^ok: ' >"$output/report"; }

# The console answers tickets of users.
tickets() { scripts/tickets.sh "$cluster" "$name" | tee "$output/report"; }

# Injects one fault of each kind of `make test-faults`, in a private cluster. No fault depends on the size of texts.
faults() {
    JOBSTATS_SIMULATOR_SCALE=0.25 scripts/faults.sh 24 1 >"$output/all" 2>&1
    local status=$?
    [ "$status" -ne 0 ] || { tail -n 1 "$output/all" && grep '^not run: ' "$output/all"; } >"$output/report"
    tail -n 40 "$output/all"
    return "$status"
}

# Runs `make proof` at one interval and with half of the users.
proof() {
    JOBSTATS_PROOF_INTERVALS=10m JOBSTATS_SIMULATOR_SCALE=0.5 scripts/proof.sh part "$cluster" "$name" | tee "$output/report"
}

# counts STATUS
# Counts passed, failed and skipped tests. A Rust test that cannot run prints a line about it, although its runner counts it as passed. A
# test program that failed without a failed test counts as a failure.
counts() {
    if is_rust "$part"; then
        awk -v status="$1" '/^test result:/ { passed += $4; failed += $6; skipped += $8 }
            /^not run: / { lacking++ }
            END {
                if (lacking > passed) lacking = passed
                passed -= lacking; skipped += lacking
                print passed + 0, status && !failed ? 1 : failed + 0, skipped + 0
            }' "$output/log"
        return
    fi
    case $1 in
    0) echo 1 0 0 ;;
    77) echo 0 0 1 ;;
    *) echo 0 1 0 ;;
    esac
}

# show STATUS SECONDS PASSED FAILED SKIPPED
show() {
    local word=ok
    [ "$3" -gt 0 ] || [ "$5" -eq 0 ] || word='not run'
    [ "$4" -eq 0 ] || word=FAILED
    printf '%-7s %s:%s, %s s: %s passed, %s failed, %s skipped\n' "$word" "$part" "$name" "$2" "$3" "$4" "$5"
    if [ "$4" -gt 0 ]; then
        # Without an expected file there is no difference to show.
        { [ -s "$output/regression.diffs" ] && cat "$output/regression.diffs"; } || cat "$output/log"
    else
        grep -a '^not run: ' "$output/log" || [ ! -e "$output/report" ] || cat "$output/report"
    fi
}

# Databases and roles that a test left, but for the store that others copy. A database that stays keeps TimescaleDB's workers busy.
clean_up() {
    psql -q "$url" <<-'SQL'
		SET client_min_messages = warning;
		SELECT format('DROP DATABASE %I WITH (FORCE)', datname) FROM pg_database WHERE datname NOT IN ('postgres', 'template0', 'template1', 'store') \gexec
		SELECT format('DROP ROLE %I', rolname) FROM pg_roles WHERE oid >= 16384 \gexec
	SQL
}

rm -rf "$output"
mkdir -p "$output"
status=0
body=$part
! is_rust "$part" || body=rust
("$body") >"$output/log" 2>&1 || status=$?
read -r passed failed skipped < <(counts "$status")
clean_up
# Prevents tests from mixing their result lines.
exec 9>>"$target/results"
flock 9
show "$status" "$SECONDS" "$passed" "$failed" "$skipped"
echo "$part $name $SECONDS $passed $failed $skipped" >&9
