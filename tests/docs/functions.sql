-- Functions for users, each with the first sentence of its comment, the names of its arguments and columns, and its columns with their types. A comment that begins so makes
-- others internal; operators and types have their own pages.
CREATE EXTENSION jobstats;
SELECT p.proname, (array_agg(split_part(obj_description(p.oid, 'pg_proc'), '. ', 1) ORDER BY p.oid))[1], string_agg(DISTINCT a.name, ' '),
    replace(string_agg(format('%s %s', a.name, format_type(p.proallargtypes[a.n], NULL)), ', ' ORDER BY a.n) FILTER (WHERE p.proargmodes[a.n] = 't'),
        'timestamp with time zone', 'timestamptz')
FROM pg_proc p
JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'jobstats'
LEFT JOIN LATERAL unnest(p.proargnames) WITH ORDINALITY a (name, n) ON true
WHERE coalesce(obj_description(p.oid, 'pg_proc'), '') NOT LIKE 'Internal%'
    -- Of functions of one name and other arguments, the first.
    AND NOT EXISTS (SELECT FROM pg_proc o WHERE o.proname = p.proname AND o.pronamespace = p.pronamespace AND o.oid < p.oid AND o.proargmodes IS NOT NULL)
GROUP BY p.proname
ORDER BY p.proname;
