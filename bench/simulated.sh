# shellcheck shell=bash disable=SC2154 # what lib.sh sets
# How simulated texts come into a store that is measured; sourced by the scripts beside it, after lib.sh.

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
    local day=$1 minutes=$2 texts feeder feeders minute
    shift 2
    texts=$(printf ' UNION ALL TABLE %s' "$@")
    for ((minute = 0; minute < 1440; minute += minutes)); do
        feeders=()
        for feeder in 0 1; do
            feed_texts "${texts# UNION ALL}" "'$day'::timestamptz + interval '$minute minutes'" "$minutes minutes" "$feeder" &
            feeders+=($!)
        done
        wait "${feeders[0]}" && wait "${feeders[1]}"
    done
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
