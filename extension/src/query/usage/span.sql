-- `last_active` comes from the clock of the server, which is wrong if it is after the row. Of a piece of a row it may lie before the piece.
, greatest(usage.since, @since@) AS first, greatest(@since@, least(@until@, usage.last_active, usage."time")) AS last
