#!/usr/bin/env bash
# Builds the extension and installs it into the PostgreSQL that pg_config names.
. "$(dirname "$0")/lib.sh"

directory=$("$PG_CONFIG" --sharedir)/extension
sudo=()
[ -w "$directory" ] && [ -w "$("$PG_CONFIG" --pkglibdir)" ] || sudo=(--sudo)

say "installing the extension into PostgreSQL $(pg_major)"
cargo pgrx install --release -p jobstats --no-default-features --features "pg$(pg_major)" \
    --pg-config "$PG_CONFIG" "${sudo[@]}"
made=$(mktemp -d)
trap 'rm -r "$made"' EXIT
scripts/upgrade-scripts.sh make "$directory" "$made"
install_files "$directory" 0644 "$made"/*
