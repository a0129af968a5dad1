-- The usage with the end of the days of the name that the user of the entry had then. There are few users who had several names.
SELECT usage.*, named.named_until
FROM (
    @usage@
) usage
LEFT JOIN (
    WITH earlier AS (
    @earlier@
    )
    SELECT entry.entry_id, earlier.named_from, earlier.named_until AS named_to, earlier.named_until
    FROM earlier
    JOIN jobstats.entries entry ON entry.uid = earlier.uid
    @of_jobs@
) named ON named.entry_id = usage.entry_id AND named.named_from < usage.at AND named.named_to >= usage.at
