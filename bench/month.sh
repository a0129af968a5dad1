#!/usr/bin/env bash
# A month of a large cluster in the database, and how long the queries of a dashboard take on it, on each kind of
# installation that is here. Writes bench/month.md.
#
#   month.sh [STEP ...]    feed account plain tenth community apache report remove; all but the last by default
#
# feed creates a store without TimescaleDB from texts, and account adds the accounting of a million jobs. plain times the queries on it,
# tenth on a store with a tenth of the rows, community and apache on stores of these editions of TimescaleDB, which get the same rows by
# COPY. report writes the table. The store of an edition replaces the earlier ones; their rows and figures stay in files until the step
# remove.
#
#   JOBSTATS_MONTH_SCALE      users and jobs, relative to the simulator's preset (2.1: 50 million increments)
#   JOBSTATS_MONTH_DAYS       number of days (30)
#   JOBSTATS_MONTH_FED        days that are fed from texts (all); the others are copies of these with other jobs
#   JOBSTATS_MONTH_SOURCE     store that the editions get their rows from: plain (plain) or tenth
#   JOBSTATS_MONTH_DIRECTORY  directory of the database (/var/tmp/jobstats-month); it takes up to 35 GB
. "$(dirname "$0")/../scripts/lib.sh"
. bench/machine.sh
. bench/simulated.sh

scale=${JOBSTATS_MONTH_SCALE:-2.1}
days=${JOBSTATS_MONTH_DAYS:-30}
fed=${JOBSTATS_MONTH_FED:-$days}
source=${JOBSTATS_MONTH_SOURCE:-plain}
cluster=${JOBSTATS_MONTH_DIRECTORY:-/var/tmp/jobstats-month}
# The month ended at midnight, so that maintenance sums all of it.
until=$(date -u -d "$(cat "$cluster/until" 2>/dev/null || date -u +%Y-%m-%d)" +%s)
# The servers of most centres print no histograms yet.
world=(--preset puhti --scale "$scale" --layout 2.15.8)

day() { date -u -d "@$((until - 86400 * $1))" +%Y-%m-%dT00:00:00Z; }

database() { url=$(scripts/cluster.sh url "$cluster" "$1"); }

start() {
    scripts/cluster.sh start "$cluster" fsync=off synchronous_commit=off full_page_writes=off \
        shared_buffers=2GB effective_cache_size=8GB work_mem=64MB max_wal_size=2GB "$@"
}

# One job of 90 days, on three targets of another, small cluster that is read every ten minutes.
long_job() {
    local at from to
    echo job,uid,node,target,operation,calls,bytes,usecs,from,until
    for ((at = 180; at > 0; at--)); do
        from=$(date -u -d "@$((until - 43200 * at))" +%FT%TZ) to=$(date -u -d "@$((until - 43200 * (at - 1)))" +%FT%TZ)
        echo "900001,4242,c1,small-MDT0000,open,43200,0,120,$from,$to"
        echo "900001,4242,c1,small-OST0000,write,43200,45298483200,900,$from,$to"
        echo "900001,4242,c1,small-OST0001,read,43200,45298483200,900,$from,$to"
    done
}

# The first days of the month, while the next one is simulated.
feed_days() {
    local back last=$((days - fed + 1)) began simulation
    simulate "day_$days" "$(day "$days")" 24 "${world[@]}"
    for ((back = days; back >= last; back--)); do
        [ "$back" = "$last" ] || { simulate "day_$((back - 1))" "$(day $((back - 1)))" 24 "${world[@]}" & simulation=$!; }
        began=$(date +%s.%N)
        feed_day "$(day "$back")" 10 "day_$back" job
        sql -c "INSERT INTO feeding VALUES ('$(day "$back")', make_interval(secs => $(date +%s.%N) - $began))" \
            -c "DROP TABLE day_$back" -c "SELECT jobstats_internal.drop_before('raw', '$(day "$back")')" >/dev/null
        [ "$back" = "$last" ] || wait "$simulation"
        say "day $((days - back + 1)) of $days, fed in $(sql -c 'SELECT took FROM feeding ORDER BY day DESC LIMIT 1')"
    done
}

