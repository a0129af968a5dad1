, greatest(usage.first, @since@) AS first, least(usage.last, @until@) AS last
