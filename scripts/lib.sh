# shellcheck shell=bash
# What the other scripts share; sourced, never run.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# rustup puts cargo here and tells only login shells.
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin

PG_CONFIG=${PG_CONFIG:-$(command -v pg_config || true)}
# shellcheck disable=SC2034 # for those who source this
target=${CARGO_TARGET_DIR:-$root/target}

say() { printf '\n== %s\n' "$*" >&2; }
die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

is_root() { [ "$(id -u)" = 0 ]; }

# A version that Cargo.toml names, so that nothing else has to name it.
pgrx_version() { sed -n 's/^pgrx = "=\([0-9.]*\)"$/\1/p' Cargo.toml; }
product_version() { sed -n '/^\[workspace\.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml; }

pg_major() { "$PG_CONFIG" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/'; }

# PostgreSQL is here as a server and with what building an extension takes.
pg_is_complete() {
    [ -n "$PG_CONFIG" ] && [ -f "$("$PG_CONFIG" --pgxs)" ] && [ -x "$("$PG_CONFIG" --bindir)/postgres" ]
}

have_timescaledb() { [ -e "$("$PG_CONFIG" --pkglibdir)/timescaledb.so" ]; }

psql() { "$("$PG_CONFIG" --bindir)/psql" -X -v ON_ERROR_STOP=1 "$@"; }

# new_database CLUSTER DATABASE
# With TimescaleDB where that is installed.
new_database() {
    psql -q "$(scripts/cluster.sh url "$1")" -c "CREATE DATABASE \"$2\""
    ! have_timescaledb ||
        psql -q "$(scripts/cluster.sh url "$1" "$2")" -c 'SET client_min_messages = warning; CREATE EXTENSION timescaledb'
}

# restoring URL COMMAND ...
# Runs what restores a dump into a new database, as TimescaleDB asks for where that is installed.
restoring() {
    ! have_timescaledb || psql -q "$1" -c 'SELECT timescaledb_pre_restore()' >/dev/null
    "${@:2}"
    ! have_timescaledb || psql -q "$1" -c 'SELECT timescaledb_post_restore()' >/dev/null
    psql -q "$1" -c 'ANALYZE'
}

# new_store CLUSTER DATABASE [ARGUMENTS OF jobstats_setup]
# A database with all that is installed; prints what jobstats_setup() says.
new_store() {
    local url
    new_database "$1" "$2"
    url=$(scripts/cluster.sh url "$1" "$2")
    psql -q -At "$url" -c 'CREATE EXTENSION jobstats' -c "SELECT jobstats_setup(${3:-})"
}

# start_cluster NAME [setting=value ...]
# A cluster of its own for a script, which goes when the script ends; what is in it need not survive a crash. Sets cluster
# and url.
start_cluster() {
    cluster=$(mktemp -d "/tmp/jobstats-$1.XXXXXX")
    trap 'scripts/cluster.sh remove "$cluster"' EXIT
    ! is_root || chown postgres "$cluster"
    scripts/cluster.sh start "$cluster" fsync=off full_page_writes=off synchronous_commit=off "${@:2}"
    # shellcheck disable=SC2034 # for those who source this
    url=$(scripts/cluster.sh url "$cluster")
}

# audit URL
# What is stored is what the raw text says, of every observation; prints how many these were.
audit() {
    local said
    said=$(psql -q -At "$1" -f tests/audit.sql 2>&1) || { printf '%s\n' "$said" && return 1; }
    read -r said <<<"${said##*NOTICE:}"
    printf '%s\n' "$said"
    [[ $said != *'could not be'* ]]
}

# install_files DIRECTORY MODE FILE ...
# Into a directory of PostgreSQL, which is root's or, in tests, one's own.
install_files() {
    if [ -w "$1" ]; then
        install -m "$2" -t "$1" "${@:3}"
    else
        as_root install -m "$2" -t "$1" "${@:3}"
    fi
}

# Runs as root where root is needed: directly, or through sudo.
as_root() {
    if is_root; then
        "$@"
    else
        sudo "$@"
    fi
}
