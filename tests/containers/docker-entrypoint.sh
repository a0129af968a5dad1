#!/usr/bin/env bash
# Replaces the entrypoint of the public images of PostgreSQL. At the first start it makes the database and runs
# /docker-entrypoint-initdb.d with a server that listens on its socket alone; then the command follows.
set -euo pipefail

if [ ! -e "$PGDATA/PG_VERSION" ]; then
    initdb -U postgres --auth=trust --encoding=UTF8 --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD")
    echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
    echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
    # The public image of TimescaleDB does this by scripts.
    if [ -e "$(pg_config --pkglibdir)/timescaledb.so" ]; then
        echo "shared_preload_libraries = 'timescaledb'" >>"$PGDATA/postgresql.conf"
        extension='CREATE EXTENSION timescaledb'
    fi
    pg_ctl -w -o "-c listen_addresses=''" start
    createdb -U postgres "$POSTGRES_DB"
    psql -X -U postgres -d "$POSTGRES_DB" -c "${extension:-}"
    for file in /docker-entrypoint-initdb.d/*.sql; do
        psql -X -v ON_ERROR_STOP=1 -U postgres -d "$POSTGRES_DB" -f "$file"
    done
    pg_ctl -w -m fast stop
fi
exec "$@"
