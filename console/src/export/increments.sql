SELECT increment.since, increment."time" AS until, increment.last_active, increment.reset::integer::bigint AS resets,
        increment.target_id, increment.entry_id, @columns@
    FROM jobstats.increments increment
    WHERE increment."time" > $1 AND increment."time" <= $2
