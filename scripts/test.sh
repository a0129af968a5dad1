#!/usr/bin/env bash
# Runs the tests and ends with one line of totals. Needs what setup.sh installs.
#
#   test.sh [PART ...]    core client console browser simulator schema library docs regress overload parallel isolation memory fuzz
#                         stress cron convert dashboards backup upgrade jobs shipper faults proof; all by default
#
# regress:NAME and isolation:NAME run one file, dashboards:NAME one dashboard, backup:WAY one way, upgrade:VERSION what
# follows on one version, jobs:SCHEDULER one scheduler, proof:LAYOUT one layout. What each printed stays below target/ in directories called like the parts.
. "$(dirname "$0")/lib.sh"

passed=0 failed=0 skipped=0
failures=()

# count PART PASSED FAILED SKIPPED STATUS
# A part that ended badly without a failed test (it did not build, say) and a part that executed nothing, and says of
# nothing why, count as one failure each: the sums alone would not show them.
count() {
    local part_failed=$3
    if [ "$3" -eq 0 ] && { [ "$5" -ne 0 ] || [ "$(($2 + $4))" -eq 0 ]; }; then
        printf '%s: ended with status %s after %s tests\n' "$1" "$5" "$2" >&2
        part_failed=1
    fi
    [ "$part_failed" -eq 0 ] || failures+=("$1")
    passed=$((passed + $2)) failed=$((failed + part_failed)) skipped=$((skipped + $4))
}

