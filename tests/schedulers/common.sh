# shellcheck shell=bash
# What the tests of schedulers share; sourced inside a new system, which they change. All that they start ends with the system.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
checkout=$PWD
# shellcheck disable=SC2034 # for those who source this
tests=$checkout/tests/schedulers
output=$checkout/target/schedulers
users=(anna ben carla)

# Runs the script again in a separate namespace: schedulers open ports, and need a resolvable host name.
if [ "$(hostname)" != control ]; then
    exec unshare --net --uts sh -c 'hostname control && exec "$@"' sh "$0" "$@"
fi

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}

# wait_for SECONDS WHAT COMMAND ...
wait_for() {
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || fail "$what: not within the time"
        sleep 0.2
    done
}

# as USER COMMAND ...
as() { runuser -u "$1" -- "${@:2}"; }

# make_machine NAME ...
# Each name is an address of this machine. Schedulers refuse 127.0.0.1 as the address of a host.
make_machine() {
    ip link set lo up
    ip address add 192.0.2.1/32 dev lo
    printf '127.0.0.1 localhost\n192.0.2.1 control %s\n' "$*" >/etc/hosts
    local user uid=2000
    for user in "${users[@]}"; do
        useradd --uid $((uid += 1)) --create-home "$user"
    done
    useradd --system --create-home jobstats-shipper
    install "$output/jobstats-shipper" -t /usr/bin
    install -d /etc/jobstats
    cd /tmp
}

# configure_shipper PAGE
# Takes the configuration of the shipper from the documentation.
configure_shipper() {
    # shellcheck disable=SC2016 # backquotes of Markdown
    sed -n '/^```toml$/,/^```$/p' "$checkout/docs/sources/$1" | sed '/^```/d' >/etc/jobstats/sources.toml
}

# read_sources USER
# Reads all sources as a user. There is no database here, so the texts stay in the spool in the user's home.
read_sources() {
    local status=0
    as "$1" env -C / JOBSTATS_DATABASE_URL='postgresql:///jobstats?host=/nowhere' jobstats-shipper once --quiet \
        --sources /etc/jobstats/sources.toml --spool "/home/$1/spool" --lock "/home/$1/lock" --server control 2>"/home/$1/log" || status=$?
    [ "$status" = 69 ] || { cat "/home/$1/log" >&2 && fail "the shipper of $1 ended with $status"; }
}

# hand_over USER ...
# Gives the spools of users to the machine that has a database.
hand_over() {
    local user
    for user; do
        cp -r --no-preserve=ownership "/home/$user/spool" "$output/spool-$user"
    done
}
