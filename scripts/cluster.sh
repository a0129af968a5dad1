#!/usr/bin/env bash
# Manages a private PostgreSQL cluster in a directory, reachable only through a Unix socket in that directory.
#
#   cluster.sh start DIR [setting=value ...]    creates the cluster if it does not exist
#   cluster.sh stop DIR
#   cluster.sh remove DIR
#   cluster.sh url DIR [DATABASE]
#
# DIR is short (a socket's path has 107 characters at most) and not below a home directory when root calls:
# PostgreSQL refuses to run as root, so the cluster is then the user postgres's.
. "$(dirname "$0")/lib.sh"

usage() { sed -n '2,/^$/s/^#\( \|$\)//p' "$0" >&2; }

# A busy machine may take long to start and stop a server.
export PGCTLTIMEOUT=600

bindir() { "$PG_CONFIG" --bindir; }

# The user that owns the cluster and runs its server.
owner() { if is_root; then echo postgres; else id -un; fi; }

as_owner() {
    # Its home and this checkout may be closed to the owner.
    cd /
    # The extension would show a backtrace with every error.
    unset RUST_BACKTRACE
    if is_root; then
        runuser -u postgres -- "$@"
    else
        "$@"
    fi
}

is_running() { (as_owner "$(bindir)/pg_ctl" status -D "$dir/data" >/dev/null 2>&1); }

# Fails if there is a directory, or a link, that somebody else has made.
check_owner() {
    { [ ! -e "$dir" ] && [ ! -L "$dir" ]; } || [ "$(stat -c %U "$dir")" = "$(owner)" ] || die "$dir belongs to somebody else"
}

make_directory() { [ -e "$dir" ] || install -d -m 0700 -o "$(owner)" "$dir"; }

make_cluster() {
    (as_owner "$(bindir)/initdb" -D "$dir/data" -U postgres --auth=trust --encoding=UTF8 --locale=C --no-sync) \
        >/dev/null
    settings | (as_owner tee -a "$dir/data/postgresql.conf") >/dev/null
}

settings() {
    cat <<-CONF
		listen_addresses = ''
		unix_socket_directories = '$dir'
		timezone = 'UTC'
		shared_buffers = '256MB'
		max_wal_size = '4GB'
	CONF
    if have_timescaledb; then
        cat <<-CONF
			shared_preload_libraries = 'timescaledb'
			timescaledb.telemetry_level = off
		CONF
    fi
}

start() {
    local setting options=()
    for setting; do
        options+=("-c $setting")
    done
    check_owner
    make_directory
    [ -e "$dir/data/PG_VERSION" ] || make_cluster
    is_running ||
        (as_owner "$(bindir)/pg_ctl" start -w -s -D "$dir/data" -l "$dir/log" -o "${options[*]}") ||
        { (as_owner tail -n 20 "$dir/log") >&2 && die "no server in $dir"; }
}

stop() {
    check_owner
    ! is_running || (as_owner "$(bindir)/pg_ctl" stop -w -s -m fast -D "$dir/data")
}

remove() {
    stop
    rm -rf "${dir:?}"
}

[ $# -ge 2 ] || { usage && exit 64; }
command=$1 dir=$2
shift 2
case $command in
start) start "$@" ;;
stop) stop ;;
remove) remove ;;
url) printf 'postgresql:///%s?host=%s&user=postgres\n' "${1:-postgres}" "$dir" ;;
*) usage && exit 64 ;;
esac
