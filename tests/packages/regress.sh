#!/usr/bin/env bash
# Runs regression tests of the extension's package with a PostgreSQL that is older than its build version: those that show errors of
# PostgreSQL itself, because these differ between minor versions.
. "$(dirname "$0")/common.sh"

apt-get install -q -y "$packages"/postgresql-*-jobstats_*.deb
# Some files have a second expected output, with a number.
own='permission denied|canceling|cannot|new row|duplicate key|range|invalid transaction|time zone'
mapfile -t errors < <(grep -lE "ERROR: +($own)" tests/pg_regress/expected/*.out | sed -E 's|.*/(.*)\.out|regress:\1|; s/_[0-9]$//' | sort -u)
JOBSTATS_TEST_INSTALLED=yes make test PARTS="${errors[*]}"
