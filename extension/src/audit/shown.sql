CASE WHEN @row@ IS NOT NULL THEN (
    SELECT format('(%s, %s]', @table@.since, @table@."time")
        || coalesce(string_agg(format(' %s %s', c.key, c.value), ',' ORDER BY c.position), '')
    FROM json_each_text(@row@) WITH ORDINALITY AS c (key, value, position)
    WHERE c.value IS NOT NULL AND c.key <> ALL ('{time,since,observed,target_id,entry_id}')
        AND CASE WHEN @other@ IS NULL THEN (c.key, c.value) <> ('reset', 'false')
            ELSE @other@ -> c.key IS DISTINCT FROM @own@ -> c.key END
) END
