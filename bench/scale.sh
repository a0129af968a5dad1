#!/usr/bin/env bash
# Measures 1, 2 and 4 nodes of equal size behind a front, all on one machine: feed time, query time through the front and on a node itself,
# and bytes over the network for each. Writes bench/scale.md, with an estimate for a site of 480 targets, and docs/pictures/scale.svg. Takes
# about twenty minutes on two cores.
#
#   scale.sh [STEP ...]    simulate_day feed history whole fronts cost ask report remove; all by default
#
# simulate_day plays hours of the simulated cluster puhti; feed feeds them into one new store per node, as different clusters and all at
# once; history copies that day to earlier days; whole creates one store with the data of all nodes; fronts creates the fronts; cost feeds
# texts of 100,000 entries; ask runs the queries; report writes the results. Everything stays until the step remove.
#
#   JOBSTATS_SCALE_SCALE      users and jobs of each node, compared with the simulator's preset (0.5)
#   JOBSTATS_SCALE_HOURS      how many hours of the day are fed (24)
#   JOBSTATS_SCALE_ENTRIES    entries of the texts of the step cost (100000)
#   JOBSTATS_SCALE_DIRECTORY  where the databases are made (/var/tmp/jobstats-scale); they take up to 20 GB
. "$(dirname "$0")/../scripts/lib.sh"
. bench/machine.sh
. bench/simulated.sh

scale=${JOBSTATS_SCALE_SCALE:-0.5}
hours=${JOBSTATS_SCALE_HOURS:-24}
entries=${JOBSTATS_SCALE_ENTRIES:-100000}
cluster=${JOBSTATS_SCALE_DIRECTORY:-/var/tmp/jobstats-scale}
counts=(1 2 4)
# The hours fed for each number of nodes, before the last nodes get the rest.
measured=$((hours < 3 ? hours : 3))
days_before=3
# Another server may have the port of PostgreSQL at the usual address.
address=127.0.83.1
password=$(cat "$cluster/password" 2>/dev/null || head -c 18 /dev/urandom | base64)

day() { date -u -d "$(cat "$cluster/day") $1 days" +%Y-%m-%dT00:00:00Z; }
database() { scripts/cluster.sh url "$cluster" "$1"; }
within() { psql -q -At "$(database "$1")" "${@:2}"; }

# A front connects to its nodes over TCP, as between machines, but without TLS, so that bytes can be compared.
start() {
    [ -e "$cluster/password" ] || {
        scripts/cluster.sh start "$cluster" && scripts/cluster.sh stop "$cluster"
        echo "$password" >"$cluster/password" && date -u -d yesterday +%Y-%m-%d >"$cluster/day"
        printf 'local all all trust\nhost all jobstats_front 127.0.0.0/8 scram-sha-256\n' >"$cluster/hba"
        chmod 600 "$cluster/password" && chmod 644 "$cluster/hba"
    }
    scripts/cluster.sh start "$cluster" fsync=off synchronous_commit=off full_page_writes=off shared_buffers=2GB effective_cache_size=8GB \
        work_mem=64MB max_wal_size=2GB max_parallel_workers_per_gather=0 hba_file="$cluster/hba" listen_addresses="$address"
}

drop() { psql -q "$(database postgres)" -c "DROP DATABASE IF EXISTS $1 WITH (FORCE)"; }

# store DATABASE [NUMBER]: without TimescaleDB, which not all have.
store() {
    drop "$1" 2>/dev/null
    psql -q "$(database postgres)" -c "CREATE DATABASE $1 TEMPLATE template0"
    within "$1" -c 'CREATE EXTENSION jobstats' -c "SELECT jobstats_setup(node => ${2:-0}, raw_retention => '30 days', retention => '100 days')" >/dev/null
    [ -z "${2:-}" ] || {
        within "$1" -c "SELECT jobstats_internal.add_partitions(relation, 'day', '$(day -$days_before)', '$(day 1)') FROM unnest('{raw,observations,increments}'::text[]) relation" \
            -c "SELECT jobstats_grant_reader('jobstats_front')" >/dev/null
        url=$(database "$1") && create_texts texts 2>/dev/null
    }
}

simulate_day() {
    psql -q "$(database postgres)" -c 'DROP DATABASE IF EXISTS played' -c 'CREATE DATABASE played'
    url=$(database played)
    simulate texts "$(day 0)" "$hours" --preset puhti --scale "$scale" --layout 2.15.8 --undisturbed
    sql -c 'ANALYZE texts' -c "SELECT count(*) || ' texts, ' || pg_size_pretty(sum(length(body_zstd))) FROM texts" >&2
}

