-- The usage by user with the end of the days of the name that the user had then. There are few users who had several names.
SELECT usage.*, named.named_until
FROM (
    @usage@
) usage
LEFT JOIN (
    @earlier@
) named ON named.uid = usage.uid AND named.named_from < usage.at AND named.named_until >= usage.at