# Tests that lack something to run with say so in a line of its own; Cargo takes them for passed.
cargo_tests() {
    local crate=$1 log=$target/$1.log status=0
    say "cargo test -p $crate"
    JOBSTATS_TEST_DATABASE_URL=$url JOBSTATS_TEST_AXE=$(axe) JOBSTATS_TEST_PYTHON=$test_tools/bin/python \
        cargo test --no-fail-fast -p "$crate" 2>&1 | tee "$log" || status=$?
    # shellcheck disable=SC2046 # three numbers
    count "$crate" $(awk '/^test result:/ { passed += $4; failed += $6; skipped += $8 }
        /^not run: / { passed -= 1; skipped += 1 }
        END { print passed + 0, failed + 0, skipped + 0 }' "$log") "$status"
}

# each PART NAME ...
# Every name is one test, with a directory and a database of its own; the function PART says by its status how it ended.
each() {
    local part=$1 name output status pass=0 fail=0 skip=0
    shift
    say "$part"
    for name; do
        output=$target/$part/$name
        rm -rf "$output"
        mkdir -p "$output"
        status=0
        "$part" >"$output/log" 2>&1 || status=$?
        if [ "$status" -eq 0 ]; then
            printf 'ok      %s\n' "$name"
            [ ! -e "$output/report" ] || cat "$output/report"
            pass=$((pass + 1))
        elif [ "$status" -eq 77 ]; then
            printf 'not run %s\n' "$name"
            grep -a '^not run: ' "$output/log" || cat "$output/log"
            skip=$((skip + 1))
        else
            printf 'FAILED  %s\n' "$name"
            # Without an expected file there is no difference to show.
            { [ -s "$output/regression.diffs" ] && cat "$output/regression.diffs"; } || cat "$output/log"
            fail=$((fail + 1))
        fi
        # A database that stays keeps TimescaleDB's workers busy.
        psql -q "$url" -c 'SET client_min_messages = warning' -c "DROP DATABASE IF EXISTS \"$name\" WITH (FORCE)"
    done
    count "$part" "$pass" "$fail" "$skip" 0
}

# run_by_postgresql PROGRAM DIRECTORY [OPTION ...]
# PostgreSQL's own runner. Each file fills its database from CREATE EXTENSION on.
run_by_postgresql() {
    local load=()
    ! have_timescaledb || load=(--load-extension=timescaledb)
    # The runner asks for a time zone and a date style of long ago; UTC and ISO read better in expected output.
    "$(dirname "$("$PG_CONFIG" --pgxs)")/../test/$1" \
        --inputdir="$2" --outputdir="$output" --bindir="$("$PG_CONFIG" --bindir)" \
        --host="$cluster" --user=postgres --dbname="$name" --launcher='env PGTZ=UTC PGDATESTYLE=ISO' \
        "${load[@]}" "${@:3}" "$name"
}
# A file that lacks something to run with says so in a line of its own, as its expected output does.
regress() {
    run_by_postgresql regress/pg_regress tests/pg_regress || return
    ! grep -a '^not run: ' "$output/results/$name.out" || return 77
}
isolation() { run_by_postgresql isolation/pg_isolation_regress tests/isolation; }

# The regression tests once more, where functions that PostgreSQL would prefer stand beside every function of jobstats: jobstats
# itself never calls one of them. What the tests print is of no interest then.
overload() {
    local file url all=$output begins
    begins=$(wc -l <"$cluster/log")
    for file in tests/pg_regress/sql/*.sql; do
        name=$(basename "$file" .sql) output=$all/$(basename "$file" .sql)
        new_database "$cluster" "$name" || return 1
        url=$(scripts/cluster.sh url "$cluster" "$name")
        mkdir "$output"
        psql -q "$url" -f tests/overload/decoys.sql || return 1
        run_by_postgresql regress/pg_regress tests/pg_regress --use-existing >"$output/log" 2>&1
        psql -q -At "$url" -f tests/overload/held.sql || return 1
        psql -q "$(scripts/cluster.sh url "$cluster")" -c "DROP DATABASE \"$name\" WITH (FORCE)"
    done >"$all/held"
    tail -n "+$((begins + 1))" "$cluster/log" | grep -aA 3 'LOG:  decoy called' >"$all/called"
    printf '%s tests\n' "$(find "$all" -name log | wc -l)" >"$all/report"
    cat "$all/held" "$all/called"
    [ ! -s "$all/held" ] && [ ! -s "$all/called" ]
}

# Tests of answers once more, with plans that leave all work to parallel workers. Those of TimescaleDB have lost rows where a
# worker came before the leader of the plan, which takes a busy machine otherwise.
parallel() {
    new_database "$cluster" "$name" || return 1
    psql -q "$(scripts/cluster.sh url "$cluster" "$name")" -v name="$name" <<-'SQL'
		ALTER DATABASE :"name" SET parallel_leader_participation = off;
		ALTER DATABASE :"name" SET parallel_setup_cost = 0;
		ALTER DATABASE :"name" SET parallel_tuple_cost = 0;
		ALTER DATABASE :"name" SET min_parallel_table_scan_size = 0;
	SQL
    run_by_postgresql regress/pg_regress tests/pg_regress --use-existing
}

# Eight feeders at once, in no order, while two loops bring rollups up to date: what they store is what feeding in order
# stores, and whoever looks meanwhile sees nothing else than what the raw text says.
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
        audit "$url" | tee -a "$output/report"
}

# The install script in extension/sql is the one of the library.
schema() { scripts/schema.sh compare "$cluster" | tee "$output/report"; }

# A server that runs keeps the library that it has loaded when another is installed.
library() {
    local installed
    installed=$("$PG_CONFIG" --pkglibdir)/jobstats-$(product_version).so
    exec 9<"$installed"
    scripts/install.sh all || return 1
    [ ! /proc/self/fd/9 -ef "$installed" ] || { echo "$installed was written into" && return 1; }
    exec 9<&-
    cmp "$installed" "$target/release/libjobstats.so"
}

# Every function, but for internal ones, has a page, or a section of one, that names its arguments and columns.
docs() {
    local function names page word status=0
    new_database "$cluster" "$name"
    psql -q -At "$(scripts/cluster.sh url "$cluster" "$name")" -f tests/docs/functions.sql >"$output/functions"
    [ -s "$output/functions" ] || return 1
    while IFS='|' read -r function names; do
        page=$(grep -lE "^##? $function\$" docs/functions/*.md) || { echo "$function has no page" && status=1 && continue; }
        for word in $names; do
            grep -qF "\`$word\`" "$page" || { echo "$page does not name $word of $function" && status=1; }
        done
    done <"$output/functions"
    return "$status"
}

# A store made without TimescaleDB, or with its Apache edition, is converted to what is installed while it is fed.
convert() {
    scripts/convert.sh "$cluster" "$name" "$name" >"$output/all" 2>&1
    local status=$?
    [ "$status" -ne 0 ] || tail -n 3 "$output/all" >"$output/report"
    tail -n 40 "$output/all"
    return "$status"
}

# pg_cron calls what jobstats_setup() tells it to, in a cluster of its own that loads it.
cron() {
    local libraries=pg_cron own url status=0
    ! have_timescaledb || libraries=timescaledb,pg_cron
    own=$(mktemp -d /tmp/jobstats-cron.XXXXXX)
    ! is_root || chown postgres "$own"
    scripts/cluster.sh start "$own" shared_preload_libraries="$libraries" cron.database_name="$name" cron.host="$own"
    { new_database "$own" "$name" && url=$(scripts/cluster.sh url "$own" "$name") &&
        psql -q "$url" -f tests/cron/schedule.sql >/dev/null && psql -q -At "$url" -f tests/cron/check.sql >"$output/report"; } ||
        { status=1 && tail -n 20 "$own/log"; }
    scripts/cluster.sh remove "$own"
    return "$status"
}

# Every query of a Grafana dashboard answers something on a simulated store.
dashboards() { scripts/dashboards.sh "$cluster" "$name"; }

# Half a minute of what `make fuzz` does, in a cluster of its own.
fuzz() { scripts/fuzz.sh 30 | tee "$output/report"; }

# Where memory is short there is an error, and the server stays up.
memory() { scripts/memory.sh "$cluster" "$name" | tee "$output/report"; }

# Dumped, restored, gone on with.
backup() { scripts/backup.sh "$cluster" "$name" | tee "$output/report"; }

# From a released version to this one.
upgrade() { scripts/upgrade.sh "$cluster" "$name" | tee "$output/report"; }

# What schedulers account for is what is stored.
jobs() { scripts/jobs.sh "$cluster" "$name" | tee "$output/report"; }

# One fault of each kind, of those that `make test-faults` injects, in a cluster of its own.
faults() {
    scripts/faults.sh 24 1 >"$output/all" 2>&1
    local status=$?
    [ "$status" -ne 0 ] || { tail -n 1 "$output/all" && grep '^not run: ' "$output/all"; } >"$output/report"
    tail -n 40 "$output/all"
    return "$status"
}

# A part of what `make proof` does, at one interval.
proof() {
    JOBSTATS_PROOF_INTERVALS=5m scripts/proof.sh part "$cluster" "$name" | tee "$output/report"
}

# run_part PART[:NAME]
run_part() {
    local part=${1%%:*} names=()
    case $part in
    core | client | console | browser | simulator | shipper)
        cargo_tests "jobstats-$part"
        return
        ;;
    regress) mapfile -t names < <(basename -as .sql tests/pg_regress/sql/*.sql) ;;
    isolation) mapfile -t names < <(basename -as .spec tests/isolation/specs/*.spec) ;;
    cron)
        if [ ! -e "$("$PG_CONFIG" --pkglibdir)/pg_cron.so" ]; then
            printf 'not run: %s: pg_cron is not installed\n' "$part"
            skipped=$((skipped + 1))
            return
        fi
        names=("$1")
        ;;
    docs | faults | fuzz | library | memory | overload | schema | stress) names=("$1") ;;
    parallel) names=(audit health job levels_read now rates rollups summary top totals) ;;
    convert) names=(plain apache) ;;
    dashboards) mapfile -t names < <(basename -as .json dashboards/*.json) ;;
    backup) names=(custom directory owner naive) ;;
    upgrade) mapfile -t names < <(cut -d ' ' -f 1 extension/sql/released) ;;
    jobs) names=(slurm pbs lsf gridengine flux) ;;
    proof) mapfile -t names < <(scripts/proof.sh parts) ;;
    *) die "there is no part $part" ;;
    esac
    [ "$part" = "$1" ] || names=("${1#*:}")
    each "$part" "${names[@]}"
}

[ $# -gt 0 ] || set -- core client console browser simulator schema library docs regress overload parallel isolation memory fuzz stress cron convert dashboards backup upgrade jobs shipper faults proof
mkdir -p "$target"
start_cluster test
scripts/install.sh all
# Otherwise tests of changed SQL would show what the old SQL does.
! have_cargo_pgrx || scripts/schema.sh check
for part; do
    run_part "$part"
done
[ "${#failures[@]}" -eq 0 ] || printf 'failed: %s\n' "${failures[*]}" >&2
printf '\n%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
