#!/bin/sh
# Starts psql or isolationtester for PostgreSQL's runner, which asks for a time zone and a date style of long ago: UTC and ISO read better in
# expected output. psql echoes a file from its `\set ECHO all` on, and `\i` names files of tests/pg_regress/include.
export PGTZ=UTC PGDATESTYLE=ISO
case $1 in
*/psql) cd tests/pg_regress/include && set -- "$@" -v ECHO=none -v SHOW_CONTEXT=never ;;
esac
exec "$@"
