#!/usr/bin/env bash
# Measures feeding the text of a busy OST into a private server with PostgreSQL's default durability. Prints a table for each part:
#
#   feed.sh [PART ...]    all parts by default
#
#   text      the second text of 49,000 entries (all increments are of new entries) and the third (known entries), of which
#             a quarter changed, compared with an INSERT of the same zstd text into a bare table and a COPY of the same
#             increments in binary form into a table with the same index; in turn. Each in a new session, and both texts
#             (again) in a session that fed the previous one, as shippers do
#   memory    the peak memory of a session that did nothing else
#   length    texts of 1,000 to 400,000 entries
#   stored    with a month of increments in the store, and without
#   at_once   two targets at once, and eight, with the same entries
#   matched   with stored accounting, whose jobs entries have to be matched with, and without, in turn
#   volume    rows, bytes and WAL of 28 targets of 2,000 entries, half of them active, read every minute
#
#   JOBSTATS_FEED_RUNS    how often each is run (5)
#   JOBSTATS_FEED_HOURS   hours that the part `volume` feeds (6)
#   JOBSTATS_FEED_ROWS    rows of increments that are stored for the part `stored` (10 million)
. "$(dirname "$0")/../scripts/lib.sh"
. bench/machine.sh
. bench/simulated.sh

runs=${JOBSTATS_FEED_RUNS:-5}
rows=${JOBSTATS_FEED_ROWS:-10000000}
# All texts are of the same ten minutes, so that no row is divided; longer ago than the servers' clocks may differ.
base=$(($(date +%s) / 600 * 600 - 1200))

# The texts of some rounds of a target with so many entries, packed as the shipper packs them. A caller may set another base, and
# that one of so many entries is active (every).
texts() {
    local entries=$1 round
    shift
    for round; do
        awk -v entries="$entries" -v share=0.25 -v layout=2.16 -v target=fs-OST0000 -v every="${every:-4}" -v round="$round" -v at=$((base + 60 * round)) \
            -f bench/text.awk | zstd -q -1 >"$cluster/text"
        sql -c "INSERT INTO texts SELECT $entries, $round, to_timestamp($((base + 60 * round))), pg_read_binary_file('$cluster/text')"
    done
    rm "$cluster/text"
}

# Feeds the text of a round, as a different target in each cluster.
statement() {
    echo "INSERT INTO jobstats.feed (cluster, server, \"time\", body_zstd)
        SELECT '$1', 'oss1', at, body_zstd FROM texts WHERE entries = $2 AND round = $3;"
}

# Lists the steps that a feed reports, each with its elapsed and its processor time.
parts='unpack digest scan compare entries increments text'

# Runs a statement in a new session, after the statements before it, and prints milliseconds and bytes of WAL: all|time of each
# part|processor time of all|of each part|WAL before
measure() {
    local before commands=()
    for before in "${@:2}"; do commands+=(-c "$before"); done
    sql "${commands[@]}" -c CHECKPOINT -c "SELECT 'wal ' || (pg_current_wal_insert_lsn() - '0/0')" \
        -c 'SET client_min_messages = debug1' -c 'SET log_statement_stats = on' -c '\timing on' -c "$1" 2>&1 |
        awk -v parts="$parts" '
            /^wal/ { wal = $2 }
            / s user, .* elapsed/ { processor = 1000 * ($2 + $5) }
            /the feed took/ { gsub(/[,:]/, ""); for (i = 1; i < NF; i++) if (split($(i + 1), spent, "/") == 2) { time[$i] = spent[1]; work[$i] = spent[2] } }
            /^Time:/ { all = $2 }
            END {
                n = split(parts, part, " ")
                for (i = 1; i <= n; i++) { times = times "|" time[part[i]]; works = works "|" work[part[i]] }
                print all times "|" processor works "|" wal
            }'
}

# A column of a file of measurements.
column() { cut -d '|' -f "$2" "$cluster/$1"; }

