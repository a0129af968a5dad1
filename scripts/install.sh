#!/usr/bin/env bash
# Builds the extension and installs it into the PostgreSQL that pg_config names.
#
#   install.sh          the extension
#   install.sh all      builds the programs too
#   install.sh tests    builds programs and tests too
#   install.sh built    installs an existing build
. "$(dirname "$0")/lib.sh"

case ${1:-} in
all) build_all ;;
tests) build_tests ;;
built) ;;
*) build jobstats ;;
esac
say "installing the extension into PostgreSQL $(pg_major)"
tree=$(mktemp -d)
trap 'rm -r "$tree"' EXIT
stage_extension "$tree"
libraries=$("$PG_CONFIG" --pkglibdir) scripts=$("$PG_CONFIG" --sharedir)/extension
install_files "$libraries" 0755 "$tree$libraries"/*
install_files "$scripts" 0644 "$tree$scripts"/*
