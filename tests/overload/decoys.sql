-- Makes every database that is copied from this one a trap: as soon as the extension is created, each of its functions gets decoys, one for
-- each argument, which takes text there. PostgreSQL prefers such a decoy where a caller gives that argument as a literal without a type. A
-- decoy that jobstats itself calls logs an error and fails; one that a test calls passes the call on.
CREATE SCHEMA overload;

-- Functions of jobstats pin their search_path. A C function without one runs its statements directly below the top-level statement.
CREATE FUNCTION overload.spring(decoy text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    context text;
BEGIN
    GET DIAGNOSTICS context = PG_CONTEXT;
    -- The first two lines are this function and the decoy.
    context := substring(context FROM E'^[^\n]*\n[^\n]*\n(.*)$');
    IF replace(current_setting('search_path'), ' ', '') = 'pg_catalog,pg_temp'
        OR context LIKE 'SQL statement%' AND context !~ E'(^|\n)(PL/pgSQL|SQL) function'
    THEN
        RAISE LOG 'decoy called: %, by %', decoy, context;
        RAISE 'decoy called: %', decoy;
    END IF;
END
$$;

CREATE FUNCTION overload.make_decoys() RETURNS void LANGUAGE plpgsql AS $make$
DECLARE
    it record;
    statement text;
BEGIN
    FOR it IN
        SELECT p.oid, n AS decoyed, format('%s.%I', p.pronamespace::regnamespace, p.proname) AS name, p.prokind,
            pg_get_function_result(p.oid) AS result, p.proargnames AS names, (p.proargtypes::oid[])::regtype[] AS types,
            p.pronargs - p.pronargdefaults AS required
        FROM pg_proc p
        JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
        JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'jobstats'
        CROSS JOIN generate_series(1, p.pronargs) n
        WHERE p.prokind IN ('f', 'p') AND p.proargtypes[n - 1] <> 'text'::regtype
            AND NOT (p.proargtypes::oid[] || p.prorettype) && ARRAY['internal'::regtype::oid, 'cstring'::regtype::oid]
        ORDER BY p.oid, n
    LOOP
        SELECT format('CREATE %s %s(%s) %s AS $$ %s $$',
            CASE it.prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END, it.name,
            -- The decoyed argument and all earlier ones may have no default then.
            string_agg(concat_ws(' ', quote_ident(nullif(it.names[i], '')), CASE i WHEN it.decoyed THEN 'text' ELSE it.types[i - 1]::text END,
                CASE WHEN i > it.decoyed AND i > it.required THEN 'DEFAULT NULL' END), ', ' ORDER BY i),
            CASE it.prokind WHEN 'p' THEN 'LANGUAGE plpgsql' ELSE format('RETURNS %s LANGUAGE sql', it.result) END,
            format(CASE it.prokind WHEN 'p' THEN 'BEGIN PERFORM overload.spring(%1$L); CALL %2$s(%3$s); END'
                    ELSE 'SELECT overload.spring(%1$L); SELECT * FROM %2$s(%3$s)' END,
                format('argument %s of %s', it.decoyed, it.oid::regprocedure), it.name,
                string_agg(format('$%s::%s', i, it.types[i - 1]), ', ' ORDER BY i)))
        INTO statement FROM generate_series(1, cardinality(it.types)) i;
        BEGIN
            EXECUTE statement;
        EXCEPTION WHEN duplicate_function THEN
            -- Two functions of one name differ in this argument alone.
            CONTINUE;
        END;
    END LOOP;
END
$make$;

CREATE FUNCTION overload.on_create_extension() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() c WHERE c.object_type = 'extension' AND c.object_identity = 'jobstats') THEN
        PERFORM overload.make_decoys();
    END IF;
END
$$;
CREATE EVENT TRIGGER overload ON ddl_command_end WHEN TAG IN ('CREATE EXTENSION') EXECUTE FUNCTION overload.on_create_extension();
