-- Checks that Grafana can show a dashboard, :dashboard, and that every query of the dashboard runs with the privileges of :reader: over an
-- hour, a day and a month, for all data, for each file system, for a link without a user, for a link with a job as users type it, for one
-- account, for one user, and with filters that match no row. Queries are assembled as in Grafana. Unknown macros and variables stay and
-- fail; so does $__interval, whose multiples do not match rollups.
\set VERBOSITY terse
CREATE SCHEMA checking;
SET search_path = public, checking;
CREATE TABLE checking.dashboard AS SELECT :'dashboard'::jsonb AS content;

-- In the order in which they may refer to each other.
CREATE VIEW checking.variables AS
SELECT v ->> 'name' AS name, v ->> 'type' AS type, v ->> 'query' AS query, v ->> 'allValue' AS all_value,
    coalesce((v ->> 'multi')::boolean, false) AS multi, coalesce((v ->> 'refresh')::integer = 2, false) AS follows_range, position,
    ARRAY(SELECT jsonb_array_elements_text(v #> '{current,value}') WHERE jsonb_typeof(v #> '{current,value}') = 'array') AS by_default
FROM checking.dashboard, jsonb_array_elements(content #> '{templating,list}') WITH ORDINALITY AS l (v, position);

CREATE VIEW checking.panels AS
SELECT (p ->> 'id')::integer AS id, p ->> 'title' AS title, p AS panel, p ->> 'type' = 'row' AS is_row,
    (p #>> '{gridPos,x}')::integer AS x, (p #>> '{gridPos,y}')::integer AS y,
    (p #>> '{gridPos,w}')::integer AS w, (p #>> '{gridPos,h}')::integer AS h
FROM checking.dashboard, LATERAL (
    SELECT jsonb_path_query(content, '$.panels[*]')
    -- Panels of a row that is closed at first are in the row.
    UNION ALL SELECT jsonb_path_query(content, '$.panels[*].panels[*]')
) panels (p);

-- All queries: panels, and annotations, whose query runs for all panels.
CREATE VIEW checking.questions AS
SELECT id, title, panel FROM checking.panels WHERE NOT is_row
UNION ALL SELECT -position, a ->> 'name', a || jsonb_build_object('targets', jsonb_build_array(a -> 'target'))
FROM checking.dashboard, jsonb_array_elements(content #> '{annotations,list}') WITH ORDINALITY AS l (a, position);

-- Panels whose types Grafana has dropped or is dropping are not among these.
CREATE VIEW checking.faults AS
SELECT format('panel %s has an id that is not its own', title) AS fault
FROM panels WHERE id IS NULL OR id IN (SELECT id FROM panels GROUP BY id HAVING count(*) > 1)
UNION ALL SELECT format('panel %s lies outside of the grid', title)
FROM panels WHERE (x >= 0 AND y >= 0 AND w > 0 AND h > 0 AND x + w <= 24) IS NOT TRUE
UNION ALL SELECT format('panels %s and %s overlap', a.title, b.title)
FROM panels a JOIN panels b ON a.id < b.id AND a.x < b.x + b.w AND b.x < a.x + a.w AND a.y < b.y + b.h AND b.y < a.y + a.h
UNION ALL SELECT format('panel %s has no query', title)
FROM panels WHERE NOT is_row AND NOT jsonb_path_exists(panel, '$.targets[*] ? (@.rawSql like_regex "\\S" && (@.format == "table" || @.format == "time_series"))')
UNION ALL SELECT format('panel %s has no title or no unit', title)
FROM panels WHERE coalesce(title, '') = ''
    OR NOT is_row AND NOT jsonb_path_exists(panel, '$.fieldConfig.**.unit') AND NOT jsonb_path_exists(panel, '$.fieldConfig.**.id ? (@ == "unit")') AND panel ->> 'type' <> 'heatmap'
UNION ALL SELECT format('panel %s is a %s', title, panel ->> 'type')
FROM panels WHERE (is_row OR panel ->> 'type' IN ('barchart', 'bargauge', 'gauge', 'heatmap', 'histogram', 'stat', 'table', 'timeseries')) IS NOT TRUE
UNION ALL SELECT format('panel %s is repeated for %s, which has one value', title, panel ->> 'repeat')
FROM panels WHERE panel ? 'repeat' AND panel ->> 'repeat' NOT IN (SELECT name FROM variables WHERE multi)
UNION ALL SELECT format('panel %s shows the status silent in %s', title, colour)
FROM panels, LATERAL (
    SELECT jsonb_path_query(panel, '$.fieldConfig.overrides[*].properties[*].value[*].options.silent.color') #>> '{}'
    UNION ALL SELECT jsonb_path_query(panel, '$.fieldConfig.overrides[*] ? (@.matcher.options == "silent").properties[*].value.steps[last].color') #>> '{}'
) c (colour) WHERE colour <> 'red'
UNION ALL SELECT format('it has no %s', key)
FROM dashboard, unnest('{uid,title,schemaVersion,panels,templating}'::text[]) key WHERE content -> key IS NULL
UNION ALL SELECT format('panel %s leaves out the filter', title)
FROM panels, jsonb_array_elements(panel -> 'targets') t
WHERE t ->> 'rawSql' ~ 'jobstats_(balance|baseline|changes|densities|findings|io_sizes|job_usage|jobs|now|queues|rates|summary|targets|top|totals|untracked)\('
    AND strpos(t ->> 'rawSql', 'E${filter:sqlstring}') = 0
UNION ALL SELECT 'the filter is not hidden' FROM dashboard
WHERE NOT jsonb_path_exists(content, '$.templating.list[*] ? (@.name == "filter" && @.hide == 2)')
UNION ALL SELECT format('the filter leaves out the variable %s', v.name)
FROM variables v, variables f
WHERE f.name = 'filter' AND v.name NOT IN ('datasource', 'filter', 'operation', 'rank', 'step') AND strpos(f.query, format('${%s:sqlstring}', v.name)) = 0
UNION ALL SELECT 'it shows no events' FROM dashboard
WHERE NOT jsonb_path_exists(content, '$.annotations.list[*] ? (@.enable == true && @.target.rawSql like_regex "jobstats_events[(]")')
    AND EXISTS (SELECT FROM variables WHERE name = 'filesystem')
UNION ALL SELECT 'it has the id of one installation' FROM dashboard WHERE content ->> 'id' IS NOT NULL
UNION ALL SELECT format('it names the data source %s', uid)
FROM dashboard, jsonb_path_query(content, '$.**.datasource') source, LATERAL (SELECT source #>> '{uid}' AS uid) s
WHERE source <> '{"uid": "${datasource}", "type": "grafana-postgresql-datasource"}';

CREATE TABLE checking.rounds (number integer PRIMARY KEY, round text NOT NULL);
INSERT INTO checking.rounds VALUES
    (0, 'everything'), (1, 'all by name'), (2, 'no user'), (3, 'first file system'), (4, 'second file system'),
    (5, 'no cluster'), (6, 'no filesystem'), (7, 'no kind'), (8, 'no target'), (9, 'link'), (10, 'no account'), (11, 'one account'), (12, 'one user');

-- An account whose name is a pattern, and would end a text.
CREATE FUNCTION checking.hostile_account() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'o''b\*_%ien' $$;

-- The same as a value of the variable, which is a filter.
CREATE FUNCTION checking.hostile_filter() RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT regexp_replace(hostile_account(), '(\\*)\*', '\1\1\\*', 'g') $$;

CREATE FUNCTION checking.shown_from(hours numeric) RETURNS timestamptz LANGUAGE sql STABLE AS
$$ SELECT now() - hours * interval '1 hour' $$;

-- As Grafana fills in a query. The value of a variable is what ${variable:sqlstring} becomes: quoted, but for "All".
CREATE FUNCTION checking.filled(template text, chosen jsonb, hours numeric) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    name text;
    filled text := template;
BEGIN
    filled := replace(filled, '$__timeFrom()', quote_literal(to_char(shown_from(hours) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')));
    filled := replace(filled, '$__timeTo()', quote_literal(to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')));
    FOR name IN SELECT jsonb_object_keys(chosen) LOOP
        filled := replace(filled, format('${%s:sqlstring}', name), chosen ->> name);
    END LOOP;
    IF filled ~ '\$' THEN
        RAISE EXCEPTION 'not replaced: %', substring(filled FROM '\$.{0,30}');
    END IF;
    RETURN filled;
END
$$;

-- What ${variable:sqlstring} makes of a value: it doubles quotes, writes a backslash before quotation marks, and leaves backslashes.
CREATE FUNCTION checking.quoted(value text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT '''' || replace(replace(value, '''', ''''''), '"', '\"') || '''' $$;

-- The values that Grafana offers for a variable.
CREATE FUNCTION checking.options(v variables, chosen jsonb, hours numeric) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    options text[];
BEGIN
    IF v.type = 'custom' THEN
        RETURN ARRAY(SELECT regexp_replace(o, '^.* : ', '') FROM regexp_split_to_table(v.query, ', ') o);
    ELSIF v.type <> 'query' THEN
        RAISE EXCEPTION 'variable % is a %', v.name, v.type;
    ELSIF v.query ~ '\$__time' AND NOT v.follows_range THEN
        RAISE EXCEPTION 'variable % is not read again when the time range changes', v.name;
    END IF;
    EXECUTE format('SELECT array_agg(coalesce(to_jsonb(q) ->> ''__value'', to_jsonb(q) ->> %L)) FROM (%s) q',
        substring(v.query FROM 'SELECT (?:DISTINCT )?(\w+)'), filled(v.query, chosen, hours)) INTO options;
    RETURN options;
END
$$;

-- A reader with access to their own jobs only may read no tables.
CREATE TABLE checking.known AS SELECT t.filesystem, t.name FROM jobstats.targets t;
CREATE TABLE checking.widths AS SELECT extract(epoch FROM r.width)::bigint AS seconds FROM jobstats.rollups r;

-- Panels of now and of a month must both show the user that is chosen.
CREATE TABLE checking.at_work AS SELECT DISTINCT (n.labels ->> 'uid')::bigint AS uid FROM jobstats_now(n => 1000) n WHERE n.labels ->> 'uid' IS NOT NULL;

-- The user or the job that kept the servers busiest, of those who are at work, and of the jobs that every panel can show.
CREATE FUNCTION checking.busiest("column" text, hours numeric) RETURNS text LANGUAGE sql STABLE AS $$
SELECT t.labels ->> "column"
FROM jobstats_totals(since => shown_from(hours), operations => 'service_time,metadata,bytes', by => 'uid,job',
    filter => jsonb_build_object('uid', ARRAY(SELECT w.uid FROM at_work w)), exclude => 'job=') t
GROUP BY t.labels
ORDER BY count(*) FILTER (WHERE t.total > 0) DESC, max(t.total) FILTER (WHERE t.operation = 'service_time') DESC NULLS LAST, t.labels
LIMIT 1
$$;

-- What variables become in a round.
CREATE FUNCTION checking.chosen(r rounds, hours numeric) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v variables;
    chosen jsonb := '{}';
    options text[];
    value text;
BEGIN
    FOR v IN SELECT * FROM variables WHERE type <> 'datasource' ORDER BY position LOOP
        IF v.type = 'textbox' THEN
            value := quote_literal(CASE r.round WHEN 'everything' THEN '' WHEN 'no user' THEN 'o''b_%ien'
                WHEN 'link' THEN (SELECT k.job FROM jobstats_jobs('-infinity', n => 1, filter => jsonb_build_object('job', busiest(v.name, hours))) k) ELSE busiest(v.name, hours) END);
        ELSE
            options := options(v, chosen, hours);
            IF r.number NOT BETWEEN 5 AND 8 AND (options IS NULL OR array_position(options, NULL) > 0) THEN
                RAISE EXCEPTION 'variable % has no options, or one without a value', v.name;
            END IF;
            value := CASE
                WHEN v.name = 'filter' THEN quoted(options[1])
                WHEN r.round = 'no user' AND v.name = 'user' THEN quote_literal('')
                WHEN r.round = 'one user' AND v.name = 'user' THEN quote_literal(busiest('uid', hours))
                WHEN r.round = 'one account' AND v.name = 'account' THEN quoted(hostile_filter())
                WHEN r.round = 'no ' || v.name THEN quote_literal('none')
                WHEN v.type = 'custom' THEN quote_literal(options[1 + r.number % cardinality(options)])
                WHEN cardinality(v.by_default) > 1 THEN quote_literal(v.by_default[1 + r.number % cardinality(v.by_default)])
                WHEN v.name = 'filesystem' AND r.round = 'first file system' THEN quote_literal(options[1])
                WHEN v.name = 'filesystem' AND r.round = 'second file system' THEN quote_literal(options[2])
                WHEN r.round = 'all by name' AND v.multi THEN (SELECT string_agg(quoted(o), ',') FROM unnest(options) o)
                WHEN r.round = 'all by name' AND v.all_value IS NOT NULL THEN quote_literal(busiest('uid', hours))
                ELSE coalesce(v.all_value, quote_literal(options[1]))
            END;
        END IF;
        IF value IS NULL THEN
            RAISE EXCEPTION 'nothing can be chosen for variable %', v.name;
        END IF;
        chosen := chosen || jsonb_build_object(v.name, value);
    END LOOP;
    RETURN chosen;
END
$$;

-- Steps begin at multiples of their width, the first one at most a width before the time range. From a day on, the width is
-- a multiple of a rollup's.
CREATE FUNCTION checking.step_fault(step interval, hours numeric) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF hours >= 24 AND NOT EXISTS (SELECT FROM widths w WHERE extract(epoch FROM step)::bigint % w.seconds = 0) THEN
        RETURN format('has steps of %s, for which there is no rollup', step);
    ELSIF hours * interval '1 hour' / 400 > step THEN
        RETURN format('has steps of %s, too many to be seen', step);
    END IF;
    RETURN (SELECT format('has a step that begins at %s', min(a."time")) FROM pg_temp.answer a
        WHERE a."time" <> date_bin(step, a."time", 'epoch') OR a."time" <= shown_from(hours) - step HAVING count(*) > 0);
END
$$;

-- A curve without a row for a step continues at the previous rate. So each has a row for each step of the window, or the panel explains
-- missing rows, and other curves have rows then, because otherwise there is no gap.
CREATE FUNCTION checking.idle_fault(panel jsonb, step interval, steps timestamptz[]) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    fault text;
BEGIN
    IF panel ->> 'type' = 'heatmap' THEN
        RETURN CASE WHEN panel ->> 'description' !~ 'Steps without a cell: no ' THEN 'does not say what no cell means' END;
    ELSIF panel #>> '{fieldConfig,defaults,custom,spanNulls}' IS DISTINCT FROM 'false' THEN
        RETURN 'joins curves over gaps';
    ELSIF panel ->> 'description' ~ 'The curve holds each value until the next' THEN
        RETURN NULL;
    ELSIF panel ->> 'description' ~ 'Gaps: ' THEN
        SELECT format('has no row from %s to %s', a.before, a."time") INTO fault
        FROM (SELECT "time", lag("time") OVER (ORDER BY "time") AS before FROM pg_temp.answer GROUP BY "time") a WHERE a."time" > a.before + step;
    ELSE
        SELECT format('has no row for %s at %s', m.metric, s."time") INTO fault
        FROM (SELECT DISTINCT metric FROM pg_temp.answer) m CROSS JOIN unnest(steps) s ("time")
        WHERE NOT EXISTS (SELECT FROM pg_temp.answer a WHERE a.metric = m.metric AND a."time" = s."time");
    END IF;
    RETURN fault;
END
$$;

-- Whether the filter of a panel has a variable.
CREATE FUNCTION checking.asks(variable text, panel jsonb) RETURNS boolean LANGUAGE sql STABLE AS $$
SELECT strpos(panel #>> '{targets}', '${filter:sqlstring}') > 0
    AND panel #>> '{targets}' !~ format('- ''\{[a-z,]*\m%s\M', CASE variable WHEN 'user' THEN 'uid' ELSE variable END)
    AND EXISTS (SELECT FROM checking.variables v WHERE v.name = 'filter' AND strpos(v.query, format('${%s:sqlstring}', variable)) > 0)
$$;

-- An answer with an account or user column that shows another one, or not the selected one.
CREATE FUNCTION checking.other_fault(r rounds, choice jsonb) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    "column" text := CASE r.round WHEN 'one account' THEN 'account' ELSE 'uid' END;
    chosen text := CASE r.round WHEN 'one account' THEN hostile_filter() ELSE trim('''' FROM choice ->> 'user') END;
    shown text[];
BEGIN
    IF EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = 'pg_temp.answer'::regclass AND a.attname = "column") THEN
        SELECT array_agg(DISTINCT to_jsonb(a) ->> "column") INTO shown FROM pg_temp.answer a;
        RETURN CASE WHEN shown IS DISTINCT FROM ARRAY[chosen] THEN format('shows %s and not %s', shown, chosen) END;
    END IF;
    RETURN NULL;
END
$$;

-- Lists the faults of an answer, which is in the temporary table "answer".
CREATE FUNCTION checking.answer_fault(panel jsonb, format text, r rounds, choice jsonb, hours numeric, steps timestamptz[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    columns text[];
    step interval;
    fault text;
    -- The day before a comparison has no earlier data; and currently active users may have done too little to be judged, or no more than
    -- usual. Each of these panels must have rows in some round.
    may_be_empty boolean := hours > 1 AND panel #>> '{targets}' ~ 'jobstats_changes' OR panel #>> '{targets}' ~ 'jobstats_(findings|baseline)';
BEGIN
    may_be_empty := may_be_empty AND NOT EXISTS (SELECT FROM pg_temp.answer);
    SELECT array_agg(a.attname || ' ' || format_type(a.atttypid, NULL) ORDER BY a.attnum) INTO columns
    FROM pg_attribute a WHERE a.attrelid = 'pg_temp.answer'::regclass AND a.attnum > 0;
    IF r.round IN ('all by name', 'link') AND NOT may_be_empty AND NOT EXISTS (SELECT FROM pg_temp.answer) THEN
        RETURN format('has no rows for %s', choice);
    END IF;
    -- A filter without a match leaves no row, or one of zeros and NULLs. So does a target that the account did not use.
    IF r.number BETWEEN 5 AND 8 AND EXISTS (SELECT FROM variables v WHERE v.name = substring(r.round FROM '\w+$'))
        OR r.round = 'no account' AND asks('account', panel) THEN
        SELECT format('shows %s', min(a::text)) INTO fault FROM pg_temp.answer a, jsonb_each_text(to_jsonb(a)) v
        WHERE v.value <> '0' AND NOT (r.round = 'no account' AND v.key IN ('time', 'metric', 'target')) HAVING count(*) > 0;
    ELSIF r.round IN ('one account', 'one user') AND NOT may_be_empty AND asks(substring(r.round FROM '\w+$'), panel) THEN
        fault := other_fault(r, choice);
    ELSIF r.number IN (3, 4) THEN
        SELECT format('shows %s', min(a::text)) INTO fault FROM pg_temp.answer a, known t
        WHERE quote_literal(t.filesystem) <> choice ->> 'filesystem' AND strpos(a::text, t.name) > 0 HAVING count(*) > 0;
    END IF;
    IF fault IS NULL AND format = 'time_series' THEN
        IF array_to_string(columns, ',') !~ '^time timestamp with time zone,metric text,value (double precision|bigint|numeric)$' THEN
            RETURN format('has no time series: %s', columns);
        END IF;
        step := trim($q$'$q$ FROM choice ->> 'step')::interval;
        fault := coalesce(step_fault(step, hours), idle_fault(panel, step, steps));
    ELSIF fault IS NULL AND panel ? 'iconColor' AND columns <> '{time timestamp with time zone,timeend timestamp with time zone,text text,tags text}' THEN
        RETURN format('is no annotation: %s', columns);
    ELSIF fault IS NULL THEN
        SELECT format('formats "%s", which its query does not give', min(o #>> '{}')) INTO fault
        FROM jsonb_path_query(panel, '$.fieldConfig.overrides[*].matcher ? (@.id == "byName").options') o
        WHERE NOT EXISTS (SELECT FROM unnest(columns) c WHERE starts_with(c, (o #>> '{}') || ' ')) HAVING count(*) > 0;
    END IF;
    RETURN fault;
END
$$;

-- The panels and annotations that had rows in any round.
CREATE TABLE checking.shown (id integer NOT NULL);

CREATE FUNCTION checking.check_queries(hours numeric) RETURNS TABLE (answered text) LANGUAGE plpgsql AS $$
DECLARE
    r rounds;
    choice jsonb;
    steps timestamptz[];
    p record;
    fault text;
    answers bigint;
BEGIN
    IF (SELECT count(DISTINCT filesystem) FROM known) < 2 THEN
        RAISE EXCEPTION 'two file systems are needed';
    END IF;
    -- Filters without a match are tried over a day only.
    FOR r IN SELECT * FROM rounds WHERE number < 5 OR hours = 24 ORDER BY number LOOP
        choice := chosen(r, hours);
        EXECUTE filled('SELECT array_agg(s."time") FROM jobstats_rates(since => date_bin(${step:sqlstring}, $__timeFrom(), ''epoch''), until => $__timeTo(),
            operations => ''open'', by => '''', step => ${step:sqlstring}, filter => E${filter:sqlstring}) s', choice, hours) INTO steps;
        FOR p IN SELECT id, title, panel, t ->> 'rawSql' AS query, t ->> 'format' AS format
            FROM questions, jsonb_array_elements(panel -> 'targets') t ORDER BY id
        LOOP
            BEGIN
                EXECUTE 'CREATE TEMP TABLE answer AS ' || filled(p.query, choice, hours);
                GET DIAGNOSTICS answers = ROW_COUNT;
                fault := answer_fault(p.panel, p.format, r, choice, hours, steps);
                DROP TABLE pg_temp.answer;
            EXCEPTION WHEN OTHERS THEN
                fault := SQLERRM;
            END;
            IF fault IS NOT NULL THEN
                RAISE EXCEPTION 'panel "%", % h, %: %', p.title, hours, r.round, fault;
            END IF;
            INSERT INTO shown SELECT p.id WHERE answers > 0;
            answered := format('%s, %s h, %s: %s rows', p.title, hours, r.round, answers);
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
GRANT INSERT ON checking.shown TO :"reader";
SET ROLE :"reader";
-- One transaction per range, so that now() belongs to the range.
SELECT answered FROM checking.check_queries(1);
SELECT answered FROM checking.check_queries(24);
SELECT answered FROM checking.check_queries(720);
RESET ROLE;
DO $$ DECLARE found text; BEGIN
    SELECT string_agg(title, '; ') INTO found FROM checking.questions WHERE id NOT IN (SELECT id FROM checking.shown);
    IF found IS NOT NULL THEN
        RAISE EXCEPTION 'these never had rows: %', found;
    END IF;
END $$;
SET client_min_messages = warning;
DROP SCHEMA checking CASCADE;
