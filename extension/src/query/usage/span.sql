-- `last_active` comes from the clock of the server; outside of the row, that clock is wrong.
, greatest(usage.since, @since@) AS first,
    greatest(@since@, least(@until@, CASE
        WHEN usage.last_active > usage.since AND usage.last_active < usage."time" THEN usage.last_active
        ELSE usage."time"
    END)) AS last
