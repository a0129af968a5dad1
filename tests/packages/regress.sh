#!/usr/bin/env bash
# The package of the extension passes regression tests with a PostgreSQL that is older than the one it was built for: those that show
# errors of PostgreSQL itself, since these are what differs between minor versions.
. "$(dirname "$0")/common.sh"

apt-get install -q -y "$packages"/postgresql-*-jobstats_*.deb
# Some files have a second expected output, with a number.
own='permission denied|canceling|cannot|new row|duplicate key|range|invalid transaction|time zone'
mapfile -t errors < <(grep -lE "ERROR: +($own)" tests/pg_regress/expected/*.out | sed -E 's|.*/(.*)\.out|regress:\1|; s/_[0-9]$//' | sort -u)
JOBSTATS_TEST_INSTALLED=yes make test PARTS="${errors[*]}"