# texts_of NODE FROM UNTIL: of these hours; the same for every node, but for the name of the cluster.
texts_of() {
    within played -c "COPY (SELECT 'part$1', server, \"time\", body_zstd, duration, shipper FROM texts
        WHERE \"time\" >= '$(day 0)'::timestamptz + interval '$2 hours' AND \"time\" < '$(day 0)'::timestamptz + interval '$3 hours') TO STDOUT"
}

# give NODE FROM UNTIL: these texts.
give() {
    within "node$1" -c 'TRUNCATE texts'
    texts_of "$@" | within "node$1" -c 'COPY texts FROM STDIN'
}

# feed_node NODE: the ticks of the processor that this takes.
feed_node() {
    url=$(database "node$1")
    feeding 'TABLE texts' "'$(day 0)'::timestamptz" "$hours hours" true | spent >"$cluster/ticks.$1"
}

# at_once COUNT COMMAND: runs it for each node.
at_once() {
    local node running=()
    for ((node = 1; node <= $1; node++)); do "${@:2}" "$node" & running+=($!); done
    for node in "${running[@]}"; do wait "$node"; done
}

feed() {
    local count node began rows
    within postgres -c "DO \$\$ BEGIN IF to_regrole('jobstats_front') IS NULL THEN CREATE ROLE jobstats_front LOGIN PASSWORD '$password'; END IF; END \$\$"
    : >"$cluster/fed"
    for count in "${counts[@]}"; do
        for ((node = 1; node <= count; node++)); do store "node$node" $((node - 1)) && give "$node" 0 "$measured"; done
        began=$(date +%s.%N)
        at_once "$count" feed_node
        began=$(awk -v began="$began" -v now="$(date +%s.%N)" 'BEGIN { print now - began }')
        rows=$(within node1 -c 'SELECT count(*) FROM jobstats.increments')
        for ((node = 1; node <= count; node++)); do
            echo "$count $began $rows $(within "node$node" -c 'SELECT sum(o.entries) FROM jobstats.observations o') $(cat "$cluster/ticks.$node")"
        done | tee -a "$cluster/fed" >&2
    done
    for ((node = 1; node <= count; node++)); do give "$node" "$measured" "$hours"; done
    at_once "$count" feed_node
    account
}

