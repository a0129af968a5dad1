-- The keys of the texts that follow on one, or of the first ones, in the order in which they are read.
SELECT t."time", t.cluster, t.source, t.server
FROM jobstats.texts t
WHERE t."time" >= @since@ AND t."time" <= @until@
    AND CASE WHEN @cluster@ IS NULL THEN t."time" > @since@ ELSE (t."time", t.cluster, t.source, t.server) > (@since@, @cluster@, @source@, @server@) END
    AND (@of_source@ IS NULL OR t.source = @of_source@)@conditions@
ORDER BY t."time", t.cluster, t.source, t.server
LIMIT @limit@
