#!/usr/bin/env bash
# Builds the extension and installs it into the PostgreSQL that pg_config names.
. "$(dirname "$0")/lib.sh"

directory=$("$PG_CONFIG" --sharedir)/extension
sudo=()
[ -w "$directory" ] && [ -w "$("$PG_CONFIG" --pkglibdir)" ] || sudo=(--sudo)

say "installing the extension into PostgreSQL $(pg_major)"
cargo pgrx install --release -p jobstats --no-default-features --features "pg$(pg_major)" \
    --pg-config "$PG_CONFIG" "${sudo[@]}"
mkdir -p "$target/upgrade"
scripts/upgrade-scripts.sh make "$directory" "$target/upgrade"
install_files "$directory" 0644 "$target"/upgrade/jobstats--*.sql
