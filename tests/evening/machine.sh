#!/usr/bin/env bash
# Replaces the programs of docs/install.md that change the system or reach other machines, and is called by their names. ssh and clush
# run their commands on this machine, with the paths of a server below $EVENING/servers/NAME; there it stands in for the programs of a
# server, too. scripts/evening.sh sets the variables.
set -euo pipefail

repository=$(cd "$(dirname "$(realpath "$0")")/../.." && pwd)
program=${0##*/}

fail() {
    printf '%s: %s\n' "$program" "$*" >&2
    exit 1
}

# The paths of a server, in commands and files.
to_server() {
    sed -E "s#(^|[^a-z])/(etc/jobstats|etc/systemd|root/|usr/share/doc|var/lib/jobstats-shipper)#\1$EVENING/servers/$server/\2#g"
}

# on SERVER COMMAND
# Runs a command on a server; without one, the commands on standard input.
on() {
    local server=$1 command
    mkdir -p "$EVENING/servers/$1"/{bin,root,etc,usr/share/doc}
    for command in dnf chgrp runuser jobstats-shipper systemctl lctl getent sacct sacctmgr uname; do
        ln -sf "$repository/tests/evening/machine.sh" "$EVENING/servers/$1/bin/$command"
    done
    export SERVER=$1
    export PATH=$EVENING/servers/$1/bin:${PATH#*:}
    if [ -n "$2" ]; then
        to_server | bash -euo pipefail -c "$(to_server <<<"$2")"
    else
        bash -euo pipefail -c "$(to_server)"
    fi
}

# of_nodes NODES
# Lists nodes such as mds[1-2],oss11.
of_nodes() {
    local nodes=${1//\[/\{}
    nodes=${nodes//\]/\}}
    nodes=${nodes//-/..}
    [[ $nodes =~ ^[a-z0-9.,{}]+$ ]] || fail "no nodes: $1"
    eval "printf '%s\n' ${nodes//,/ }"
}

clush() {
    local nodes='' copied=() destination='' server status=0
    while [ $# -gt 0 ]; do
        case $1 in
        -w) nodes=$2 && shift 2 ;;
        -S | -b) shift ;;
        --copy) shift && while [ $# -gt 0 ] && [ "$1" != --dest ]; do copied+=("$1") && shift; done ;;
        --dest) destination=$2 && shift 2 ;;
        -*) fail "no option $1" ;;
        *) break ;;
        esac
    done
    for server in $(of_nodes "$nodes"); do
        if [ "${#copied[@]}" -gt 0 ]; then
            mkdir -p "$EVENING/servers/$server/root"
            cp "${copied[@]}" "$(to_server <<<"$destination")"
        else
            (on "$server" "$*" </dev/null 2>&1 | sed "s/^/$server: /") &
        fi
    done
    for server in $(jobs -p); do wait "$server" || status=$?; done
    return "$status"
}

# install_package DIRECTORY FILE
# The files of the package that the page uses.
install_package() {
    local examples=$1/usr/share/doc/jobstats-shipper/examples
    [ -e "$2" ] || fail "no package $2"
    mkdir -p "$1/etc/jobstats" "$1/etc/systemd/system" "$examples"
    [ -e "$1/etc/jobstats/shipper.conf" ] || install -m 0640 "$repository/packaging/shipper.conf" "$1/etc/jobstats/"
    cp "$repository"/packaging/sources.{conf,toml} "$examples"
    cp "$repository"/packaging/jobstats-shipper.{service,timer} "$1/etc/systemd/system/"
}

# The command of the service, with the last drop-in. It reads once: neither waits for its time, nor runs on.
run_service() {
    local unit=$EVENING/servers/$1/etc/systemd/system/jobstats-shipper.service command
    command=$(cat "$unit" "$unit.d"/*.conf 2>/dev/null || true)
    command=$(sed -n 's/^ExecStart=\(..*\)/\1/p' <<<"$command" | tail -n 1)
    command=${command#/usr/bin/}
    command=${command/ --spread 110s/}
    on "$1" "${command/shipper run /shipper once }" </dev/null
}

systemctl() {
    local units=$EVENING/servers/${SERVER:-}/etc/systemd/system/jobstats-shipper
    case $* in
    'restart postgresql')
        # With the system's runuser.
        PATH=${PATH#*:}
        "$repository/scripts/cluster.sh" stop "$EVENING_CLUSTER"
        "$repository/scripts/cluster.sh" start "$EVENING_CLUSTER" fsync=off jit=off "port=$PGPORT"
        ;;
    'enable --now jobstats-shipper.timer') [ -e "$units.timer" ] && touch "$EVENING/servers/$SERVER/timer" ;;
    'start jobstats-shipper.service') run_service "$SERVER" ;;
    'try-restart jobstats-shipper.service') ;;
    daemon-reload | 'add-wants multi-user.target jobstats-shipper.service') [ -e "$units.service" ] ;;
    *) fail "unknown: $*" ;;
    esac
}

# Waits for no time, but lets each timer run as often as it would meanwhile.
sleep() {
    local round timer
    for ((round = 0; round < $1 / 120; round++)); do
        for timer in "$EVENING"/servers/*/timer; do
            run_service "$(basename "$(dirname "$timer")")" &
        done
        wait
    done
}

# Servers of two simulated clusters make one file system. Clients send what lctl has set on the MGS.
lctl() {
    local preset=puhti name=$SERVER number=${SERVER//[a-z]/} targets='s/puhti-/scratch-/g'
    if [ "$1 $2" = 'set_param -P' ]; then
        printf '%s\n' "${3#*=}" >"$EVENING/${3%%=*}"
        return
    fi
    if [[ $name = oss* ]] && [ "$number" -gt 8 ]; then
        preset=medium name=oss$((number - 8)) targets='s/scratch-OST00/scratch-OST01/g'
    fi
    [ "$preset" = puhti ] || name=scratch-$name
    [ "$preset" = medium ] || name=puhti-$name
    local jobid_name=%e
    [ ! -e "$EVENING/jobid_var" ] || jobid_name=$(cat "$EVENING/jobid_name")
    JOBSTATS_SIMULATOR_PRESET=$preset JOBSTATS_SIMULATOR_SERVER=$name JOBSTATS_SIMULATOR_SCHEDULER=slurm JOBSTATS_SIMULATOR_UNDISTURBED=true \
        JOBSTATS_SIMULATOR_JOBID_NAME=$jobid_name JOBSTATS_SIMULATOR_TIME=now "$EVENING_SIMULATOR" "$@" | sed "$targets"
}

case $program in
apt-get | dnf)
    [ "$1 $2" = 'install -y' ] || fail "unknown: $*"
    for file in "${@:3}"; do
        [ -e "$file" ] || fail "no file $file"
    done
    [ "$program" = apt-get ] || install_package "$EVENING/servers/$SERVER" "$3"
    ;;
ssh)
    [ "$1" != -n ] || shift
    on "${1#root@}" "${*:2}"
    ;;
chgrp)
    { [ "$1" = jobstats-shipper ] && [ -e "$2" ]; } || fail "unknown: $*"
    # Only a file of root may be open to its group.
    [ "$(id -u)" = 0 ] || chmod g-r "$2"
    ;;
