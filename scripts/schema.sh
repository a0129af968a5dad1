#!/usr/bin/env bash
# The install script of this version, extension/sql/jobstats--VERSION.sql. `cargo pgrx schema` reads it out of the library;
# the repository keeps it, so that nobody needs cargo-pgrx to install the extension.
#
#   schema.sh write              writes it
#   schema.sh check              fails if the library that install.sh built has other SQL
#   schema.sh compare CLUSTER    does that, and fails if the script as cargo-pgrx orders it makes other objects
#
# All need cargo-pgrx (make setup-dev); status 77 without.
. "$(dirname "$0")/lib.sh"

kept=extension/sql/jobstats--$(product_version).sql
work=$target/schema

# generate [OPTION OF cargo pgrx schema ...]
# pgrx takes SQL as literals alone, so the lists of dimensions are filled in here.
# cargo-pgrx prints the blocks of the script in another order every time, and beside them the graph of what needs what.
generate() {
    mkdir -p "$work"
    RUST_LOG=error cargo pgrx schema "$@" --package jobstats --no-default-features --features "pg$(pg_major)" --pg-config "$PG_CONFIG" \
        --out "$work/unfilled.sql" --dot "$work/generated.dot" >&2
    awk -f scripts/dimensions.awk extension/src/query/dimension.rs "$work/unfilled.sql" >"$work/generated.sql"
    LC_ALL=C awk -f scripts/schema.awk "$work/generated.dot" "$work/generated.sql" >"$work/ordered.sql"
}

write() {
    say "cargo pgrx schema (builds the extension without optimisation: 2 minutes the first time, then seconds)"
    generate
    if cmp -s "$work/ordered.sql" "$kept"; then
        echo "$kept is up to date"
    else
        cp "$work/ordered.sql" "$kept"
        echo "$kept has changed: commit it"
    fi
}

# objects SCRIPT
# Prints what a script makes in a new database, run as CREATE EXTENSION would run it. pg_dump makes up a new key for
# \restrict every time.
objects() {
    local database
    psql -q "$(scripts/cluster.sh url "$cluster")" -c 'SET client_min_messages = warning' \
        -c 'DROP DATABASE IF EXISTS "schema" WITH (FORCE)'
    new_database "$cluster" schema
    database=$(scripts/cluster.sh url "$cluster" schema)
    sed 's/@extschema@/public/g' "$1" |
        psql -q "$database" -c 'SET client_min_messages = warning' -c 'SET check_function_bodies = off' -f -
    "$("$PG_CONFIG" --bindir)/pg_dump" --schema-only --dbname="$database" | sed -E '/^\\(un)?restrict /d'
}

check() {
    generate --profile "$profile" --skip-build
    diff -u "$kept" "$work/ordered.sql" >&2 || die "the SQL of the extension has changed: run make schema and commit $kept"
}

compare() {
    check
    objects "$kept" >"$work/objects of the kept script"
    objects "$work/generated.sql" >"$work/objects of cargo-pgrx's script"
    diff -u "$work"/objects*
    printf '%s objects\n' "$(grep -c '^CREATE ' "$work/objects of the kept script")"
}

have_cargo_pgrx || { echo "not run: cargo-pgrx $(pgrx_version) is missing: run make setup-dev" >&2 && exit 77; }
case ${1:-} in
write) write ;;
check) check ;;
compare) cluster=$2 && compare ;;
*) sed -n '2,/^$/s/^#\( \|$\)//p' "$0" >&2 && exit 64 ;;
esac
