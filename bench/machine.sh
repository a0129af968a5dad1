# shellcheck shell=bash
# What a figure was measured with, for the heading of a table; sourced after lib.sh.

machine() {
    printf '%s, commit %s; PostgreSQL %s; %s, %s CPUs, %s GB of memory; load average at the end %s\n' \
        "$(date -u +%F)" "$(git rev-parse --short HEAD)" "$(pg_major)" \
        "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" \
        "$(free -g | awk '/^Mem/ { print $2 }')" "$(cut -d ' ' -f 1 /proc/loadavg)"
}
