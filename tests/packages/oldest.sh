#!/usr/bin/env bash
# The programs of the packages on the oldest system that is at hand, with the PostgreSQL of that system and a plain table.
# The files of the tarball are there before, as on a machine where somebody had unpacked it.
. "$(dirname "$0")/common.sh"

start_nothing
make_lctl
make_ssh
apt-get update -q
apt-get install -q -y --no-install-recommends postgresql >/dev/null
tar -C / -xzf "$packages"/jobstats-*.tar.gz
apt-get install -q -y "$packages"/jobstats-{console,shipper}_*.deb >/dev/null
installed_well
console_works
is "" "$(dpkg --verify jobstats-console jobstats-shipper)" "files that differ from the packages"
ldd --version | sed -n 1p
pg_ctlcluster "$(pg_lsclusters -h | cut -d ' ' -f 1)" main start
as_postgres() { (cd / && runuser -u postgres -- psql -X -q -At -v ON_ERROR_STOP=1 "$@"); }
as_postgres -c 'CREATE ROLE "jobstats-shipper" LOGIN' -c 'CREATE SCHEMA jobstats' -c 'CREATE TABLE jobstats.feed (
        cluster text, server text, "time" timestamptz, body_zstd bytea, duration interval, shipper text, source text, covers tstzrange)' \
    -c 'GRANT USAGE ON SCHEMA jobstats TO "jobstats-shipper"' -c 'GRANT INSERT ON jobstats.feed TO "jobstats-shipper"'
printf 'JOBSTATS_DATABASE_URL=postgresql:///postgres?user=jobstats-shipper\n' >"$config"
run_service
is 1 "$(as_postgres -c 'SELECT count(*) FROM jobstats.feed')" "texts"
passed "the shipper runs on $(sed -n 's/^PRETTY_NAME=//p' /etc/os-release)"
