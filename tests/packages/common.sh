# shellcheck shell=bash
# What the tests of packages share; sourced inside a new system, which they change.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck disable=SC2034 # for those who source this
packages=$PWD/target/package
config=/etc/jobstats/shipper.conf
spool=/var/lib/jobstats-shipper
export DEBIAN_FRONTEND=noninteractive

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}

# is EXPECTED GOT WHAT
is() { [ "$1" = "$2" ] || fail "$3: expected '$1', got '$2'"; }

passed() { printf 'ok: %s\n' "$*"; }

# Programs that come with services must not start them here.
start_nothing() {
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
    chmod +x /usr/sbin/policy-rc.d
}

# A stand-in for lctl, whose text is where only root can go: with the capability of the unit lctl can go there too.
make_lctl() {
    install -D -m 0644 tests/packages/job_stats.txt /srv/closed/job_stats
    chmod 0700 /srv/closed
    printf '#!/bin/sh\ncat /srv/closed/job_stats\n' >/usr/sbin/lctl
    chmod +x /usr/sbin/lctl
}

# The command of the unit, with its user and its capability.
run_service() {
    local command
    command=$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/jobstats-shipper.service)
    install -d -m 0755 -o jobstats-shipper /run/jobstats-shipper
    # shellcheck disable=SC2086 # a command and its arguments
    (umask 077 && setpriv --reuid=jobstats-shipper --regid=jobstats-shipper --clear-groups --no-new-privs \
        --inh-caps=-all,+dac_read_search --ambient-caps=-all,+dac_read_search --bounding-set=-all,+dac_read_search -- \
        $command)
}

# waiting COUNT
waiting() { is "$1" "$(find "$spool" -maxdepth 1 -name '*.zst' | wc -l)" "readings in the spool"; }

# unreachable
# A reading while there is no database.
unreachable() {
    local status=0
    run_service || status=$?
    is 69 "$status" "exit code without a database"
}

installed_well() {
    is "600 jobstats-shipper" "$(stat -c '%a %U' "$config")" "access to $config"
    is "700 jobstats-shipper" "$(stat -c '%a %U' "$spool")" "access to $spool"
    is "" "$(find /etc/systemd -name 'jobstats*')" "units that were enabled unasked"
    [ -x /usr/bin/jobstats-shipper ] || fail "there is no program"
    gzip -t /usr/share/man/man1/jobstats-shipper*.1.gz
    bash -n /usr/share/bash-completion/completions/jobstats-shipper
    is "jobstats-shipper" "$(getent passwd jobstats-shipper | cut -d : -f 1)" "user"
    passed "installed: user, access, units, manual pages, completion"
}
