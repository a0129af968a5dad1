-- Whether a target reports times, if the selected entries may have none on it. One row of any entry shows it.
CASE
    WHEN known.timed THEN true
    WHEN @are_many@ THEN other.timed
    WHEN EXISTS (
        SELECT FROM (
            @usage@
        ) usage
        WHERE usage.value_0 IS NOT NULL
    ) THEN true
    WHEN EXISTS (
        SELECT FROM (
            @usage@
        ) usage
    ) THEN false
END
