, greatest(usage.first, @since@) AS first, greatest(@since@, least(usage.last, @until@)) AS last
