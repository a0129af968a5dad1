-- The formats of the store, and how far entries are identified by them.
SELECT f.formats IS DISTINCT FROM i.formats OR i.again AS is_due, i.under_way IS NOT NULL AND i.under_way = f.formats AS is_under_way, i.after,
    EXISTS (SELECT FROM jsonb_array_elements(i.formats) AS k (format) WHERE k.format ->> 2 IS NOT NULL) AS knows_clusters
FROM jobstats.identification i
CROSS JOIN (@configured@) f
