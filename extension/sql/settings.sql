-- The range of each setting.

CREATE FUNCTION jobstats_internal.forever() RETURNS interval
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN interval '100 years';
COMMENT ON FUNCTION jobstats_internal.forever IS 'Internal: the retention that means for ever: 100 years, and every longer one.';

CREATE FUNCTION jobstats_internal.shown_retention(retention interval) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET intervalstyle = 'postgres'
RETURN CASE WHEN retention < interval '100 years' THEN retention::text ELSE 'for ever' END;
COMMENT ON FUNCTION jobstats_internal.shown_retention IS 'Internal: a retention as text; NULL, as of a rollup, is also for ever.';

CREATE FUNCTION jobstats_internal.kept_since(setting text) RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT now() - (to_jsonb(s) ->> setting)::interval FROM jobstats.settings s
$$;
COMMENT ON FUNCTION jobstats_internal.kept_since IS 'Internal: the time before which rows are expired by a retention of jobstats.settings.';

CREATE FUNCTION jobstats_internal.require_setting(name text, value text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET intervalstyle = 'postgres'
AS $$
DECLARE
    span record;
    number record;
    problem text;
BEGIN
    -- Maintenance subtracts a retention from now, and feeds count in microseconds. Both work with up to 1,000 years.
    SELECT s.* INTO span
    FROM (VALUES
        ('raw_retention', interval '1 microsecond', interval '1000 years', '2 days'),
        ('retention', '1 microsecond', '1000 years', '90 days'),
        ('rejects_retention', '1 microsecond', '1000 years', '14 days'),
        ('jobs_retention', '1 microsecond', '1000 years', '2 years'),
        ('personal_retention', '1 microsecond', '1000 years', '13 months'),
        ('events_retention', '1 microsecond', '1000 years', '2 years'),
        ('evidence_retention', '0', '1000 years', '30 days'),
        ('rollup_10m_retention', '1 microsecond', '1000 years', '90 days'),
        ('rollup_1h_retention', '1 microsecond', '1000 years', '2 years'),
        ('rollup_1d_retention', '1 microsecond', '1000 years', '10 years'),
        ('compress_after', '0', '1000 years', '7 days'),
        ('refresh_lag', '0', '1000 years', '20 minutes'),
        ('chunk_interval', '1 hour', '1 year', '1 day'),
        ('max_ahead', '0', '1 day', '5 minutes'),
        ('feed_wait', '100 milliseconds', '1 hour', '10 seconds'),
        ('node_timeout', '1 second', '1 hour', '2 minutes')
    ) AS s (name, least, most, example)
    WHERE s.name = require_setting.name;
    SELECT n.* INTO number
    FROM (VALUES ('max_text', 1, 1073741823), ('max_targets', 1, 2147483647), ('max_answer', 1048576, 1099511627776), ('max_rate', 1, bigint '1099511627776'), ('fold_uids_below', 0, 4294967295)) AS n (name, least, most)
    WHERE n.name = require_setting.name;
    IF span.name IS NULL AND number.name IS NULL AND name <> 'metrics' THEN
        IF name = 'keep' AND (value IN ('everything', 'no detail', 'counts')) IS NOT TRUE THEN
            RAISE invalid_parameter_value USING MESSAGE = format('keep must be ''everything'', ''no detail'' or ''counts'', not %L', value),
                HINT = $hint$For calls and sums alone: UPDATE jobstats.settings SET keep = 'counts';$hint$;
        END IF;
        RETURN;
    ELSIF value IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = format('%s must not be NULL', name),
            HINT = CASE WHEN name LIKE '%retention' THEN 'For ever is 100 years.' ELSE 'Give a value.' END;
    ELSIF name = 'metrics' THEN
        IF jsonb_array_length(value::jsonb) > 100 OR EXISTS (
            SELECT FROM jsonb_array_elements_text(value::jsonb) AS p (pattern)
            WHERE (length(p.pattern) BETWEEN 1 AND 200) IS NOT TRUE)
        THEN
            RAISE invalid_parameter_value USING MESSAGE = 'metrics must be up to 100 patterns of 1 to 200 characters each',
                HINT = $hint$Give patterns of names such as '{node_rapl_*}'.$hint$;
        END IF;
        RETURN;
    ELSIF number.name IS NOT NULL THEN
        IF value::bigint NOT BETWEEN number.least AND number.most THEN
            RAISE invalid_parameter_value USING MESSAGE = format('%s must be from %s to %s, not %s', name, number.least, number.most, value),
                HINT = 'Give a number in this range.';
        END IF;
        RETURN;
    ELSIF value::interval < span.least THEN
        problem := CASE WHEN span.least = interval '1 microsecond' THEN 'positive' ELSE format('at least %s', span.least) END;
    ELSIF value::interval > span.most THEN
        problem := format('at most %s', span.most);
    ELSE
        RETURN;
    END IF;
    RAISE invalid_parameter_value USING MESSAGE = format('%s must be %s, not %s', name, problem, value),
        HINT = format('Give a span of time such as %L%s.', span.example, CASE WHEN name LIKE '%retention' THEN '; for ever is 100 years' END);
END
$$;
COMMENT ON FUNCTION jobstats_internal.require_setting IS
'Internal: fails with 22023 for a value that is out of range for feeds or maintenance, and with 22004 for NULL.';
