-- Texts of job_stats for tests: ost('scratch-OST0000', record('dd.0', 10, 40960), …)
CREATE SCHEMA texts;

-- As Lustre 2.12 prints it: calls and bytes written, punches; no start_time.
CREATE FUNCTION texts.record(id text, calls numeric, bytes numeric, punches numeric DEFAULT 0, seen bigint DEFAULT 1700000000)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT format(E'- job_id:          %s\n  snapshot_time:   %s\n'
    '  write_bytes:     { samples: %s, unit: bytes, min: %s, max: %s, sum: %s }\n'
    '  punch:           { samples: %s, unit:  reqs }\n',
    id, seen, lpad(calls::text, 11), CASE WHEN calls > 0 THEN '   4096' ELSE '      0' END,
    CASE WHEN calls > 0 THEN '   4096' ELSE '      0' END, lpad(bytes::text, 15), lpad(punches::text, 11))
$$;

-- As Lustre 2.16 prints it: an entry of an MDT with its start_time and the time spent.
CREATE FUNCTION texts.life(id text, start timestamptz, opens numeric, usecs numeric, getattrs numeric DEFAULT 0)
RETURNS text LANGUAGE sql STABLE AS $$
SELECT format(E'- job_id:          %s\n  snapshot_time:   %s.000000000 secs.nsecs\n  start_time:      %s.000000000 secs.nsecs\n'
    '  elapsed_time:    1.000000000 secs.nsecs\n'
    '  open:            { samples: %s, unit: usecs, min:        1, max:      100, sum: %s, sumsq:                  0 }\n'
    '  getattr:         { samples: %s, unit: usecs, min:        1, max:      100, sum: %s, sumsq:                  0 }\n',
    id, extract(epoch FROM start)::bigint + 1, extract(epoch FROM start)::bigint,
    lpad(opens::text, 11), lpad(usecs::text, 16), lpad(getattrs::text, 11), lpad(getattrs::text, 16))
$$;

CREATE FUNCTION texts.ost(target text, VARIADIC records text[] DEFAULT '{}') RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT 'obdfilter.' || target || E'.job_stats=\njob_stats:\n' || array_to_string(records, '')
$$;

CREATE FUNCTION texts.mdt(target text, VARIADIC records text[] DEFAULT '{}') RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT 'mdt.' || target || E'.job_stats=\njob_stats:\n' || array_to_string(records, '')
$$;

-- The own counters of a target, as Lustre 2.16 prints them: {"open": 3, "open_usecs": 70} began at start.
CREATE FUNCTION texts.stats(parameter text, read timestamptz, start timestamptz, counts jsonb) RETURNS text LANGUAGE sql STABLE AS $$
SELECT format(E'%s=\nsnapshot_time             %s.000000000 secs.nsecs\nstart_time                %s.000000000 secs.nsecs\n'
    'elapsed_time              1.000000000 secs.nsecs\n', parameter, extract(epoch FROM read)::bigint, extract(epoch FROM start)::bigint)
    || coalesce(string_agg(CASE WHEN c.key LIKE '%\_bytes' THEN format(E'%s %s samples [bytes] 4096 4096 %s 0\n', rpad(c.key, 25), 1, c.value)
        ELSE format(E'%s %s samples [usecs] 1 100 %s 0\n', rpad(c.key, 25), c.value, coalesce(counts ->> (c.key || '_usecs'), '0')) END, ''
        ORDER BY c.key), '')
FROM jsonb_each_text(counts) c WHERE c.key NOT LIKE '%\_usecs'
$$;

-- Packed as the tool zstd might: a frame of blocks that are kept as they are.
CREATE FUNCTION texts.zstd(content bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
SELECT '\x28b52ffd0038' || string_agg(
    substring(int4send((length(block) * 8 + last::integer) << 8) FROM 3 FOR 1)
    || substring(int4send((length(block) * 8 + last::integer) << 8) FROM 2 FOR 1)
    || substring(int4send((length(block) * 8 + last::integer) << 8) FROM 1 FOR 1)
    || block, ''::bytea ORDER BY n)
FROM (
    SELECT n, substring(content FROM n * 60000 + 1 FOR 60000) AS block, n = length(content) / 60000 AS last
    FROM generate_series(0, length(content) / 60000) AS n
) AS blocks
$$;

SET search_path = public, texts;
