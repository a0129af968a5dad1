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

# Creates a stand-in for ssh: an idle MDS, an OSS where a user reads at every call, and the names of users.
make_ssh() {
    cat >/usr/local/bin/ssh <<SH
#!/bin/sh
case "\$*" in
*getent*) echo 'ada:x:1000:1000::/home/ada:/bin/sh' && exit ;;
*mds1*) server=mds1 ;;
*) server=oss1 ;;
esac
count=\$((\$(cat /run/readings-\$server 2>/dev/null || echo 0) + 1))
echo \$count >/run/readings-\$server
echo \$((1700000000 + 10 * count))
if [ \$server = mds1 ]; then
    printf 'mdt.test-MDT0000.job_stats=\njob_stats:\n'
else
    sed "s/samples: *1,/samples: \$count,/; s/sum: *4096/sum: \$((count * 40960000))/" $PWD/tests/packages/job_stats.txt
fi
SH
    chmod +x /usr/local/bin/ssh
}

# The command of the unit, with its user and its capability. It does not wait for the server's place in two minutes.
run_service() {
    local command
    command=$(sed -n 's/^ExecStart=\(.*\) --spread 110s/\1/p' /usr/lib/systemd/system/jobstats-shipper.service)
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
    is "640 root jobstats-shipper" "$(stat -c '%a %U %G' "$config")" "access to $config"
    is "700 jobstats-shipper" "$(stat -c '%a %U' "$spool")" "access to $spool"
    is "755 jobstats-shipper" "$(stat -c '%a %U' /run/jobstats-shipper)" "access to the directory of the lock"
    is "" "$(find /etc/systemd -name 'jobstats*')" "units that were enabled unasked"
    [ -x /usr/bin/jobstats-shipper ] || fail "there is no program"
    gzip -t /usr/share/man/man1/jobstats-shipper*.1.gz
    bash -n /usr/share/bash-completion/completions/jobstats-shipper
    is "jobstats-shipper" "$(getent passwd jobstats-shipper | cut -d : -f 1)" "user"
    passed "installed: user, access, units, manual pages, completion"
}

# The console shows servers with the package's example configuration, and replays its recording.
console_works() {
    local recording shown
    recording=$(mktemp -d)/recording
    [[ $(jobstats-console --version) == "jobstats-console "* ]] || fail "the console tells no version"
    gzip -t /usr/share/man/man1/jobstats-console*.1.gz
    bash -n /usr/share/bash-completion/completions/jobstats-console
    shown=$(jobstats-console top -P scratch --profiles /usr/share/doc/jobstats-console/examples/console.toml \
        --interval 10ms --once --width 80 --record "$recording")
    [[ $shown == *" ada "*" MB/s"* ]] || fail "the console shows: $shown"
    is "$shown" "$(jobstats-console top "$recording" --users 'ssh mds1 getent passwd' --once --width 80)" "the recording"
    rm -r "${recording%/*}"
    passed "the console shows servers, and plays what it has recorded"
}
