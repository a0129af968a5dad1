-- Replaces the stored list ($1, $2) of a day ($3), or the newest one, for owners in ($4, $5] by the values of a text ($6, $7, $8).
WITH gone AS (
    -- The statement is planned with its arguments, so that the array is searched by hash.
    DELETE FROM jobstats.@table@ stored
    WHERE stored.target_id = $1 AND stored.kind = $2@of_day@ AND stored.id > $4 AND stored.id <= $5 AND stored.id <> ALL ($6::bigint[])
)
INSERT INTO jobstats.@table@ AS stored (@day@target_id, kind, id, kbytes, inodes)
SELECT @said_day@$1, $2, said.* FROM unnest($6::bigint[], $7::bigint[], $8::bigint[]) AS said (id, kbytes, inodes)
ON CONFLICT (@day@target_id, kind, id) DO UPDATE SET kbytes = EXCLUDED.kbytes, inodes = EXCLUDED.inodes
WHERE (stored.kbytes, stored.inodes) <> (EXCLUDED.kbytes, EXCLUDED.inodes)
