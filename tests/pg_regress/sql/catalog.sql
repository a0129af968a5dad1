-- All that users call: names, arguments and columns do not change without a change of this file.
\set ECHO all
CREATE EXTENSION jobstats;
CREATE FUNCTION short(type oid) RETURNS text LANGUAGE sql AS $$
SELECT CASE format_type(type, NULL) WHEN 'timestamp with time zone' THEN 'timestamptz' WHEN 'double precision' THEN 'float8' ELSE format_type(type, NULL) END
$$;
CREATE VIEW called AS
SELECT p.*, obj_description(p.oid, 'pg_proc') AS comment
FROM pg_depend d
JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'jobstats'
JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND p.pronamespace = 'public'::regnamespace;

SELECT count(DISTINCT proname) <= 62 AS few, count(*) FILTER (WHERE proname NOT LIKE 'jobstats\_%') AS foreign FROM called;
SELECT proname, length(comment) FROM called WHERE comment IS NULL OR length(comment) > 300;
\pset format unaligned
\pset tuples_only on
\pset fieldsep ' '
SELECT DISTINCT concat(CASE p.prokind WHEN 'p' THEN 'CALL ' END, p.proname, '(', (
        SELECT string_agg(concat(a.name || ' ', short(a.type), d.says), ', ' ORDER BY a.number)
        FROM unnest(p.proargnames[1:p.pronargs], p.proargtypes::oid[]) WITH ORDINALITY AS a (name, type, number)
        CROSS JOIN LATERAL (SELECT CASE WHEN a.number > p.pronargs - p.pronargdefaults THEN ' …' END AS says) d
    ), ')', E'\n    → ' || CASE WHEN p.prokind <> 'p' THEN coalesce((
        SELECT string_agg(a.name || ' ' || short(a.type), ', ' ORDER BY a.number)
        FROM unnest(p.proargnames, p.proallargtypes, p.proargmodes) WITH ORDINALITY AS a (name, type, mode, number)
        WHERE a.mode = 't'), short(p.prorettype)) END) COLLATE "C"
FROM called p ORDER BY 1;