wal() { sql -c "SELECT pg_current_wal_insert_lsn() - '0/0'"; }

# measured FILE STATEMENT [STATEMENT BEFORE ...]: appends what measure prints, with the bytes of WAL that came in between.
measured() {
    local said
    said=$(measure "${@:2}")
    echo "${said%|*}|$(($(wal) - ${said##*|}))" >>"$cluster/$1"
}

bare_text() {
    sql -c 'DROP TABLE IF EXISTS bare_text' -c 'CREATE TABLE bare_text (body bytea)' -c 'ALTER TABLE bare_text ALTER body SET STORAGE external'
    measured inserted 'INSERT INTO bare_text SELECT body_zstd FROM texts WHERE entries = 49000 AND round = 2'
}

bare_increments() {
    sql -c 'DROP TABLE IF EXISTS bare_increments' -c 'CREATE TABLE bare_increments (LIKE jobstats.increments INCLUDING INDEXES)' \
        -c "COPY (SELECT i.* FROM jobstats.increments i JOIN jobstats.targets t USING (target_id)
            WHERE t.cluster = 'run $1' AND i.observed = to_timestamp($((base + 120)))) TO '$cluster/increments' (FORMAT binary)"
    measured copied "COPY bare_increments FROM '$cluster/increments' (FORMAT binary)"
}

feeds=(second third second_again third_again)

text() {
    local run first second
    texts 49000 1 2 3
    for ((run = 0; run <= runs; run++)); do
        # The first run warms up.
        [ "$run" != 1 ] || (cd "$cluster" && rm "${feeds[@]}" inserted copied)
        sql -c 'TRUNCATE jobstats.entries' -c "$(statement "run $run" 49000 1)"
        [ $((run % 2)) = 0 ] || bare_text
        measured second "$(statement "run $run" 49000 2)"
        measured third "$(statement "run $run" 49000 3)"
        first=$(statement "again $run" 49000 1) second=$(statement "again $run" 49000 2)
        measured third_again "$(statement "again $run" 49000 3)" "$first" "$second"
        measured second_again "$(statement "new $run" 49000 2)" "$(statement "new $run" 49000 1)" 'TRUNCATE jobstats.entries'
        [ $((run % 2)) = 1 ] || bare_text
        bare_increments "$run"
    done
    text_table 'ms' 1
    text_table 'CPU time' 9
    local file
    for file in "${feeds[@]}"; do
        paste -d '|' "$cluster/$file" "$cluster/inserted" "$cluster/copied" |
            awk -F '|' '{ print ($1 - $4 - $5) / ($18 + $35) }' | median %.2f |
            sed "s/^/$file text without scan and comparison ÷ (inserted + copied): /; s/\$/; goal 1.5\n/"
    done
}

# text_table HEADING COLUMN: the total and its parts, whose columns begin with COLUMN; `else` is the rest.
text_table() {
    local file part
    printf '\n| %s | all | %s | else | MB of WAL |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n' "$1" "${parts// / | }"
    for file in "${feeds[@]}" inserted copied; do
        printf '| %s |' "$file"
        for ((part = $2; part < $2 + 8; part++)); do
            # Only feeds have parts.
            printf ' %s |' "$([ -z "$(column "$file" $part | tr -d '\n')" ] || column "$file" $part | median)"
        done
        awk -F '|' -v all="$2" '$2 { for (i = all + 1; i < all + 8; i++) $all -= $i; print $all }' "$cluster/$file" >"$cluster/else"
        printf ' %s | %s |\n' "$([ ! -s "$cluster/else" ] || median <"$cluster/else")" \
            "$(column "$file" 17 | awk '{ print $1 / 1e6 }' | median %.1f)"
    done
}

# MB of the session that runs the statements, at most.
memory_of() {
    sql "$@" -c "SELECT (substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s*(\d+)')::numeric * 1024 / 1e6)::integer"
}

