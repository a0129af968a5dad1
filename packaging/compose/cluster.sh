#!/usr/bin/env bash
# Plays the servers of a Lustre cluster: every INTERVAL seconds the shipper of each reads the simulator in place of lctl.
# JOBSTATS_DATABASE_URL names the database. With ROUNDS it ends after so many readings.
set -uo pipefail

state=${STATE:-/var/tmp/jobstats}
for ((round = 0; round < ${ROUNDS:-1000000000}; round++)); do
    [ "$round" = 0 ] || sleep $((INTERVAL - $(date +%s) % INTERVAL))
    jobstats-simulator servers --preset "$PRESET" | cut -f 1 | sort -u | while read -r server; do
        mkdir -p "$state/$server"
        jobstats-simulator lctl-script --preset "$PRESET" --server "$server" "$state/$server"
        # What failed waits in the spool.
        jobstats-shipper once --cluster "$PRESET" --server "$server" --lctl "$state/$server/lctl" \
            --spool "$state/$server/spool" --lock "$state/$server/lock" </dev/null || true
    done
done
