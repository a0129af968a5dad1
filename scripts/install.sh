#!/usr/bin/env bash
# Builds the extension and installs it into the PostgreSQL that pg_config names.
#
#   install.sh        the extension
#   install.sh all    builds the programs with it
. "$(dirname "$0")/lib.sh"

if [ "${1:-}" = all ]; then
    build_all
else
    build_extension
fi
say "installing the extension into PostgreSQL $(pg_major)"
tree=$(mktemp -d)
trap 'rm -r "$tree"' EXIT
stage_extension "$tree"
libraries=$("$PG_CONFIG" --pkglibdir) scripts=$("$PG_CONFIG" --sharedir)/extension
install_files "$libraries" 0755 "$tree$libraries"/*
install_files "$scripts" 0644 "$tree$scripts"/*
