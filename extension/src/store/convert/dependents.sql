-- Objects that depend on a relation of the store and would not survive its replacement. Views survive if the caller may
-- replace them; indexes, constraints and statistics are created again.
SELECT CASE WHEN v.oid IS NULL THEN pg_describe_object(d.classid, d.objid, 0) ELSE pg_describe_object('pg_class'::regclass, v.oid, 0) END AS dependent
FROM pg_class c
JOIN pg_depend d ON (d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid)
    -- Dependencies on the row type of the relation, and on arrays of it.
    OR (d.refclassid = 'pg_type'::regclass AND d.deptype = 'n'
        AND d.refobjid IN (SELECT unnest(ARRAY[t.oid, t.typarray]) FROM pg_type t WHERE t.oid = c.reltype))
LEFT JOIN pg_rewrite w ON d.classid = 'pg_rewrite'::regclass AND w.oid = d.objid
LEFT JOIN pg_class v ON v.oid = w.ev_class
LEFT JOIN pg_constraint k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid
LEFT JOIN pg_trigger t ON d.classid = 'pg_trigger'::regclass AND t.oid = d.objid
WHERE c.oid = to_regclass(format('jobstats.%I', $1))
    AND CASE
        WHEN d.refclassid = 'pg_type'::regclass THEN true
        WHEN v.relkind = 'v' THEN w.ev_type <> '1' OR NOT pg_has_role(current_user, v.relowner, 'USAGE')
        WHEN k.oid IS NOT NULL THEN k.contype = 'f'
        WHEN t.oid IS NOT NULL THEN NOT t.tgisinternal AND t.tgname NOT LIKE 'ts\_%'
        ELSE d.classid NOT IN ('pg_class'::regclass, 'pg_type'::regclass, 'pg_attrdef'::regclass, 'pg_statistic_ext'::regclass)
    END
UNION ALL
-- TimescaleDB makes no hypertable that is published.
SELECT format('publication %I', p.pubname) FROM pg_publication p WHERE p.puballtables
ORDER BY 1
