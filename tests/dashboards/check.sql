-- A dashboard, :dashboard, is one that Grafana can show, and every query in it runs with the rights of :reader and answers
-- something. Queries are put together as Grafana does; a macro or variable that Grafana would not know stays, and fails.
\set VERBOSITY terse
CREATE SCHEMA checking;
SET search_path = public, checking;
CREATE TABLE checking.dashboard AS SELECT :'dashboard'::jsonb AS content;

CREATE VIEW checking.panels AS
SELECT (p ->> 'id')::integer AS id, p ->> 'title' AS title, p AS panel,
    (p #>> '{gridPos,x}')::integer AS x, (p #>> '{gridPos,y}')::integer AS y,
    (p #>> '{gridPos,w}')::integer AS w, (p #>> '{gridPos,h}')::integer AS h
FROM checking.dashboard, jsonb_array_elements(content -> 'panels') p;

-- Panels whose types Grafana has dropped or is dropping are not among these.
CREATE VIEW checking.faults AS
SELECT format('panel %s has an id that is not its own', title) AS fault
FROM panels WHERE id IS NULL OR id IN (SELECT id FROM panels GROUP BY id HAVING count(*) > 1)
UNION ALL SELECT format('panel %s lies outside of the grid', title)
FROM panels WHERE (x >= 0 AND y >= 0 AND w > 0 AND h > 0 AND x + w <= 24) IS NOT TRUE
UNION ALL SELECT format('panels %s and %s overlap', a.title, b.title)
FROM panels a JOIN panels b ON a.id < b.id AND a.x < b.x + b.w AND b.x < a.x + a.w AND a.y < b.y + b.h AND b.y < a.y + a.h
UNION ALL SELECT format('panel %s has no query', title)
FROM panels WHERE NOT jsonb_path_exists(panel, '$.targets[*] ? (@.rawSql like_regex "\\S" && (@.format == "table" || @.format == "time_series"))')
UNION ALL SELECT format('panel %s has no title or no unit', title)
FROM panels WHERE coalesce(title, '') = '' OR NOT jsonb_path_exists(panel, '$.fieldConfig.**.unit') AND NOT jsonb_path_exists(panel, '$.fieldConfig.**.id ? (@ == "unit")') AND panel ->> 'type' <> 'heatmap'
UNION ALL SELECT format('panel %s is a %s', title, panel ->> 'type')
FROM panels WHERE (panel ->> 'type' IN ('barchart', 'bargauge', 'gauge', 'heatmap', 'histogram', 'stat', 'table', 'timeseries')) IS NOT TRUE
UNION ALL SELECT format('it has no %s', key)
FROM dashboard, unnest('{uid,title,schemaVersion,panels,templating}'::text[]) key WHERE content -> key IS NULL
UNION ALL SELECT 'it has the id of one installation' FROM dashboard WHERE content ->> 'id' IS NOT NULL
UNION ALL SELECT format('it names the data source %s', uid)
FROM dashboard, jsonb_path_query(content, '$.**.datasource') source, LATERAL (SELECT source #>> '{uid}' AS uid) s
WHERE source <> '{"uid": "${datasource}", "type": "grafana-postgresql-datasource"}';

-- In the order in which they may refer to each other.
CREATE VIEW checking.variables AS
SELECT v ->> 'name' AS name, v ->> 'type' AS type, v ->> 'query' AS query, v ->> 'allValue' AS all_value,
    coalesce((v ->> 'multi')::boolean, false) AS multi, position
FROM checking.dashboard, jsonb_array_elements(content #> '{templating,list}') WITH ORDINALITY AS l (v, position);

-- As Grafana fills in a query. The value of a variable is what ${variable:sqlstring} becomes: quoted, but for "All".
CREATE FUNCTION checking.filled(template text, chosen jsonb, hours numeric) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    name text;
    filled text := template;
BEGIN
    filled := replace(filled, '$__timeFrom()', quote_literal(to_char(now() AT TIME ZONE 'UTC' - hours * interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')));
    filled := replace(filled, '$__timeTo()', quote_literal(to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')));
    filled := regexp_replace(filled, '\$__interval\M', '5m', 'g');
    FOR name IN SELECT jsonb_object_keys(chosen) LOOP
        filled := replace(filled, format('${%s:sqlstring}', name), chosen ->> name);
    END LOOP;
    IF filled ~ '\$' THEN
        RAISE EXCEPTION 'not replaced: %', substring(filled FROM '\$.{0,30}');
    END IF;
    RETURN filled;
END
$$;

-- What variables become if all is chosen, or each option by name and the user and job that kept the servers busiest.
CREATE FUNCTION checking.chosen(round text, hours numeric) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v record;
    chosen jsonb := '{}';
    options text[];
BEGIN
    FOR v IN SELECT * FROM variables WHERE type <> 'datasource' ORDER BY position LOOP
        IF v.type = 'query' THEN
            EXECUTE format('SELECT array_agg(coalesce(to_jsonb(q) ->> ''__value'', to_jsonb(q) ->> %L)) FROM (%s) q',
                substring(v.query FROM 'SELECT (?:DISTINCT )?(\w+)'), filled(v.query, chosen, hours)) INTO options;
            IF coalesce(array_position(options, NULL), 0) > 0 OR options IS NULL THEN
                RAISE EXCEPTION 'variable % has no options, or one without a value', v.name;
            END IF;
        ELSIF v.type <> 'textbox' THEN
            RAISE EXCEPTION 'variable % is a %', v.name, v.type;
        END IF;
        chosen := chosen || jsonb_build_object(v.name, CASE
            WHEN v.type = 'textbox' AND round = 'odd' THEN quote_literal('o''b_%ien')
            WHEN v.type = 'textbox' AND round = 'all' THEN quote_literal('')
            WHEN round <> 'named' THEN v.all_value
            WHEN v.multi THEN (SELECT string_agg(quote_literal(o), ',') FROM unnest(options) o)
            ELSE (SELECT quote_literal(to_jsonb(t) ->> b.column) FROM (SELECT CASE v.name WHEN 'user' THEN 'uid' ELSE v.name END) b ("column"),
                LATERAL jobstats_top(since => now() - hours * interval '1 hour', "by" => '{uid,job}', n => 1, job => '{%}', uid => ARRAY(SELECT e.uid FROM jobstats.entries e)) t)
        END);
    END LOOP;
    RETURN chosen;
END
$$;

CREATE FUNCTION checking.check_queries(hours numeric) RETURNS TABLE (answered text) LANGUAGE plpgsql AS $$
DECLARE
    round text;
    choice jsonb;
    p record;
    columns text[];
    missing text;
    answers bigint;
BEGIN
    FOREACH round IN ARRAY '{all,odd,named}'::text[] LOOP
        choice := chosen(round, hours);
        FOR p IN SELECT id, title, panel, t ->> 'rawSql' AS query, t ->> 'format' AS format
            FROM panels, jsonb_array_elements(panel -> 'targets') t ORDER BY id
        LOOP
            BEGIN
                EXECUTE 'CREATE TEMP VIEW answer AS ' || filled(p.query, choice, hours);
                SELECT array_agg(a.attname || ' ' || format_type(a.atttypid, NULL) ORDER BY a.attnum) INTO columns
                FROM pg_attribute a WHERE a.attrelid = 'pg_temp.answer'::regclass AND a.attnum > 0;
                EXECUTE 'SELECT count(*) FROM pg_temp.answer' INTO answers;
                DROP VIEW pg_temp.answer;
            EXCEPTION WHEN OTHERS THEN
                RAISE EXCEPTION 'panel "%", %: %', p.title, round, SQLERRM;
            END;
            IF round = 'named' AND answers = 0 THEN
                RAISE EXCEPTION 'panel "%" has no rows for %', p.title, choice;
            END IF;
            IF p.format = 'time_series' AND array_to_string(columns, ',')
                !~ '^time timestamp with time zone,metric text,value (double precision|bigint|numeric)$'
            THEN
                RAISE EXCEPTION 'panel "%" has no time series: %', p.title, columns;
            END IF;
            SELECT o #>> '{}' INTO missing FROM jsonb_path_query(p.panel, '$.fieldConfig.overrides[*].matcher ? (@.id == "byName").options') o
            WHERE p.format = 'table' AND NOT EXISTS (SELECT FROM unnest(columns) c WHERE starts_with(c, (o #>> '{}') || ' '));
            IF FOUND THEN
                RAISE EXCEPTION 'panel "%" formats "%", which its query does not give', p.title, missing;
            END IF;
            answered := format('%s, %s: %s rows', p.title, round, answers);
            RETURN NEXT;
        END LOOP;
    END LOOP;
END
$$;

DO $$ DECLARE found text; BEGIN
    SELECT string_agg(fault, '; ') INTO found FROM checking.faults;
    IF found IS NOT NULL THEN
        RAISE EXCEPTION 'the dashboard cannot be shown: %', found;
    END IF;
END $$;

GRANT USAGE ON SCHEMA checking TO :"reader";
GRANT SELECT ON ALL TABLES IN SCHEMA checking TO :"reader";
SET ROLE :"reader";
SELECT answered FROM checking.check_queries(6);