runuser)
    [ "$1 $3" = '-u --' ] || fail "unknown: $*"
    PGUSER=$2 exec "${@:4}"
    ;;
jobstats-shipper)
    directory=$EVENING/servers/$SERVER
    unset PGHOST PGUSER
    exec "$EVENING_SHIPPER" "$1" --server "$SERVER" --lctl "$directory/bin/lctl" --lock "$directory/lock" --busy-limit 100 \
        --lctl-timeout 10m --statement-timeout 10m --connect-timeout 10m "${@:2}"
    ;;
uname) printf '%s\n' "$SERVER" ;;
getent) [ "$*" != passwd ] || cat "$EVENING/names/passwd"; [ "$*" != group ] || cat "$EVENING/names/group" ;;
sacctmgr) [[ $* == '-i add user jobstats-shipper '*' adminlevel=Operator' ]] && touch "$EVENING/operator" ;;
sacct)
    [ -e "$EVENING/operator" ] || exit 0
    [[ $* == *' -o JobIDRaw,'* ]] || fail "columns: $*"
    "$EVENING_SIMULATOR" accounting --scheduler slurm --undisturbed --from "$(date -u -d '1 day ago' +%FT%TZ)" --to "$(date -u +%FT%TZ)"
    ;;
*) "$program" "$@" ;;
esac
