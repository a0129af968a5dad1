-- Functions for users, each with the names of its arguments and columns. A comment that begins so makes others internal;
-- operators and types have their own pages.
CREATE EXTENSION jobstats;
SELECT p.proname, string_agg(DISTINCT a.name, ' ')
FROM pg_proc p
JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'jobstats'
LEFT JOIN LATERAL unnest(p.proargnames) a (name) ON true
WHERE coalesce(obj_description(p.oid, 'pg_proc'), '') NOT LIKE 'Internal%'
GROUP BY p.proname
ORDER BY p.proname;
