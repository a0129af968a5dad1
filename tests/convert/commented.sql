-- After a conversion, before setup could restore them: converted objects have their comments.
DO $$
BEGIN
    ASSERT NOT EXISTS (
        SELECT FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
            AND (obj_description(c.oid, 'pg_class') IS NULL OR col_description(c.oid, a.attnum) IS NULL)), 'comments are lost';
END
$$;
