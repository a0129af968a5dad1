-- What of the store or of the extension was made with a decoy in it, which is called without anybody looking for it again.
SELECT pg_describe_object(d.classid, d.objid, 0), d.refobjid::regprocedure
FROM pg_depend d
JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid
WHERE p.prosrc LIKE '%overload.spring(%' AND d.deptype <> 'e' AND p.pronamespace <> to_regnamespace('overload');
