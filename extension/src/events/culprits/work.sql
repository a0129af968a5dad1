-- What was done in windows ($1 to $2) on targets ($6) of a cluster ($5), of all or of some users ($7), accounts ($8) and jobs ($9).
SELECT span.number, label.uid, nullif(label."user", label.uid::text) AS user_name, label.account, label.job, total.operation,
    total.total::double precision AS total, total.calls::double precision AS calls, coalesce(total.coverage, 0) AS coverage
FROM unnest($1::timestamptz[], $2::timestamptz[]) WITH ORDINALITY AS span (since, until, number)
CROSS JOIN LATERAL @schema@.jobstats_totals(span.since, span.until, array_to_string($3::text[], text ','), array_to_string($4::text[], text ','),
    filter => jsonb_strip_nulls(jsonb_build_object(text 'cluster', $5::text[], text 'target', $6::text[], text 'uid', $7::bigint[],
        text 'account', $8::text[], text 'job', $9::text[]))::@schema@.jobstats_filter) total
CROSS JOIN LATERAL jsonb_to_record(total.labels) AS label (uid bigint, "user" text, account text, job text)
ORDER BY span.number
