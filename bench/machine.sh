# shellcheck shell=bash
# Describes the machine in tables of measurements; sourced after lib.sh.

# What figures were measured with, for the heading of a table.
machine() {
    printf '%s, commit %s; PostgreSQL %s; %s, %s CPUs, %s GB of memory; load average at the end %s\n' \
        "$(date -u +%F)" "$(git rev-parse --short HEAD)" "$(pg_major)" \
        "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" \
        "$(free -g | awk '/^Mem/ { print $2 }')" "$(cut -d ' ' -f 1 /proc/loadavg)"
}

# The median of numbers, one a line, and in brackets the smallest and the largest.
median() {
    sort -n | awk -v format="${1:-%.0f}" '{ v[NR] = $1 }
        END { printf format " (" format "–" format ")", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2, v[1], v[NR] }'
}
