#!/usr/bin/env bash
# Runs the tests, and ends with the seconds of each part and one line of totals. Needs what setup.sh installs.
#
#   test.sh [PART ...]    all parts by default; scripts/test-one.sh has them
#
# PART:NAME is one test of a part: for regress and isolation a file, for core a Rust test program or the tests whose names contain NAME, for
# backup a way, for jobs a scheduler, for proof a layout. Output stays below target/PART/NAME.
#
# Some tests wait, so by default one more lane than processors runs (JOBSTATS_TEST_LANES), each with a private cluster, because roles are
# shared by all databases of a cluster. JOBSTATS_TEST_INSTALLED=yes tests the installed extension and builds nothing.
export JOBSTATS_PROFILE=${JOBSTATS_PROFILE:-dev}
. "$(dirname "$0")/lib.sh"

lanes=${JOBSTATS_TEST_LANES:-$(($(nproc) + 1))}
# What waits and what takes long begins first.
parts=(cron alerts proof jobs demo tickets evening faults front fuzz shipper core convert stress pages console memory backup dashboards overload regress
    parallel isolation client simulator extension library docs)

# names PART
# The tests of a part.
names() {
    if is_rust "$1"; then
        cut -d ' ' -f 1,2 "$test_programs" | sed -n "s/^$1 //p"
        [ "$1" != core ] || echo doc
        return
    fi
    case $1 in
    overload) if is_long; then names regress; else cat tests/overload/files; fi ;;
    regress) basename -as .sql tests/pg_regress/sql/*.sql ;;
    isolation) basename -as .spec tests/isolation/specs/*.spec ;;
    alerts | convert | cron | dashboards | demo | docs | evening | faults | front | fuzz | library | memory | pages | stress | tickets) echo "$1" ;;
    parallel) printf '%s\n' audit health job now queues rates rollups summary top totals whole_targets ;;
    backup) printf '%s\n' custom directory owner naive ;;
    jobs) schedulers ;;
    proof) scripts/proof.sh parts ;;
    *) die "there is no part $1" ;;
    esac
}

# list PART[:NAME] ...
# The part and the name of each test.
list() {
    local part
    for part; do
        case $part in
        *:*) names "${part%%:*}" >/dev/null && echo "${part/:/ }" ;;
        *) names "$part" | sed "s/^/$part /" ;;
        esac
    done
}

# Builds Rust tests and their programs in one run; without Rust tests, only the required programs. Tests of core need no program, and some
# tests only the extension.
build_and_install() {
    local part mode=extension
    if [ "$(printf '%s\n' "${@%%:*}" | sort -u)" = core ]; then
        build_core_tests
        return
    fi
    for part in "${@%%:*}"; do
        if is_rust "$part" || [ "$part" = faults ]; then mode=tests; fi
        [[ $mode = tests || $part =~ ^(cron|docs|isolation|library|overload|parallel|regress|stress)$ ]] || mode=all
    done
    scripts/install.sh "$mode"
}

# Each query of a test runs once, so JIT compilation would take up to a quarter of the time.
start_clusters() {
    local lane
    export JOBSTATS_TEST_CLUSTERS
    JOBSTATS_TEST_CLUSTERS=$(mktemp -d -t jobstats-test.XXXXXX)
    trap remove_clusters EXIT
    ! is_root || chown postgres "$JOBSTATS_TEST_CLUSTERS"
    for ((lane = 0; lane < lanes; lane++)); do
        # Jobs of TimescaleDB that run whenever they are due would change what tests see.
        start_volatile "$JOBSTATS_TEST_CLUSTERS/$lane" jit=off timescaledb.max_background_workers=0
    done
}

remove_clusters() {
    local lane
    for ((lane = 0; lane < lanes; lane++)); do
        scripts/cluster.sh remove "$JOBSTATS_TEST_CLUSTERS/$lane"
    done
    rmdir "$JOBSTATS_TEST_CLUSTERS"
}

# summary RESULTS
# Prints the seconds of each part, and totals. A part without any executed or explained test counts as a failure, because totals would not
# show it.
summary() {
    awk '{ seconds[$1] += $3 } END { for (part in seconds) print seconds[part], part }' "$1" | sort -rn | while read -r seconds part; do
        printf '%6s s  %s\n' "$seconds" "$part"
        [ -z "${JOBSTATS_TIMES:-}" ] || printf 'part\t%s\t%s\n' "$seconds" "$part" >>"$JOBSTATS_TIMES"
    done
    awk '
        { passed += $4; failed += $5; skipped += $6; executed[$1] += $4 + $5 + $6 }
        $5 { bad = bad " " $1 ":" $2 }
        END {
            for (part in executed) if (!executed[part]) { bad = bad " " part " (nothing executed)"; failed++ }
            if (bad) print "failed:" bad
            printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped
            exit failed > 0
        }' "$1"
}

[ $# -gt 0 ] || set -- "${parts[@]}"
mkdir -p "$target"
[ -n "${JOBSTATS_TEST_INSTALLED:-}" ] || build_and_install "$@"
list "$@" >"$target/tests"
: >"$target/results"
work_in_memory
start_clusters
say "$(wc -l <"$target/tests") tests, $lanes at once"
status=0
xargs -L 1 -P "$lanes" --process-slot-var=JOBSTATS_TEST_LANE scripts/test-one.sh <"$target/tests" || status=$?
say "seconds of each part"
summary "$target/results" && [ "$status" -eq 0 ]