feed() {
    local back
    date -u -d "@$until" +%F >"$cluster/until"
    new_database "$cluster" plain
    database plain
    sql -c 'DROP EXTENSION IF EXISTS timescaledb' -c 'CREATE EXTENSION jobstats' \
        -c "SELECT jobstats_setup(raw_retention => '90 days', retention => '100 days')" >/dev/null
    sql -c "SELECT jobstats_internal.add_partitions(relation, 'day', '$(day 91)', '$(day 0)')
        FROM unnest('{raw,observations,increments}'::text[]) relation" >/dev/null
    long_job >"$cluster/job.csv"
    simulate job "$(day 90)" $((90 * 24)) --preset small --cluster long --undisturbed --interval 10m --work "$cluster/job.csv"
    sql -c 'CREATE TABLE feeding (day timestamptz, took interval)'
    for ((back = 90; back > days; back--)); do
        feed_day "$(day "$back")" 1440 job
    done
    feed_days
    # The simulator names array elements as users do (JOBID_INDEX), but SLURM_JOB_ID has different numbers.
    sql -c "UPDATE jobstats.entries SET job = replace(job, '_', '') WHERE job LIKE '%\_%'"
    for ((back = days - fed; back > 0; back--)); do
        feed_day "$(day "$back")" 1440 job
        copy_day "$(day "$back")" $((fed * ((days - back) / fed))) "$(day $((days - fed)))"
        say "day $((days - back + 1)) of $days, copied"
    done
    sql -c 'DROP TABLE job'
}

# The accounting of all jobs of the month and of as many more, which have not touched the file system, as make a million; a text
# for each day. A third of the users have two accounts, and every fifth job runs in another partition than the others of its user.
account() {
    local back
    database plain
    sql <<-SQL
		CREATE UNLOGGED TABLE job AS
		SELECT e.job::bigint AS job, max(e.uid) AS uid, min(i.since) AS started, max(i."time") AS ended
		FROM jobstats.increments i JOIN jobstats.entries e USING (entry_id)
		WHERE e.job IS NOT NULL
		GROUP BY e.job;
		INSERT INTO job
		SELECT 1000000000 + n, (SELECT j.uid FROM job j LIMIT 1) + n % 1000, b.began, b.began + interval '1 hour'
		FROM generate_series(1, 1000000 - (SELECT count(*) FROM job)) AS n
		CROSS JOIN LATERAL (SELECT timestamptz '$(day "$days")' + n % ($days * 86400 - 3600) * interval '1 second') AS b (began);
	SQL
    sql -c 'CREATE TABLE accounting (day timestamptz, took interval)'
    for ((back = days; back > 0; back--)); do
        sql <<-SQL
			INSERT INTO jobstats.feed (server, "time", source, body)
			SELECT 'batch1', timestamptz '$(day $((back - 1)))', 'slurm', 'JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|Account|Partition|State|JobName' || E'\n'
			    || string_agg(concat_ws('|', j.job, j.job, 'puhti', extract(epoch FROM j.started)::bigint, extract(epoch FROM j.started)::bigint,
			        extract(epoch FROM j.ended)::bigint, j.uid, 'user' || j.uid, 'project_' || (j.uid * 7 + CASE WHEN j.uid % 3 = 0 THEN j.job % 2 ELSE 0 END) % 2000,
			        (ARRAY['small', 'large', 'gpu', 'longrun'])[1 + (j.uid + (j.job % 5 = 0)::integer) % 4], 'COMPLETED', 'run_' || j.job % 1000), E'\n')
			FROM job j
			WHERE j.ended > '$(day "$back")' AND j.ended <= '$(day $((back - 1)))'
			HAVING count(*) > 0;
		SQL
    done
    sql -c 'DROP TABLE job'
}

# keep DATABASE NAME CONDITION
# Writes the rows of a store to files NAME.*; of increments i only those that meet the condition.
keep() {
    local from relation columns
    from=$(scripts/cluster.sh url "$cluster" "$1")
    mkdir -p "$cluster/rows/part"
    for relation in "${relations[@]}"; do
        columns=$(columns_of "$from" "$relation")
        psql -q "$from" -c "COPY (SELECT $columns FROM jobstats.$relation i
            $([ "$relation" != increments ] || echo "WHERE $3")) TO STDOUT (FORMAT binary)" |
            gzip -1 >"$cluster/rows/part/$relation.gz"
    done
    rm -rf "$cluster/rows/$2"
    mv "$cluster/rows/part" "$cluster/rows/$2"
}

