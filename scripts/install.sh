#!/usr/bin/env bash
# Builds the extension and installs it into the PostgreSQL that pg_config names.
. "$(dirname "$0")/lib.sh"

sudo=()
[ -w "$("$PG_CONFIG" --sharedir)/extension" ] && [ -w "$("$PG_CONFIG" --pkglibdir)" ] || sudo=(--sudo)

say "installing the extension into PostgreSQL $(pg_major)"
cargo pgrx install --release -p jobstats --no-default-features --features "pg$(pg_major)" \
    --pg-config "$PG_CONFIG" "${sudo[@]}"
