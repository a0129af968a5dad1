#!/usr/bin/env bash
# Measures the load of the shipper on the server: processor time and memory per text of more than 100 MB, compared with `zstd -1` and `cat`
# of the same text from a pipe. The shipper reads a stand-in for lctl again and again, as in operation; zstd and cat run while it waits for
# its next reading. It sends to a bare table, because bench/feed.sh measures the ingest.
#
#   shipper.sh [READINGS]    5 by default; prints a table
. "$(dirname "$0")/../scripts/lib.sh"
. bench/machine.sh

readings=${1:-5}
interval=4

build_all
start_cluster shipper
text=$cluster/text

psql -q "$url" <<-SQL
	CREATE SCHEMA jobstats;
	CREATE TABLE jobstats.feed (cluster text, server text, "time" timestamptz, body_zstd bytea, duration interval, shipper text, source text, covers tstzrange);
	ALTER TABLE jobstats.feed ALTER body_zstd SET STORAGE external;
SQL
printf '#!/bin/sh\nexec cat %s\n' "$text" >"$cluster/lctl"
chmod +x "$cluster/lctl"

sql() { psql -q -At "$url" "$@"; }

arrived() { sql -c 'SELECT count(*) FROM jobstats.feed'; }

# Seconds of processor time that a process has had so far; lctl's are not among them.
processor_time() { awk -v hertz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) / hertz }' "/proc/$1/stat"; }

# The same of a command that reads the text from a pipe.
processor_time_of() {
    local TIMEFORMAT='%U %S'
    # shellcheck disable=SC2002 # the pipe is measured
    cat "$text" | { time "$@" >/dev/null; } 2>&1 | awk '{ print $1 + $2 }'
}

# Lets it read so many times. Prints a line for each reading: seconds of the shipper, of zstd and of cat.
readings() {
    local shipper before now reading
    "$built/jobstats-shipper" run --interval "${interval}s" --lctl "$cluster/lctl" --lock "$cluster/lock" \
        --server "$HOSTNAME" --database-url "$url" &
    shipper=$!
    before=0
    for ((reading = 1; reading <= readings; reading++)); do
        while [ "$(arrived)" -lt "$reading" ]; do
            kill -0 "$shipper" 2>/dev/null || die "the shipper ended"
            sleep 0.2
        done
        now=$(processor_time "$shipper")
        echo "$now $before $(processor_time_of zstd -q -1 --single-thread) $(processor_time_of cat)" |
            awk '{ print $1 - $2, $3, $4 }'
        before=$now
    done
    awk '/^VmHWM/ { printf "%.1f\n", $2 / 1024 }' "/proc/$shipper/status" >"$cluster/memory"
    kill "$shipper"
    wait "$shipper" 2>/dev/null || true
}

# What arrived is what lctl printed.
compare() {
    sql -c "SELECT encode(body_zstd, 'base64') FROM jobstats.feed LIMIT 1" | base64 -d | zstd -q -d | cmp - "$text" ||
        die "what arrived is not what was sent"
}

# measure LAYOUT ENTRIES SHARE: a row of the table, with the fastest and the median of each.
measure() {
    awk -v layout="$1" -v entries="$2" -v share="$3" -f bench/text.awk >"$text"
    sql -c 'TRUNCATE jobstats.feed'
    readings >"$cluster/times"
    compare
    columns | awk -v layout="$1" -v share="$3" -v bytes="$(stat -c %s "$text")" -v memory="$(cat "$cluster/memory")" \
        -v sent="$(sql -c 'SELECT max(length(body_zstd)) FROM jobstats.feed')" '
        { fastest[NR] = $1; median[NR] = $int((NF + 1) / 2) }
        END {
            printf "| %s, %d %% | %.0f | %.1f | %.2f, %.2f | %.2f | %.2f, %.2f | %.2f, %.2f | %.2f | %s |\n", layout,
                100 * share, bytes / 1e6, sent / 1e6, fastest[1], median[1], median[1] * 1e8 / bytes, fastest[2], median[2],
                fastest[3], median[3], median[1] / median[2], memory
        }'
}

# Each column of the times as a sorted line.
columns() {
    local column
    for column in 1 2 3; do
        cut -d ' ' -f "$column" "$cluster/times" | sort -n | paste -s -d ' '
    done
}

cat <<-TEXT
	| layout, operations that counted | MB of text | MB sent | s of the shipper | per 100 MB | s of zstd -1 | s of cat | to zstd -1 | MiB at most |
	|---|---:|---:|---:|---:|---:|---:|---:|---:|
TEXT
measure 2.12 120000 0.25
measure 2.12 120000 0.85
measure 2.16 49000 0.25
measure 2.16 49000 0.85
printf '\nProcessor time, the fastest and the median of %s readings. %s\n' "$readings" "$(machine)"
