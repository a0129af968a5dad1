-- Prints the catalog's description of the extension and its store, a line each, to compare two databases. Leaves out partitions, which
-- depend on the day, and numbers in TimescaleDB's generated names.
\pset format unaligned
\pset tuples_only on
SET search_path = pg_catalog;

SELECT format('extension %s %s', extname, extversion) FROM pg_extension ORDER BY extname COLLATE "C";

CREATE TEMPORARY VIEW ours AS
SELECT d.classid, d.objid, 0 AS objsubid, 'member' AS belongs
FROM pg_depend d
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
    AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'jobstats')
UNION ALL
SELECT 'pg_namespace'::regclass, oid, 0, 'store' FROM pg_namespace WHERE nspname = 'jobstats'
UNION ALL
SELECT 'pg_class'::regclass, oid, 0, 'store' FROM pg_class
WHERE relnamespace = to_regnamespace('jobstats') AND NOT relispartition AND relkind <> 'i' AND relkind <> 'I'
UNION ALL
SELECT 'pg_proc'::regclass, oid, 0, 'store' FROM pg_proc WHERE pronamespace = to_regnamespace('jobstats');

-- What there is, with its description.
SELECT format('%s %s %s', o.belongs, i.type || ' ' || i.identity, obj_description(o.objid, o.classid::regclass::name))
FROM ours o, pg_identify_object(o.classid, o.objid, 0) i
ORDER BY 1;

CREATE TEMPORARY VIEW rights AS
SELECT classid, objid, string_agg(format('%s:%s%s', r.grantee, r.privilege_type, CASE WHEN r.is_grantable THEN '*' END), ' '
    ORDER BY r.grantee COLLATE "C", r.privilege_type) AS rights
FROM (
    SELECT o.classid, o.objid, coalesce(g.rolname, 'PUBLIC') AS grantee, a.privilege_type, a.is_grantable
    FROM ours o
    CROSS JOIN LATERAL (
        SELECT coalesce(proacl, acldefault('f', proowner)) FROM pg_proc WHERE o.classid = 'pg_proc'::regclass AND oid = o.objid
        UNION ALL
        SELECT coalesce(relacl, acldefault((CASE relkind WHEN 'S' THEN 's' ELSE 'r' END)::"char", relowner)) FROM pg_class
        WHERE o.classid = 'pg_class'::regclass AND oid = o.objid
        UNION ALL
        SELECT coalesce(nspacl, acldefault('n', nspowner)) FROM pg_namespace WHERE o.classid = 'pg_namespace'::regclass AND oid = o.objid
    ) acl (list)
    CROSS JOIN LATERAL aclexplode(acl.list) a
    LEFT JOIN pg_authid g ON g.oid = a.grantee
) r
GROUP BY classid, objid;
SELECT format('rights %s %s', pg_describe_object(classid, objid, 0), rights) FROM rights ORDER BY 1;
SELECT format('default rights %s %s', pg_get_userbyid(d.defaclrole), (
    SELECT string_agg(format('%s:%s', a.grantee::regrole, a.privilege_type), ' ' ORDER BY a.grantee::regrole::text COLLATE "C", a.privilege_type) FROM aclexplode(d.defaclacl) a))
FROM pg_default_acl d WHERE d.defaclnamespace = to_regnamespace('jobstats') ORDER BY 1;

-- The definitions of functions, and the parts of aggregates and operators.
SELECT pg_get_functiondef(p.oid)
FROM ours o JOIN pg_proc p ON o.classid = 'pg_proc'::regclass AND p.oid = o.objid
WHERE p.prokind <> 'a' ORDER BY p.oid::regprocedure::text COLLATE "C";
SELECT format('aggregate %s %s', a.aggfnoid::regprocedure, to_jsonb(a) - 'aggfnoid' - 'aggtranstype' || jsonb_build_object(
    'type', a.aggtranstype::regtype, 'volatile', p.provolatile, 'parallel', p.proparallel))
FROM ours o JOIN pg_aggregate a ON o.classid = 'pg_proc'::regclass AND a.aggfnoid = o.objid JOIN pg_proc p ON p.oid = o.objid
ORDER BY 1;
SELECT format('type %s %s %s %s %s', t.oid::regtype, t.typlen, t.typstorage, t.typinput, t.typsend)
FROM ours o JOIN pg_type t ON o.classid = 'pg_type'::regclass AND t.oid = o.objid ORDER BY 1;
SELECT format('operator %s %s %s %s %s %s', p.oid::regoperator, p.oprcode, p.oprcom::regoperator, p.oprnegate::regoperator,
    p.oprrest, p.oprcanhash)
FROM ours o JOIN pg_operator p ON o.classid = 'pg_operator'::regclass AND p.oid = o.objid ORDER BY 1;

-- Relations of the store.
SELECT format('relation %s %s %s %s', c.oid::regclass, c.relkind, pg_get_userbyid(c.relowner), pg_get_partkeydef(c.oid))
FROM pg_class c WHERE c.relnamespace = to_regnamespace('jobstats') AND NOT c.relispartition AND c.relkind NOT IN ('i', 'I')
ORDER BY 1;
SELECT format('column %s.%s %s %s default %s identity %s storage %s %s: %s', c.oid::regclass, a.attname,
    format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN 'not null' END, pg_get_expr(d.adbin, d.adrelid),
    a.attidentity, a.attstorage, a.attcompression, col_description(c.oid, a.attnum))
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relnamespace = to_regnamespace('jobstats') AND NOT c.relispartition AND c.relkind IN ('r', 'p', 'v', 'm')
ORDER BY 1;
SELECT format('constraint %s %s %s', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid))
FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid
WHERE r.relnamespace = to_regnamespace('jobstats') AND NOT r.relispartition ORDER BY 1;
SELECT pg_get_indexdef(i.indexrelid)
FROM pg_index i JOIN pg_class r ON r.oid = i.indrelid
WHERE r.relnamespace = to_regnamespace('jobstats') AND NOT r.relispartition ORDER BY 1;
SELECT pg_get_triggerdef(t.oid)
FROM pg_trigger t JOIN pg_class r ON r.oid = t.tgrelid
WHERE r.relnamespace = to_regnamespace('jobstats') AND NOT r.relispartition AND NOT t.tgisinternal ORDER BY 1;
SELECT format(E'view %s\n%s', c.oid::regclass, pg_get_viewdef(c.oid))
FROM pg_class c WHERE c.relnamespace = to_regnamespace('jobstats') AND c.relkind = 'v' ORDER BY c.oid::regclass::text COLLATE "C";

-- What TimescaleDB keeps of them.
SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb') AS timescale \gset
\if :timescale
SELECT format('hypertable %s in columns %s', hypertable_name, compression_enabled)
FROM timescaledb_information.hypertables WHERE hypertable_schema = 'jobstats' ORDER BY 1;
SELECT format('dimension %s %s %s', hypertable_name, column_name, time_interval)
FROM timescaledb_information.dimensions WHERE hypertable_schema = 'jobstats' ORDER BY 1;
\endif