# load NAME
# Fills a new store from these files.
load() {
    local relation
    for relation in "${relations[@]}"; do
        gzip -dc "$cluster/rows/$1/$relation.gz" |
            sql -c "COPY jobstats.$relation ($(columns_of "$url" "$relation")) FROM STDIN (FORMAT binary)"
    done
    sql -c 'INSERT INTO jobstats.to_match SELECT DISTINCT job FROM jobstats.jobs'
}

drop() { psql -q "$(scripts/cluster.sh url "$cluster")" -c "DROP DATABASE IF EXISTS $1 WITH (FORCE)"; }

# store DATABASE [EXTENSION]
store() {
    drop "$1"
    psql -q "$(scripts/cluster.sh url "$cluster")" -c "CREATE DATABASE $1 TEMPLATE template0"
    database "$1"
    sql ${2:+-c "CREATE EXTENSION $2"} -c 'CREATE EXTENSION jobstats' -c "SELECT jobstats_setup(retention => '100 days')" >/dev/null
    sql -c "SELECT jobstats_internal.add_partitions(relation, 'day', '$(day 91)', '$(day 0)')
        FROM unnest('{observations,increments}'::text[]) relation" >/dev/null
}

# Rollups, columns where there are any, and what autovacuum does in time: statistics, and the ranges of indexes by time.
maintain() {
    maintain_all "$url"
    sql -c 'VACUUM ANALYZE'
    sql -c "COPY (SELECT step, sum(took) FROM jobstats.maintenance WHERE took > '1 second' GROUP BY step ORDER BY step)
        TO STDOUT" | sed 's/^/took: /' >&2
}

# Question, milliseconds that it may take, how many times longer than on a tenth of the rows, call. About the second day
# of the month, a user of those who do most, and that job. Of the last question, the tenth has but a tenth of the rows.
queries() {
    local noon user
    noon=$(date -u -d "@$((until - 86400 * (days - 1) + 43200))" +%FT%TZ)
    user=$(cat "$cluster/user")
    cat <<-TEXT
		top users of a day|100|1.5|jobstats_top('$(day $((days - 1)))', '$(day $((days - 2)))', 'service_time', 'uid')
		top users of a day by name|100|1.5|jobstats_top('$(day $((days - 1)))', '$(day $((days - 2)))', 'service_time', 'user')
		top accounts of a day|100|1.5|jobstats_top('$(day $((days - 1)))', '$(day $((days - 2)))', 'service_time', 'account')
		top accounts and users of a day|100|1.5|jobstats_top('$(day $((days - 1)))', '$(day $((days - 2)))', 'service_time', 'account,user')
		top jobs of a day|1000|1.5|jobstats_top('$(day $((days - 1)))', '$(day $((days - 2)))', 'service_time', 'job')
		top names of jobs of a day|1000|1.5|jobstats_top('$(day $((days - 1)))', '$(day $((days - 2)))', 'service_time', 'job_name')
		a user's month by hour|100|1.5|jobstats_rates('$(day "$days")', '$(day 0)', 'service_time,read_bytes,write_bytes,metadata', '', '1 hour', filter => 'uid=$user')
		all targets of an hour at 2 minutes|1000|1.5|jobstats_rates('$noon', '$noon'::timestamptz + interval '1 hour', 'service_time,metadata,write_bytes', 'target', '2 minutes')
		density of a day at 10 minutes|100|1.5|jobstats_densities('$(day $((days - 1)))', '$(day $((days - 2)))', 'service_time', 'uid', step => '10 minutes')
		density of accounts at 10 minutes|||jobstats_densities('$(day $((days - 1)))', '$(day $((days - 2)))', 'service_time', 'account', step => '10 minutes')
		one job of 90 days|1000|1.5|jobstats_job_usage('900001')
		changes of a day by user|1000||jobstats_changes('$(day 2)', '$(day 1)', 'service_time', 'user')
		changes of a day by account and user|1000||jobstats_changes('$(day 2)', '$(day 1)', 'service_time', 'account,user')
		changes of a day by target|1000||jobstats_changes('$(day 2)', '$(day 1)', 'service_time', 'target')
		baseline of an hour by user|1000||jobstats_baseline('$(day 1)'::timestamptz - interval '1 hour', '$(day 1)', 'service_time', 'user')
		baseline of ten minutes by user and target|1000||jobstats_baseline('$(day 1)'::timestamptz - interval '10 minutes', '$(day 1)', 'setattr', 'user,target')
		baseline of a day by account|1000||jobstats_baseline('$(day 2)', '$(day 1)', 'service_time', 'account')
		findings of a user in a day|1000||jobstats_findings('$(day 2)', '$(day 1)', filter => 'uid=$user')
		findings of all jobs of a day|||jobstats_findings('$(day 2)', '$(day 1)')
		all of a month by day|100||jobstats_rates('$(day "$days")', '$(day 0)', 'service_time,read_bytes,write_bytes,metadata', 'kind', '1 day')
	TEXT
}