memory() {
    local size packed plain inserted
    [ -n "$(sql -c 'SELECT 1 FROM texts WHERE entries = 49000 LIMIT 1')" ] || texts 49000 1 2
    sql -c 'DROP TABLE IF EXISTS plain' -c 'CREATE TABLE plain (at timestamptz, body text)' -c 'ALTER TABLE plain ALTER body SET STORAGE external' \
        -c 'INSERT INTO plain SELECT at, jobstats_unpack(body_zstd) FROM texts WHERE entries = 49000 AND round = 2' \
        -c 'CREATE TABLE inserted (LIKE plain INCLUDING STORAGE)' \
        -c "$(statement packed 49000 1)" -c "$(statement plain 49000 1)"
    size=$(sql -c 'SELECT (length(body) / 1e6)::integer FROM plain')
    packed=$(memory_of -c "$(statement packed 49000 2)")
    inserted=$(memory_of -c 'INSERT INTO inserted SELECT * FROM plain')
    plain=$(memory_of -c "INSERT INTO jobstats.feed (cluster, server, \"time\", body) SELECT 'plain', 'oss1', at, body FROM plain")
    cat <<-TABLE
		| MB | at most | goal |
		|---|---:|---:|
		| the text | $size | |
		| feed of \`body_zstd\` | $packed | $((3 * size)) |
		| INSERT of \`body\` into a bare table | $inserted | |
		| feed of \`body\` | $plain | $((inserted + 3 * size)) |
		| a session that does nothing | $(memory_of) | |
	TABLE
}

length() {
    local entries run
    sql -c 'UPDATE jobstats.settings SET max_text = 1073741823'
    printf '| entries | ms | µs per entry | without scan and comparison | µs of processor time per entry |\n|---:|---:|---:|---:|---:|\n'
    for entries in 1000 10000 100000 400000; do
        texts "$entries" 1 2 3
        for ((run = 0; run < (entries > 100000 ? 1 : runs); run++)); do
            sql -c "$(statement "length $run" "$entries" 1)" -c "$(statement "length $run" "$entries" 2)"
            measured "$entries" "$(statement "length $run" "$entries" 3)"
            sql -c "UPDATE jobstats.targets SET cluster = cluster || ' of $entries' WHERE cluster = 'length $run'"
        done
        printf '| %s | %s | %s | %s | %s |\n' "$entries" "$(column "$entries" 1 | median)" \
            "$(column "$entries" 1 | awk -v n="$entries" '{ print 1000 * $1 / n }' | median %.1f)" \
            "$(awk -F '|' -v n="$entries" '{ print 1000 * ($1 - $4 - $5) / n }' "$cluster/$entries" | median %.1f)" \
            "$(column "$entries" 9 | awk -v n="$entries" '{ print 1000 * $1 / n }' | median %.1f)"
        sql -c "DELETE FROM texts WHERE entries = $entries"
    done
}

# A month of observations of thirty targets, two minutes apart, and increments of one of them.
store_month() {
    local of="(SELECT target_id FROM jobstats.targets WHERE cluster = 'empty 0')" columns
    columns=$(sql -c "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = 'jobstats.increments'::regclass AND attnum > 3 AND NOT attisdropped")
    sql >/dev/null <<-SQL
		SELECT jobstats_internal.add_partitions(relation, 'day', now() - interval '31 days', now()) FROM unnest('{observations,increments}'::text[]) relation;
		CREATE TEMPORARY TABLE increments AS SELECT * FROM jobstats.increments WHERE target_id = $of LIMIT 10000;
		INSERT INTO jobstats.increments ("time", since, observed, $columns)
		SELECT i."time" - s.back, i.since - s.back, i.observed - s.back, $columns
		FROM (SELECT interval '30 days' * n / ($rows / 10000) AS back FROM generate_series(1, $rows / 10000) n ORDER BY 1 DESC) s, increments i;
		CREATE TEMPORARY TABLE observation AS SELECT * FROM jobstats.observations WHERE target_id = $of ORDER BY "time" LIMIT 1;
		UPDATE observation SET since = "time" - interval '2 minutes';
		INSERT INTO jobstats.observations
		SELECT (jsonb_populate_record(o, jsonb_build_object('target_id', -t, 'time', o."time" - back, 'since', o.since - back))).*
		FROM observation o, generate_series(1, 30) t,
		    LATERAL (SELECT n * interval '2 minutes' AS back FROM generate_series(1, 30 * 720) n) s;
		VACUUM ANALYZE;
	SQL
}

stored() {
    local run state
    texts 20000 1 2 3
    printf '| 20,000 entries | ms | without scan and comparison | processor time |\n|---|---:|---:|---:|\n'
    for state in empty filled; do
        [ "$state" = empty ] || store_month
        for ((run = 0; run < runs; run++)); do
            sql -c "$(statement "$state $run" 20000 1)" -c "$(statement "$state $run" 20000 2)"
            measured "$state" "$(statement "$state $run" 20000 3)"
        done
        printf '| %s: %s rows of increments, %s of observations | %s | %s | %s |\n' "$state" "$(sql -c 'SELECT count(*) FROM jobstats.increments')" \
            "$(sql -c 'SELECT count(*) FROM jobstats.observations')" "$(column "$state" 1 | median)" \
            "$(awk -F '|' '{ print $1 - $4 - $5 }' "$cluster/$state" | median)" "$(column "$state" 9 | median)"
    done
}

# Seconds in which so many sessions feed eight texts each.
sessions() {
    local session round began pids=()
    sql -c 'TRUNCATE jobstats.entries'
    for ((session = 1; session <= $1; session++)); do
        sql -c "$(statement "at once $2 $1 $session" 10000 1)"
    done
    sql -c CHECKPOINT
    began=$(date +%s.%N)
    for ((session = 1; session <= $1; session++)); do
        for round in 2 3 4 5 6 7 8 9; do statement "at once $2 $1 $session" 10000 "$round"; done | sql &
        pids+=($!)
    done
    for session in "${pids[@]}"; do wait "$session"; done
    date +%s.%N | awk -v began="$began" '{ print $1 - began }' >>"$cluster/sessions_$1"
}

at_once() {
    local run n
    texts 10000 1 2 3 4 5 6 7 8 9
    for ((run = 0; run <= runs; run++)); do
        [ "$run" != 1 ] || rm "$cluster"/sessions_*
        for n in 1 2 8; do sessions "$n" "$run"; done
    done
    printf '| sessions | s for 8 texts of 10,000 entries each | throughput ÷ that of one |\n|---:|---:|---:|\n'
    for n in 1 2 8; do
        printf '| %s | %s | %s |\n' "$n" "$(column "sessions_$n" 1 | median %.2f)" \
            "$(paste "$cluster/sessions_1" "$cluster/sessions_$n" | awk -v n="$n" '{ print n * $1 / $2 }' | median %.2f)"
    done
}

# Feeds of entries that are all new and of entries that are known, in pairs: with 100,000 jobs in the store and without any.
matched() {
    local run kind state before
    [ -n "$(sql -c 'SELECT 1 FROM texts WHERE entries = 49000 LIMIT 1')" ] || texts 49000 1 2 3
    sql -c "CREATE TABLE accounted AS SELECT j.* FROM generate_series(1, 100000) n, jsonb_populate_record(NULL::jobstats.jobs,
        jsonb_build_object('scheduler', 'c', 'job', 3950000 + n, 'label', 3950000 + n, 'started', now() - interval '1 hour',
        'user_name', 'u' || n % 500, 'source', 'slurm', 'updated', now())) j"
    rm -f "$cluster"/{new,known}_{with,without}
    for ((run = 0; run <= runs; run++)); do
        # The first run warms up, and the one of a pair that comes first changes from run to run.
        [ "$run" != 1 ] || rm "$cluster"/{new,known}_{with,without}
        for state in $([ $((run % 2)) = 0 ] && echo with without || echo without with); do
            sql -c 'TRUNCATE jobstats.jobs, jobstats.to_match, jobstats.entries'
            [ "$state" = without ] || sql -c 'INSERT INTO jobstats.jobs SELECT * FROM accounted'
            before=$(statement "$state $run" 49000 1)
            measured "new_$state" "$(statement "$state $run" 49000 2)" "$before" 'TRUNCATE jobstats.entries, jobstats.to_match'
            measured "known_$state" "$(statement "$state $run" 49000 3)"
        done
    done
    printf '| 49,000 entries | ms of CPU time without accounting | with | with ÷ without, of pairs |\n|---|---:|---:|---:|\n'
    for kind in new known; do
        printf '| %s | %s | %s | %s |\n' "$kind" "$(column "${kind}_without" 9 | median)" "$(column "${kind}_with" 9 | median)" \
            "$(paste <(column "${kind}_with" 9) <(column "${kind}_without" 9) | awk '{ print $1 / $2 }' | median %.3f)"
    done
}

# Bytes of a table with its partitions, indexes and TOAST.
size_of() { sql -c "SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('jobstats.$1')"; }

volume() {
    local hours=${JOBSTATS_FEED_HOURS:-6} every=2 before fed table minute rounds
    local base=$(($(date +%s) / 3600 * 3600 - hours * 3600))
    mapfile -t rounds < <(seq 0 $((60 * hours)))
    texts 2000 "${rounds[@]}"
    # Rows that arrive before their partition exists are moved into it later, and their space would count twice.
    sql -c "SELECT jobstats_internal.add_partitions(relation, 'day', to_timestamp($base), now()) FROM unnest('{raw,observations,increments}'::text[]) relation" >/dev/null
    sql -c 'TRUNCATE jobstats.increments, jobstats.observations, jobstats.raw' -c CHECKPOINT
    before=$(wal)
    for ((minute = 0; minute <= 60 * hours; minute += 10)); do
        feed_both "SELECT 'volume ' || t AS cluster, 'oss' || t AS server, at AS \"time\", body_zstd, interval '1 second' AS duration,
            NULL::text AS shipper FROM texts, generate_series(1, 28) t WHERE entries = 2000" "to_timestamp($((base + 60 * minute)))" '10 minutes'
    done
    fed=$(wal)
    maintain_all "$url"
    printf '| in %s hours | rows | MB |\n|---|---:|---:|\n' "$hours"
    for table in raw observations increments rollup_10m rollup_1h rollup_10m_users rollup_1h_users; do
        printf '| %s | %s | %s |\n' "$table" "$(sql -c "SELECT count(*) FROM jobstats.$table")" "$(size_of "$table" | awk '{ printf "%.0f", $1 / 1e6 }')"
    done
    awk -v feeds=$((fed - before)) -v all=$(($(wal) - before)) 'BEGIN { printf "| WAL of feeds | | %.0f |\n| WAL of maintenance | | %.0f |\n", feeds / 1e6, (all - feeds) / 1e6 }'
}

scripts/install.sh all
start_cluster feed fsync=on full_page_writes=on synchronous_commit=on autovacuum=off
new_store "$cluster" feed >/dev/null
url=$(scripts/cluster.sh url "$cluster" feed)
sql -c 'CREATE TABLE texts (entries integer, round integer, at timestamptz, body_zstd bytea)' -c 'ALTER TABLE texts ALTER body_zstd SET STORAGE external'
[ $# -gt 0 ] || set -- text memory length stored at_once matched
for part; do
    printf '\n### %s\n\n' "$part"
    "$part"
done
machine
