-- Writes names that users or groups had before.
INSERT INTO jobstats.earlier_@table@ (@number@, @name@@gid@, since, until, seen)
SELECT said.number, said.name@said_gid@, coalesce(timestamptz 'epoch' + said.since * interval '1 microsecond', timestamptz '-infinity'),
    timestamptz 'epoch' + said.until * interval '1 microsecond',
    coalesce(timestamptz 'epoch' + said.seen * interval '1 microsecond', timestamptz '-infinity')
FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) AS said (number, name, gid, since, seen, until)