# Queries that use accounting may cost little more than the same queries on identifiers alone: query, query to compare with, and the largest
# ratio of their times.
pairs() {
    cat <<-TEXT
		top users of a day by name|top users of a day|1.2
		top accounts of a day|top users of a day|1.2
		top accounts and users of a day|top users of a day|2
		density of accounts at 10 minutes|density of a day at 10 minutes|1.2
		top names of jobs of a day|top jobs of a day|1.2
	TEXT
}

# What a transaction has read, by table.
reads() {
    sed 's/^\t*//' <<-'SQL'
		WITH chunk AS (
		    SELECT i.inhrelid AS oid, p.relname FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent
		)
		SELECT coalesce(string_agg(format('%s rows of %s', n, relation), ', ' ORDER BY n DESC), 'nothing') FROM (
		    SELECT sum(s.seq_tup_read + coalesce(s.idx_tup_fetch, 0)) AS n,
		        regexp_replace(coalesce(c.relname, s.relname), '^compress_hyper_.*', 'chunks in columns') AS relation
		    FROM pg_stat_xact_user_tables s LEFT JOIN chunk c ON c.oid = s.relid
		    WHERE coalesce(c.relname, s.relname) ~ 'increments|rollup_|_hyper'
		    GROUP BY 2 HAVING sum(s.seq_tup_read + coalesce(s.idx_tup_fetch, 0)) > 0) r
	SQL
}

# By query, after its description: milliseconds of the first run after a restart, the fastest and the median of five more runs, and the
# processor time of the fastest, which depends little on other load.
measure() {
    local name most ratio call times
    scripts/cluster.sh stop "$cluster"
    start "${@:2}"
    database "$1"
    : >"$cluster/$1.times"
    while IFS='|' read -r name most ratio call; do
        times=$({
            printf 'SET log_statement_stats = on; SET client_min_messages = log; SET max_parallel_workers_per_gather = 0;\n'
            for _ in 1 2 3 4 5 6; do printf 'SELECT * FROM %s \\g /dev/null\n' "$call"; done
        } | sql -f - 2>&1 |
            awk '/ elapsed$/ && $8 > 0.002 { print $8 * 1000, ($2 + $5) * 1000 }' | spread)
        echo "$name|$most|$ratio|$times|$({
            echo "BEGIN; SET LOCAL max_parallel_workers_per_gather = 0; SELECT count(*) FROM $call;"
            reads
            echo '; COMMIT;'
        } | sql -f - | paste -s -d '|')" | tee -a "$cluster/$1.times" >&2
    done < <(queries)
    echo "$(sql -c "SELECT pg_size_pretty(pg_database_size(current_database()))") in all; load average when the \
questions had been asked: $(cut -d ' ' -f 1-3 /proc/loadavg)." >"$cluster/$1.said"
}

spread() {
    awk 'NR == 1 { first = $1; next }
        { wall[NR - 1] = $1; if (!cpu || $2 < cpu) cpu = $2 }
        END {
            n = NR - 1
            for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (wall[j] < wall[i]) { t = wall[i]; wall[i] = wall[j]; wall[j] = t }
            printf "%.0f|%.0f|%.0f|%.0f", first, wall[1], wall[int((n + 1) / 2)], cpu
        }'
}

