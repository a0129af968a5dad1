SELECT rollup.bucket, rollup.entry_id, rollup.target_id, rollup.first, rollup.last, rollup.resets@columns@
FROM jobstats.@relation@ rollup
WHERE rollup.bucket <= @refreshed@ AND rollup.bucket > @dropped@
    AND NOT EXISTS (SELECT FROM jobstats.dirty WHERE dirty.target_id = rollup.target_id AND @span@ @> rollup.bucket)
