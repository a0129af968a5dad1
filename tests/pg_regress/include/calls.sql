-- Text of an OST with calls of these sizes, each of which takes 100 µs. Lustre 2.16 prints histograms ("hist"), 2.14 sums of squares
-- ("squares"), 2.12 neither of them and no times ("sums").
CREATE FUNCTION texts.label(size numeric) RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT (ARRAY['1', '2', '4', '8', '16', '32', '64', '128', '256', '512', '1K', '2K', '4K', '8K', '16K', '32K', '64K', '128K',
    '256K', '512K', '1M', '2M', '4M'])[1 + (SELECT min(k) FROM generate_series(0, 22) AS k WHERE size <= 2::numeric ^ k)]
$$;
CREATE FUNCTION texts.counter(name text, unit text, sizes numeric[], prints text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT format(E'  %s: { samples: %s, unit: %s, min: %s, max: %s, sum: %s%s%s }\n', name, count(*), unit,
    coalesce(min(size), 0), coalesce(max(size), 0), coalesce(sum(size), 0),
    CASE WHEN prints <> 'sums' THEN ', sumsq: ' || coalesce(sum(size * size), 0) END,
    CASE WHEN prints = 'hist' AND unit = 'bytes' THEN
        (SELECT ', hist: { ' || coalesce(string_agg(format('%s: %s', label, n), ', ') || ' ', '') || '}'
        FROM (SELECT texts.label(s) AS label, count(*) AS n FROM unnest(sizes) AS s GROUP BY 1) AS bucket)
    END)
FROM unnest(sizes) AS size
$$;
CREATE FUNCTION texts.calls(prints text, id text, start timestamptz, reads numeric[], writes numeric[]) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
SELECT format(E'- job_id: %s\n  snapshot_time: %s.000000000 secs.nsecs\n', id, extract(epoch FROM start)::bigint + 1)
    || CASE WHEN prints <> 'sums' THEN format(E'  start_time: %s.000000000 secs.nsecs\n', extract(epoch FROM start)::bigint) ELSE '' END
    || texts.counter('read_bytes', 'bytes', reads, prints) || texts.counter('write_bytes', 'bytes', writes, prints)
    || CASE WHEN prints <> 'sums' THEN texts.counter('read', 'usecs', ARRAY(SELECT 100 FROM unnest(reads)), prints)
        || texts.counter('write', 'usecs', ARRAY(SELECT 100 FROM unnest(writes)), prints) ELSE '' END
$$;