# The user in the middle of the fifty who do most.
choose_user() {
    sql -c "SELECT (array_agg(u.uid ORDER BY u.n))[(count(*) + 1) / 2]
        FROM (SELECT e.uid, count(*) AS n FROM jobstats.rollup_1h r JOIN jobstats.entries e USING (entry_id)
            WHERE e.job IS NOT NULL GROUP BY e.uid ORDER BY n DESC LIMIT 50) u" >"$cluster/user"
}

plain() {
    database plain
    maintain
    choose_user
    describe >"$cluster/described"
    measure plain
}

# A tenth of the rows, among them all that the questions are about.
tenth() {
    keep plain tenth "(i.\"time\" > '$(day $((days - 1)))' AND i.\"time\" <= '$(day $((days - 2)))') OR i.entry_id IN (
        SELECT e.entry_id FROM jobstats.entries e WHERE e.uid = $(cat "$cluster/user") OR e.job = '900001'
            OR abs(hashint8(e.entry_id)) % 20 = 0)"
    store tenth
    load tenth
    maintain
    measure tenth
}

apache() {
    with_timescaledb apache timescaledb.license=apache
}

community() {
    with_timescaledb community timescaledb.license=timescale
}

with_timescaledb() {
    have_timescaledb || { echo "$1: not run, TimescaleDB is not installed" >&2 && return; }
    make_room
    scripts/cluster.sh stop "$cluster"
    start "$2"
    store "$1" timescaledb
    load "$source"
    maintain
    measure "$1" "$2"
}

# One store at a time.
make_room() {
    local database
    [ -d "$cluster/rows/$source" ] || keep "$source" "$source" true
    for database in "${steps[@]}"; do
        drop "$database"
    done
}

remove() { scripts/cluster.sh remove "$cluster"; }

# What the month consists of.
describe() {
    cat <<-TEXT
		$(sql -c "SELECT to_char(count(*), 'FM999,999,999') FROM jobstats.increments") rows of increments,
		$(sql -c "SELECT to_char(count(*), 'FM999,999,999') FROM jobstats.entries") entries,
		$(sql -c "SELECT to_char(count(*), 'FM999,999,999') FROM jobstats.jobs") jobs in the accounting,
		$(sql -c "SELECT count(*) FROM jobstats.targets") targets: the simulator's cluster puhti at scale $scale, read every
		two minutes for $days days, and one job of 90 days. Two sessions fed $fed of the days as text, in
		$(sql -c "SELECT justify_interval(date_trunc('second', sum(took))) FROM feeding"). The other days are
		copies of these with their own jobs. The other stores got the rows by COPY, which does not compress details as
		a feed does. The questions about a day ask for
		$([ "$fed" -gt 1 ] && echo "one that was fed" || echo "a copy").
	TEXT
}

# Whether the goals are met, by processor time, as what else the machine does makes any run longer.
goals() {
    local step tables=()
    for step in "${steps[@]}"; do
        [ ! -s "$cluster/$step.times" ] || tables+=("$cluster/$step.times")
    done
    awk -F '|' '
        FNR == 1 {
            step = FILENAME
            sub(".*/", "", step)
            sub("[.]times$", "", step)
            steps[++count] = step
        }
        { if (count == 1) { name[FNR] = $1; most[FNR] = $2; ratio[FNR] = $3 } took[step, FNR] = $7; last = FNR }
        function judged(value, goal, digits) {
            if (goal == "") return sprintf("%." digits "f", value)
            asked++
            if (value <= goal) { met++; return sprintf("%." digits "f", value) }
            return sprintf("**%." digits "f**", value)
        }
        END {
            printf "| question | under |"
            for (i = 1; i <= count; i++) {
                printf " %s |", steps[i]
                if (steps[i] == "tenth") printf " plain / tenth |"
            }
            printf "\n|---|---:|"
            for (i = 1; i <= count; i++) printf steps[i] == "tenth" ? "---:|---:|" : "---:|"
            print ""
            for (n = 1; n <= last; n++) {
                printf "| %s | %s |", name[n], most[n]
                for (i = 1; i <= count; i++) {
                    ms = took[steps[i], n]
                    if (steps[i] != "tenth") { printf " %s |", judged(ms, most[n], 0); continue }
                    printf " %d |", ms
                    if (ratio[n] == "" || !(("plain", n) in took)) printf " |"
                    else printf " %s |", judged(took["plain", n] / (ms ? ms : 1), ratio[n], 1)
                }
                print ""
            }
            printf "\n%d of %d goals are met; bold: missed.\n", met, asked
        }' "${tables[@]}"
}

