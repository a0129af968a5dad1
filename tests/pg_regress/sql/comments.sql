-- Everything that jobstats makes has a comment, and setup restores comments.
\set ECHO all
CREATE EXTENSION jobstats;
SELECT jobstats_setup() IS NOT NULL AS ready;

-- Relations and columns without a comment. Partitions have the comment of their table.
CREATE VIEW uncommented AS
SELECT c.relname AS relation, NULL AS "column"
FROM pg_class c
WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind NOT IN ('i', 'I', 'S') AND NOT c.relispartition
    AND obj_description(c.oid, 'pg_class') IS NULL
UNION ALL
SELECT c.relname, a.attname
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind NOT IN ('i', 'I', 'S') AND NOT c.relispartition
    AND col_description(c.oid, a.attnum) IS NULL;
SELECT * FROM uncommented ORDER BY 1, 2;

-- Functions of the store and members of the extension without a comment, except families that come with operator classes and arrays that
-- come with types, which are members from PostgreSQL 17 on.
SELECT p.oid::regprocedure FROM pg_proc p
WHERE p.pronamespace = 'jobstats'::regnamespace AND obj_description(p.oid, 'pg_proc') IS NULL;
SELECT pg_describe_object(d.classid, d.objid, 0) AS member
FROM pg_extension e
JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
WHERE e.extname = 'jobstats' AND obj_description(d.objid, d.classid::regclass::name) IS NULL
    AND d.classid <> 'pg_opfamily'::regclass
    AND d.objid NOT IN (SELECT t.typarray FROM pg_type t)
ORDER BY 1;

-- An operation has its unit: in tables, in views and per second.
SELECT a.attrelid::regclass AS relation, a.attname AS "column", col_description(a.attrelid, a.attnum) AS meaning
FROM pg_attribute a
WHERE a.attrelid IN ('jobstats.increments'::regclass, 'jobstats.rates'::regclass, 'jobstats.rates_1h'::regclass,
        'jobstats.rollup_1d_users'::regclass)
    AND a.attname IN ('read_bytes', 'open', 'open_usecs', 'metadata')
ORDER BY a.attrelid::regclass::text, a.attnum;

-- Setup restores removed or changed comments, and leaves other views and columns alone.
COMMENT ON TABLE jobstats.raw IS NULL;
COMMENT ON COLUMN jobstats.rates.open IS 'Nonsense.';
CREATE VIEW jobstats.mine AS SELECT 1 AS cluster;
COMMENT ON COLUMN jobstats.mine.cluster IS 'Of a user.';
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT * FROM uncommented ORDER BY 1, 2;
SELECT c.relname, col_description(a.attrelid, a.attnum) AS meaning
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE a.attrelid = 'jobstats.rates'::regclass AND a.attname = 'open' OR a.attrelid = 'jobstats.mine'::regclass
ORDER BY 1;
