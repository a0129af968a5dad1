#!/usr/bin/env bash
# The package of the extension passes the regression tests with a PostgreSQL that is older than the one it was built for.
. "$(dirname "$0")/common.sh"

apt-get install -q -y "$packages"/postgresql-*-jobstats_*.deb
JOBSTATS_TEST_INSTALLED=yes make test PARTS=regress
