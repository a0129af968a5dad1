-- The spans of a target are merged first: a day of late text makes thousands of rows in dirty.
SELECT rollup.bucket, rollup.entry_id, rollup.target_id, rollup.first, rollup.last, rollup.resets@columns@
FROM jobstats.@relation@ rollup
LEFT JOIN (@changed@) changed ON changed.target_id = rollup.target_id
WHERE rollup.bucket <= @refreshed@ AND rollup.bucket > @dropped@ AND (changed.spans @> rollup.bucket) IS NOT TRUE
