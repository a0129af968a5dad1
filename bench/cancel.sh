#!/usr/bin/env bash
# How long it takes until a statement on large texts has ended that somebody cancels, at moments that are spread over it.
# Prints a table. The texts of accounting have 100 MB without a record.
#
#   JOBSTATS_CANCEL_MOMENTS    how many moments (10)
. "$(dirname "$0")/../scripts/lib.sh"
. bench/machine.sh

moments=${JOBSTATS_CANCEL_MOMENTS:-10}
scripts/install.sh all
start_cluster cancel
new_store "$cluster" cancel >/dev/null
url=$(scripts/cluster.sh url "$cluster" cancel)
sql() { psql -q -At "$url" "$@"; }

# Two texts of a busy target, a minute apart, and one of nonsense.
sql -c 'CREATE TABLE texts (name text, body bytea)'
for round in 1 2; do
    awk -v entries=49000 -v share=0.85 -v layout=2.16 -v target=fs-OST0000 -v round="$round" -v at=$(($(date +%s) - 600 + 60 * round)) \
        -f bench/text.awk | zstd -q -1 >"$cluster/text"
    sql -c "INSERT INTO texts SELECT 'round $round', pg_read_binary_file('$cluster/text')"
done
sql -f - <<-'SQL'
	INSERT INTO jobstats.feed (server, "time", body_zstd) SELECT 'oss1', now() - interval '9 minutes', body FROM texts WHERE name = 'round 1';
	CREATE TABLE accounting AS
	SELECT t.source, t.head || repeat(t.piece, 100000000 / length(t.piece)) AS body
	FROM (VALUES ('slurm', E'JobIDRaw|JobID|Submit\n', E'1.batch|1.batch|1700000000\n'), ('pbs', '', E'07/05/2024 13:59:00;L;license;floating\n'),
	    ('lsf', '', E'"JOB_RESIZE" "10.1" 1\n'), ('gridengine', '', E'# comment\n'), ('flux', '{"jobs": [', ' ')) AS t (source, head, piece);
	CREATE TABLE junk AS SELECT repeat(E'x\n', 5000000) AS body;
	CREATE TABLE unpacked AS SELECT jobstats_unpack(body) AS body FROM texts WHERE name = 'round 1';
	-- Cancels a session after a delay; gives the milliseconds until its statement has ended. Null: it had ended before.
	CREATE FUNCTION cancel(session integer, delay double precision) RETURNS double precision LANGUAGE plpgsql AS $$
	DECLARE
	    began timestamptz;
	BEGIN
	    PERFORM pg_sleep(delay);
	    began := clock_timestamp();
	    PERFORM pg_cancel_backend(session);
	    LOOP
	        PERFORM pg_stat_clear_snapshot();
	        EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = session AND state = 'active');
	        PERFORM pg_sleep(0.0005);
	    END LOOP;
	    RETURN 1000 * extract(epoch FROM clock_timestamp() - began);
	END
	$$;
SQL

# cancelled SECONDS STATEMENT
# Milliseconds until the statement has ended that is cancelled so many seconds after it began.
cancelled() {
    local session
    { echo 'SELECT pg_backend_pid();' && echo "BEGIN; $2; ROLLBACK;"; } | sql -v ON_ERROR_STOP=0 2>/dev/null >"$cluster/session" &
    until session=$(head -n 1 "$cluster/session") && [ -n "$session" ]; do sleep 0.001; done
    sql -c "SELECT cancel($session, $1)"
    wait
}

# row NAME STATEMENT
row() {
    local began whole
    began=$(date +%s%N)
    sql -c "BEGIN; $2; ROLLBACK" >/dev/null
    whole=$((($(date +%s%N) - began) / 1000000))
    for moment in $(seq "$moments"); do
        cancelled "$(awk -v whole="$whole" -v moment="$moment" -v moments="$moments" 'BEGIN { print whole * moment / (moments + 1) / 1000 }')" "$2"
    done | sort -n | awk -v name="$1" -v whole="$whole" '{ v[NR] = $1 } END { printf "| %s | %d | %.1f | %.1f |\n", name, whole, v[int((NR + 1) / 2)], v[NR] }'
}

printf '| statement | ms as a whole | until it has ended, median of %s moments | the longest |\n|---|---:|---:|---:|\n' "$moments"
row 'jobstats_parse(), 10 MB of nonsense' 'SELECT count(*) FROM junk, jobstats_parse(body)'
row 'jobstats_parse(), 49,000 entries' 'SELECT count(*) FROM unpacked, jobstats_parse(body)'
row 'jobstats_unpack(), 49,000 entries' "SELECT octet_length(jobstats_unpack(body)) FROM texts WHERE name = 'round 1'"
row 'feed, 10 MB of nonsense' "INSERT INTO jobstats.feed (server, body) SELECT 'oss2', body FROM junk"
for source in $(schedulers); do
    row "feed, 100 MB of $source" "INSERT INTO jobstats.feed (server, body, source) SELECT 'x', body, source FROM accounting WHERE source = '$source'"
done
row 'feed, 49,000 entries' "INSERT INTO jobstats.feed (server, body_zstd) SELECT 'oss1', body FROM texts WHERE name = 'round 2'"
row 'jobstats_audit()' "SELECT count(*) FROM jobstats_audit(now() - interval '1 hour', now())"
machine