# The accounting of all jobs: a text that every node gets, as units for accounting send it.
account() {
    local node
    within node1 -c "COPY (
        SELECT 'batch1', timestamptz '$(day 1)', 'slurm', 'JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|Account|Partition|State|JobName' || E'\n'
            || string_agg(concat_ws('|', j.job, j.job, 'site', j.started, j.started, j.ended, j.uid, 'user' || j.uid, 'project_' || j.uid * 7 % 40, 'main', 'COMPLETED', 'run'), E'\n')
        FROM (SELECT e.job, max(e.uid) AS uid, extract(epoch FROM min(i.since))::bigint AS started, extract(epoch FROM max(i.\"time\"))::bigint AS ended
            FROM jobstats.increments i JOIN jobstats.entries e USING (entry_id) WHERE e.job ~ '^[0-9]+\$' GROUP BY e.job) j) TO STDOUT" >"$cluster/jobs"
    for ((node = 1; node <= ${counts[-1]}; node++)); do feed_jobs "$node"; done
}

feed_jobs() { within "node$1" -c 'SET client_min_messages = warning' -c 'COPY jobstats.feed (server, "time", source, body) FROM STDIN' <"$cluster/jobs"; }

# The day once more on days before, as something to compare with.
copy_days() {
    local columns back
    for relation in observations increments; do
        columns=$(columns_of "$(database "node$1")" "$relation")
        for ((back = 1; back <= days_before; back++)); do
            within "node$1" -c "INSERT INTO jobstats.$relation ($columns) SELECT $(sed -E "s/(^|, )(\"?(time|since|observed|last_active|received)\"?)/\1\2 - interval '$back days'/g" <<<"$columns")
                FROM jobstats.$relation i WHERE i.\"time\" > '$(day 0)'"
        done
    done
    within "node$1" -c "SELECT jobstats_internal.note_spans('-infinity', 'infinity')"
    echo 'CALL jobstats_maintain();' | url=$(database "node$1") spent >"$cluster/maintained.$1"
    maintain_all "$(database "node$1")"
    within "node$1" -c 'DROP TABLE texts' -c 'VACUUM ANALYZE'
}

history() { at_once "${counts[-1]}" copy_days; }

# The time of a query where one store has all data and no answers have to be merged.
whole() {
    local node
    store node_of_all 100
    for ((node = 1; node <= ${counts[-1]}; node++)); do texts_of "$node" 0 "$hours"; done | within node_of_all -c 'COPY texts FROM STDIN'
    feed_node _of_all
    feed_jobs _of_all
    copy_days _of_all
}

fronts() {
    local count node
    for count in "${counts[@]}"; do
        store "front$count"
        within "front$count" -c 'CREATE EXTENSION postgres_fdw'
        for ((node = 1; node <= count; node++)); do
            within "front$count" -c "SELECT jobstats_attach('part$node', host => '$address', dbname => 'node$node', \"user\" => 'jobstats_front', password => '$password')"
        done >&2
    done
}

# Feeds a text of a target with many entries, once with the changes of a minute and once unchanged: milliseconds of processor time.
cost() {
    local round at
    at=$(($(date +%s) / 60 * 60 - 1200))
    store cost 0
    url=$(database cost)
    sql -c 'CREATE UNLOGGED TABLE bodies (round integer, body bytea)'
    for round in 1 2 3; do
        awk -v entries="$entries" -v share=0.25 -v layout=2.16 -v target=fs-OST0000 -v round="$round" -v at=$((at + 60 * round)) -f bench/text.awk | zstd -q -1 >"$cluster/text"
        sql -c "INSERT INTO bodies SELECT $round, pg_read_binary_file('$cluster/text')"
    done
    rm "$cluster/text"
    {
        echo 'SET client_min_messages = log; SET log_statement_stats = on;'
        for round in 1 2 3 4; do
            echo "INSERT INTO jobstats.feed (server, \"time\", body_zstd) SELECT 'oss1', to_timestamp($((at + 60 * round))), body FROM bodies WHERE round = least($round, 3);"
        done
    } | sql -f - 2>&1 | awk '/ s user, .* elapsed/ { spent[++n] = ($2 + $5) * 1000 } END { print "changed", spent[n - 1]; print "unchanged", spent[n] }' >"$cluster/cost"
    sql -F ' ' -c "SELECT 'length', max(o.entries) FROM jobstats.observations o UNION ALL SELECT 'busy', max(o.active) FROM jobstats.observations o
        UNION ALL SELECT 'packed', max(length(body)) FROM bodies" >>"$cluster/cost"
    drop cost
}

# Name and call, which is about the day, or its last hour.
questions() {
    local day hour job user
    day="'$(day 0)', '$(day 0)'::timestamptz + interval '$hours hours'"
    hour="'$(day 0)'::timestamptz + interval '$((hours - 1)) hours', '$(day 0)'::timestamptz + interval '$hours hours'"
    job=$(within node1 -c "SELECT e.job FROM jobstats.rollup_1d r JOIN jobstats.entries e USING (entry_id) WHERE e.job ~ '^[0-9]+\$' GROUP BY e.job ORDER BY count(*) DESC, e.job LIMIT 1")
    user=$(within node1 -c "SELECT e.uid FROM jobstats.rollup_1d r JOIN jobstats.entries e USING (entry_id) WHERE e.uid IS NOT NULL GROUP BY e.uid ORDER BY count(*) DESC, e.uid LIMIT 1")
    cat <<-TEXT
		top users|jobstats_top($day, 'service_time', 'uid')
		top accounts and users|jobstats_top($day, 'service_time', 'account,user')
		top jobs|jobstats_top($day, 'service_time', 'job')
		jobs of one user|jobstats_top($day, 'service_time', 'job', filter => 'uid=$user')
		balance of targets|jobstats_balance($day)
		all targets|jobstats_targets()
		rates of targets at 10 minutes|jobstats_rates($day, 'service_time,metadata,write_bytes', 'target', '10 minutes')
		density of users at 10 minutes|jobstats_densities($day, 'service_time', 'uid', step => '10 minutes')
		summary of jobs|jobstats_summary($day, by => 'job')
		changes by user|jobstats_changes($day, 'service_time', 'user')
		baseline of an hour by user|jobstats_baseline($hour, 'service_time', 'user')
		baseline of a day by account|jobstats_baseline($day, 'service_time', 'account')
		findings of all jobs|jobstats_findings($day)
		one job|jobstats_job_usage('$job')
		coverage by hour|jobstats.quality q WHERE q.hour >= '$(day 0)' AND q.hour < '$(day 1)'
	TEXT
}

# What the connections of a front have done: bytes that its nodes have sent, and for each of these backends the nanoseconds in which it had a
# processor and those in which it waited for one.
counters() {
    ss -tinH state established src "$address" | grep -o 'bytes_sent:[0-9]*' | awk -F : '{ sent += $2 } END { print "sent", sent + 0 }'
    for pid in $(within postgres -c "SELECT pid FROM pg_stat_activity WHERE application_name = 'postgres_fdw' ORDER BY pid"); do
        echo "node $pid $(cat "/proc/$pid/schedstat")"
    done
}

# asked DATABASE CALL: prints milliseconds, kB over the wire, milliseconds of the nodes' processors, and the longest time that a node waited
# for a processor (not included in the first), of the fastest of three runs after a warm-up.
asked() {
    {
        printf 'SET client_min_messages = warning;\n\\timing on\n'
        for _ in 0 1 2 3; do printf 'SELECT * FROM %s \\g /dev/null\n\\! bench/scale.sh counters\n' "$2"; done
    } | within "$1" -f - | awk '
        function ended() {
            if (blocks > 1 && (!fastest || elapsed - wait < fastest)) { fastest = elapsed - wait; said = sprintf("%.1f|%.1f|%.1f|%.1f", fastest, bytes / 1000, work, wait) }
        }
        /^Time:/ { ended(); elapsed = $2 }
        $1 == "sent" { blocks++; bytes = $2 - sent; sent = $2; work = wait = 0 }
        $1 == "node" {
            work += ($3 - worked[$2]) / 1e6; worked[$2] = $3
            if (($4 - waited[$2]) / 1e6 > wait) wait = ($4 - waited[$2]) / 1e6
            waited[$2] = $4
        }
        END { ended(); print said }'
}

ask() {
    local name call node count one
    : >"$cluster/asked"
    while IFS='|' read -r name call; do
        for ((node = 1; node <= ${counts[-1]}; node++)); do echo "$name|node|$node|$(asked "node$node" "$call")"; done
        echo "$name|whole|${counts[-1]}|$(asked node_of_all "$call")"
        for count in "${counts[@]}"; do echo "$name|front|$count|$(asked "front$count" "$call")"; done
        # Which part of its time grows with the targets.
        one="${call%)}, filter => 'target=*-OST0001')"
        [[ $call != *"filter => '"* ]] || one=${call/"filter => '"/"filter => 'target=*-OST0001 "}
        [[ ! $call =~ jobstats_(top|changes) ]] || echo "$name|target|1|$(asked node1 "$one")"
    done < <(questions) | tee -a "$cluster/asked" >&2
}

remove() { scripts/cluster.sh remove "$cluster"; }

# What the model is computed from: name and number.
figures() {
    cat "$cluster/cost"
    within node1 -F ' ' <<-SQL
		SELECT 'targets', count(*) FROM jobstats.targets;
		SELECT 'listed', sum(o.entries)::double precision / count(*) FROM jobstats.observations o;
		SELECT 'active', sum(o.active)::double precision / sum(o.entries) FROM jobstats.observations o;
		SELECT 'users', count(DISTINCT e.uid) FROM jobstats.entries e;
		SELECT 'rows', count(*) FROM jobstats.increments;
		SELECT 'bytes', sum(pg_total_relation_size(c.oid)) / (SELECT count(*) FROM jobstats.increments) FROM pg_class c
		WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind = 'r' AND c.relname ~ '^(increments|rollup_)';
		SELECT 'maintenance', 1000.0 * $(cat "$cluster/maintained.1") / $(getconf CLK_TCK) / (SELECT count(*) FROM jobstats.increments);
	SQL
}

report() {
    local tables
    figures >"$cluster/figures"
    tables=$(
        cat <<-TEXT
			\`make bench-scale\`, $(machine). Each node: the simulator's cluster puhti at scale $scale,
			$(awk '$1 == "targets" { print $2 }' "$cluster/figures") targets read every two minutes for $hours hours, and $days_before days that are copies of these;
			$(awk '$1 == "rows" { print $2 }' "$cluster/figures") rows of increments. Settings: shared_buffers 2GB, work_mem 64MB, no parallel workers.$([ "$profile" = release ] || echo " Built as $profile, without optimization.")

		TEXT
        (cd "$cluster" && awk -v hertz="$(getconf CLK_TCK)" -f "$root/bench/scale/model.awk" figures fed asked)
    )
    awk -f bench/scale/picture.awk "$cluster/asked" >docs/pictures/scale.svg
    TABLES=$tables awk '
        /^<!-- measured -->$/ { print; print ""; print ENVIRON["TABLES"]; print ""; inside = 1 }
        /^<!-- end -->$/ { inside = 0 }
        !inside && !/^<!-- measured -->$/ { print }' bench/scale.md >"$cluster/scale.md"
    cat "$cluster/scale.md" >bench/scale.md
    cat bench/scale.md
}

[ "${1:-}" != counters ] || { counters && exit; }
[ $# -gt 0 ] || { set -- simulate_day feed history whole fronts cost ask report remove && scripts/install.sh all; }
start
for step; do
    say "$step" && "$step"
done
