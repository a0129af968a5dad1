-- Names numbers that have no name yet.
INSERT INTO jobstats.@table@ (@number@, @name@@gid@, source)
SELECT said.number, said.name@said_gid@, text 'accounting'
FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS said (number, name, gid)
ON CONFLICT (@number@) DO NOTHING
