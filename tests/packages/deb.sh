#!/usr/bin/env bash
# Installs the .deb packages in a new Debian, feeds a database with them, upgrades and removes them.
. "$(dirname "$0")/common.sh"

as_postgres() { (cd / && runuser -u postgres -- psql -X -q -At -v ON_ERROR_STOP=1 "$@"); }
observations() { as_postgres jobs -c 'SELECT count(*) FROM jobstats.observations'; }

# database start|stop
database() { pg_ctlcluster "$major" main "$1" -m fast; }

install_packages() {
    apt-get install -q -y --no-install-recommends "$1"/jobstats-{console,shipper}_*.deb "$1"/postgresql-*-jobstats_*.deb
}

# The console queries the store.
console_asks() {
    local shown
    shown=$(cd / && PGHOST=/var/run/postgresql PGDATABASE=jobs runuser -u postgres -- jobstats-console target test-OST0000)
    [[ $shown == *"test-OST0000"* ]] || fail "the console shows: $shown"
    passed "the console shows a target of the store"
}

make_database() {
    database start
    as_postgres -c 'CREATE ROLE "jobstats-shipper" LOGIN' -c 'CREATE DATABASE jobs'
    as_postgres jobs -c 'SET client_min_messages = warning' -c 'CREATE EXTENSION jobstats' -c 'SELECT jobstats_setup()' \
        -c "SELECT jobstats_grant_writer('jobstats-shipper')" >/dev/null
    configure
}

configure() { printf '# kept\nJOBSTATS_DATABASE_URL=postgresql:///jobs?user=jobstats-shipper\n' >"$config"; }

# The example for cron, as it is, run by a cron. It has no capability, and each server waits for its place in two minutes.
cron_feeds() {
    local before waited=0 cron
    before=$(observations)
    apt-get install -q -y --no-install-recommends cron >/dev/null
    chmod 0755 /srv/closed
    cp /usr/share/doc/jobstats-shipper/examples/jobstats-shipper.cron /etc/cron.d/jobstats-shipper
    cron -f &
    cron=$!
    until [ "$(observations)" -gt "$before" ]; do
        [ "$((waited += 5))" -le 600 ] || fail "cron fed nothing in ten minutes"
        sleep 5
    done
    rm /etc/cron.d/jobstats-shipper
    kill "$cron"
    chmod 0700 /srv/closed
    waiting 0
    passed "a cron ran the line of the example"
}

start_nothing
make_lctl
make_ssh
apt-get update -q
install_packages "$packages"
major=$(dpkg-query -W -f '${Package}\n' 'postgresql-*-jobstats' | cut -d - -f 2)
installed_well
console_works

make_database
run_service
is 1 "$(observations)" "observations"
waiting 0
passed "the service's command fed the extension, as its user and with its capability"
console_asks

# Of another version than the other packages.
apt-get install -q -y --no-install-recommends "$packages/next"/jobstats-console_*.deb
console_works
console_asks

database stop
unreachable
waiting 1
install_packages "$packages/next"
is "# kept" "$(head -n 1 "$config")" "first line of the configuration after an upgrade"
installed_well
waiting 1
database start
run_service
waiting 0
is 3 "$(observations)" "observations"
passed "an upgrade kept configuration and spool"
cron_feeds

database stop
unreachable
said=$(apt-get remove -q -y jobstats-shipper)
[[ $said == *"$spool retains 1 unsent"* ]] || fail "removal does not say that the spool stays: $said"
waiting 1
[ -e "$config" ] || fail "removal took the configuration"
[ ! -e /usr/bin/jobstats-shipper ] || fail "removal left the program"
apt-get purge -q -y jobstats-shipper >/dev/null
[ ! -e "$config" ] || fail "purge left the configuration, which may hold a password"
waiting 1
passed "removal left the spool and said so"

apt-get install -q -y "$packages/next"/jobstats-shipper_*.deb >/dev/null
installed_well
configure
database start
run_service
waiting 0
passed "installed again, it sent what waited"

apt-get purge -q -y jobstats-console jobstats-shipper "postgresql-$major-jobstats" >/dev/null
[ ! -e "$spool" ] || fail "an empty spool was left"
is "" "$(find /usr/bin /usr/share -name 'jobstats-*')" "files of the programs after their removal"
is "" "$(find /usr/lib/postgresql /usr/share/postgresql -name 'jobstats*')" "files of the extension after its removal"
passed "removed"
