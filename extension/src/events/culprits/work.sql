-- What was done in windows ($1 to $2) on targets ($6) of a cluster ($5), of all or of some users ($7), accounts ($8) and jobs ($9).
SELECT span.number, total.uid, total.user_name, total.account, total.job, total.operation, total.total::double precision AS total,
    total.calls::double precision AS calls, coalesce(total.coverage, 0) AS coverage
FROM unnest($1::timestamptz[], $2::timestamptz[]) WITH ORDINALITY AS span (since, until, number)
CROSS JOIN LATERAL @schema@.jobstats_totals(span.since, span.until, $3::text[], $4::text[], cluster => $5::text[], target => $6::text[],
    uid => $7::bigint[], account => $8::text[], job => $9::text[]) total
ORDER BY span.number
