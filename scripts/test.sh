#!/usr/bin/env bash
# Runs the tests and ends with one line of totals. Needs what setup.sh installs.
#
#   test.sh [PART ...]    core simulator shipper regress isolation; all of them by default
#
# regress:NAME and isolation:NAME run one file. What a file printed stays in target/regress and target/isolation.
. "$(dirname "$0")/lib.sh"

passed=0 failed=0 skipped=0
failures=()

# count PART PASSED FAILED SKIPPED STATUS
# A part that ended badly without a failed test (it did not build, say) and a part that executed nothing count as one
# failure each: the sums alone would not show them.
count() {
    local part_failed=$3
    if [ "$3" -eq 0 ] && { [ "$5" -ne 0 ] || [ "$2" -eq 0 ]; }; then
        printf '%s: ended with status %s after %s tests\n' "$1" "$5" "$2" >&2
        part_failed=1
    fi
    [ "$part_failed" -eq 0 ] || failures+=("$1")
    passed=$((passed + $2)) failed=$((failed + part_failed)) skipped=$((skipped + $4))
}

cargo_tests() {
    local crate=$1 log=$target/$1.log status=0
    say "cargo test -p $crate"
    cargo test -p "$crate" 2>&1 | tee "$log" || status=$?
    # shellcheck disable=SC2046 # three numbers
    count "$crate" $(awk '/^test result:/ { passed += $4; failed += $6; ignored += $8 }
        END { print passed + 0, failed + 0, ignored + 0 }' "$log") "$status"
}

# regression_tests KIND RUNNER DIRECTORY SUFFIX [NAME]
# The standard runner once per file: each has a database of its own, which the file fills from CREATE EXTENSION on.
regression_tests() {
    local kind=$1 runner=$2 directory=$3 suffix=$4 file name pass=0 fail=0
    say "$runner over $directory"
    # shellcheck disable=SC2231 # NAME may be a pattern
    for file in "$directory"/*/${5:-*}."$suffix"; do
        [ -e "$file" ] || continue
        name=$(basename "$file" ".$suffix")
        if regression_test "$runner" "$directory" "$name" "$target/$kind/$name"; then
            printf 'ok      %s\n' "$name"
            pass=$((pass + 1))
        else
            printf 'FAILED  %s\n' "$name"
            fail=$((fail + 1))
        fi
    done
    count "$kind" "$pass" "$fail" 0 0
}

regression_test() {
    local runner=$1 directory=$2 name=$3 output=$4 load=() status=0
    ! have_timescaledb || load=(--load-extension=timescaledb)
    rm -rf "$output"
    mkdir -p "$output"
    # The runner asks for a time zone and a date style of long ago; UTC and ISO read better in expected output.
    "$(dirname "$("$PG_CONFIG" --pgxs)")/../test/$runner" \
        --inputdir="$directory" --outputdir="$output" --bindir="$("$PG_CONFIG" --bindir)" \
        --host="$cluster" --user=postgres --dbname="$name" --launcher='env PGTZ=UTC PGDATESTYLE=ISO' \
        "${load[@]}" "$name" >"$output/log" 2>&1 || status=$?
    # A database that stays keeps TimescaleDB's workers busy.
    psql -q "$url" -c "DROP DATABASE IF EXISTS \"$name\" WITH (FORCE)" || status=$?
    if [ "$status" -ne 0 ]; then
        # Without an expected file there is no difference to show.
        { [ -s "$output/regression.diffs" ] && cat "$output/regression.diffs"; } || cat "$output/log"
    fi
    return "$status"
}

start_cluster() {
    cluster=$(mktemp -d /tmp/jobstats-test.XXXXXX)
    trap 'scripts/cluster.sh remove "$cluster"' EXIT
    is_root && chown postgres "$cluster"
    scripts/cluster.sh start "$cluster" fsync=off full_page_writes=off synchronous_commit=off
    url=$(scripts/cluster.sh url "$cluster")
}

run_part() {
    local name=
    case $1 in *:*) name=${1#*:} ;; esac
    case $1 in
    core | simulator) cargo_tests "jobstats-$1" ;;
    shipper)
        psql -q "$url" -c 'CREATE DATABASE shipper'
        JOBSTATS_TEST_DATABASE_URL=$(scripts/cluster.sh url "$cluster" shipper) cargo_tests jobstats-shipper
        ;;
    regress | regress:*) regression_tests regress regress/pg_regress tests/pg_regress sql "$name" ;;
    isolation | isolation:*)
        regression_tests isolation isolation/pg_isolation_regress tests/isolation spec "$name"
        ;;
    *) die "there is no part $1" ;;
    esac
}

[ $# -gt 0 ] || set -- core simulator regress isolation shipper
mkdir -p "$target"
start_cluster
scripts/install.sh
for part; do
    run_part "$part"
done
[ "${#failures[@]}" -eq 0 ] || printf 'failed: %s\n' "${failures[*]}" >&2
printf '\n%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
