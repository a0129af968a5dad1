# shellcheck shell=bash disable=SC2154 # what lib.sh sets
# Loads simulated texts into a store to be measured; sourced by the scripts in this directory, after lib.sh.

simulator=$built/jobstats-simulator

sql() { psql -q -At "$url" "$@"; }

# columns_of URL RELATION: of a store, as a list.
columns_of() {
    psql -q -At "$1" -c "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = 'jobstats.$2'::regclass AND attnum > 0 AND NOT attisdropped"
}

# A table for texts, empty.
create_texts() {
    sql -c "DROP TABLE IF EXISTS $1" -c "CREATE UNLOGGED TABLE $1 (cluster text, server text, \"time\" timestamptz,
        body_zstd bytea, duration interval, shipper text)"
}

# simulate TABLE FROM HOURS [OPTION ...]
simulate() {
    create_texts "$1"
    "$simulator" load --from "$2" --hours "$3" "${@:4}" --connections 1 --job-stats-only --table "$1" --database-url "$url" >/dev/null
}

# feed_day DAY MINUTES TABLE ...
# The texts of a day, in order of time, a transaction each, as shippers send them. Servers that take over each other's
# targets come from the same one of two feeders; these wait for each other after so many minutes, as rows that lie in the
# order of time are found faster.
feed_day() {
    local day=$1 minutes=$2 texts minute
    shift 2
    texts=$(printf ' UNION ALL TABLE %s' "$@")
    for ((minute = 0; minute < 1440; minute += minutes)); do
        feed_both "${texts# UNION ALL}" "'$day'::timestamptz + interval '$minute minutes'" "$minutes minutes"
    done
}

# feed_both TEXTS FROM SPAN
feed_both() {
    local feeder feeders=()
    for feeder in 0 1; do
        feed_texts "$@" "$feeder" &
        feeders+=($!)
    done
    wait "${feeders[0]}" && wait "${feeders[1]}"
}

# feed_texts TEXTS FROM SPAN FEEDER
feed_texts() {
    feeding "$1" "$2" "$3" "(substring(s.server FROM '[0-9]+\$')::integer + 1) / 2 % 2 = $4" | sql
}

# feeding TEXTS FROM SPAN CONDITION
# The statement that feeds texts of a span, in order of time and each in a transaction.
feeding() {
    cat <<-SQL
		DO \$\$
		DECLARE
		    sent record;
		BEGIN
		    FOR sent IN
		        SELECT * FROM ($1) s WHERE s."time" >= $2 AND s."time" < $2 + interval '$3' AND $4
		        ORDER BY s."time"
		    LOOP
		        INSERT INTO jobstats.feed (cluster, server, "time", body_zstd, duration, shipper)
		        VALUES (sent.cluster, sent.server, sent."time", sent.body_zstd, sent.duration, sent.shipper);
		        COMMIT;
		    END LOOP;
		END
		\$\$;
	SQL
}

# copy_day DAY DAYS FED
# Copies a day to the day DAYS earlier, with other jobs of the same users, whose entries were first seen until FED.
copy_day() {
    local columns
    columns=$(sql -c "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = 'jobstats.increments'::regclass AND attnum > 7 AND NOT attisdropped")
    sql <<-SQL
		CREATE TEMPORARY VIEW span AS
		SELECT timestamptz '$1' AS upper, timestamptz '$1' - interval '$2 days' AS lower, interval '$2 days' AS later;
		INSERT INTO jobstats.observations SELECT o."time" + s.later, coalesce(o.since, o."time" - interval '2 minutes') + s.later, o.target_id, o.server,
		    o.received, o.duration, o.shipper, o.cleanup_interval, o.entries, o.active, o.added, o.resets, o.removed,
		    o.carried, o.unknown, o.problems, o.bytes, o.digest
		FROM span s, jobstats.observations o JOIN jobstats.targets t USING (target_id)
		WHERE t.cluster = 'puhti' AND o."time" > '$1'::timestamptz - interval '$2 days'
		    AND o."time" <= '$1'::timestamptz - interval '$((${2} - 1)) days';
		SELECT jobstats_internal.note_spans(upper - interval '1 day', 'infinity') FROM span;
		INSERT INTO jobstats.entries
		SELECT e.entry_id + $2, replace(e.name, e.job, j.job), j.job, e.uid, e.gid, e.node, e.executable,
		    e.pid, e.format, e.status, j.job, e.first_seen + s.later
		FROM span s, jobstats.entries e CROSS JOIN LATERAL (SELECT (e.job::bigint + $2 * 20000000)::text) AS j (job)
		WHERE e.job IS NOT NULL AND e.job <> '900001' AND e.first_seen < '$3'
		ON CONFLICT DO NOTHING;
		INSERT INTO jobstats.increments
		SELECT i."time" + s.later, i.since + s.later, i.observed + s.later, i.last_active + s.later,
		    CASE WHEN e.job IS NULL THEN e.entry_id ELSE e.entry_id + $2 END, i.target_id, i.reset, $columns
		FROM span s, jobstats.increments i JOIN jobstats.entries e USING (entry_id) JOIN jobstats.targets t USING (target_id)
		WHERE t.cluster = 'puhti' AND i."time" > '$1'::timestamptz - interval '$2 days'
		    AND i."time" <= '$1'::timestamptz - interval '$((${2} - 1)) days'
		ORDER BY i.observed, i.target_id;
	SQL
}

# spent: reads statements, and prints the ticks of the processor that they take in their session.
spent() {
    {
        echo "CREATE FUNCTION pg_temp.spent() RETURNS bigint LANGUAGE sql AS \$\$
            SELECT s[14]::bigint + s[15]::bigint FROM string_to_array(pg_read_file('/proc/self/stat', 0, 4096), ' ') s \$\$;
            \\o /dev/null
            SELECT pg_temp.spent() AS before \\gset"
        cat
        printf '\\o\nSELECT pg_temp.spent() - :before;\n'
    } | sql
}
