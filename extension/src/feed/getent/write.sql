-- Writes current names.
INSERT INTO jobstats.@table@ (@number@, @name@@gid@, since, seen, source)
SELECT said.number, said.name@said_gid@, coalesce(timestamptz 'epoch' + said.since * interval '1 microsecond', timestamptz '-infinity'),
    coalesce(timestamptz 'epoch' + said.seen * interval '1 microsecond', timestamptz '-infinity'), text 'getent'
FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) AS said (number, name, gid, since, seen)
ON CONFLICT (@number@) DO UPDATE
SET @name@ = excluded.@name@@set_gid@, since = excluded.since, seen = excluded.seen, source = excluded.source