# Whether what accounting knows costs little more, by processor time.
compared() {
    local step tables=()
    for step in "${steps[@]}"; do
        [ ! -s "$cluster/$step.times" ] || tables+=("$cluster/$step.times")
    done
    pairs | awk -F '|' '
        FILENAME != "-" {
            step = FILENAME
            sub(".*/", "", step)
            sub("[.]times$", "", step)
            if (!(step in seen)) { seen[step]; steps[++count] = step }
            took[step, $1] = $7
            next
        }
        FNR == 1 {
            printf "| question | compared with | at most |"
            for (i = 1; i <= count; i++) printf " %s |", steps[i]
            printf "\n|---|---|---:|"
            for (i = 1; i <= count; i++) printf "---:|"
            print ""
        }
        {
            printf "| %s | %s | %s |", $1, $2, $3
            for (i = 1; i <= count; i++) {
                ratio = took[steps[i], $1] / (took[steps[i], $2] ? took[steps[i], $2] : 1)
                printf(ratio <= $3 ? " %.2f |" : " **%.2f** |", ratio)
            }
            print ""
        }' "${tables[@]}" -
}

report() {
    local step
    cat <<-TEXT
		# A month

		$(cat "$cluster/described")

		\`make bench-month\`, $(machine).
		Settings: shared_buffers 2GB, work_mem 64MB, otherwise as installed.

		## Goals

		Milliseconds of CPU time, the fastest of five runs. Answers from rollups take under 100 ms, answers from increments and about one job
		under 1000 ms. Each takes at most 1.5 times as long as on *tenth*, which has all rows of the question (for the last question, a tenth
		of them).

		$(goals)

		Questions that need accounting, compared with one that identifiers answer, in CPU time:

		$(compared)

		## First runs and rows

		Milliseconds of the first run after a restart of the server, and rows in the answer and
		scanned; in the columnstore, a scanned row is a batch of up to a thousand.

		$(first_runs)
	TEXT
    for step in "${steps[@]}"; do
        if [ -s "$cluster/$step.times" ]; then
            printf '\n*%s*: %s\n' "$step" "$(cat "$cluster/$step.said")"
        else
            printf '\n*%s* was not run.\n' "$step"
        fi
    done
}

# A row per question: the first run in each store, the rows of the answer, and the rows scanned in two of the stores.
first_runs() {
    local step files=()
    echo '| question | plain | tenth | community | apache | rows | scanned on plain | scanned on community |'
    echo '|---|---:|---:|---:|---:|---:|---|---|'
    for step in "${steps[@]}"; do
        [ ! -s "$cluster/$step.times" ] || files+=("$cluster/$step.times")
    done
    awk -F '|' '
        FNR == 1 { store = FILENAME; sub(/.*\//, "", store); sub(/\.times$/, "", store) }
        !($1 in rows) { questions[++n] = $1 }
        { first[$1, store] = $4; rows[$1] = $8; scanned[$1, store] = $9 }
        END {
            for (i = 1; i <= n; i++) {
                q = questions[i]
                print "| " q " | " first[q, "plain"] " | " first[q, "tenth"] " | " first[q, "community"] " | " first[q, "apache"] " | " rows[q] " | " scanned[q, "plain"] " | " scanned[q, "community"] " |"
            }
        }' "${files[@]}"
}

relations=(targets entries users coarse observations jobs increments)
steps=(plain tenth community apache)
scripts/install.sh all
start
[ $# -gt 0 ] || set -- feed account "${steps[@]}" report
for step; do
    if [ "$step" = report ]; then
        report >bench/month.md
        cat bench/month.md
    else
        "$step"
    fi
done
