-- Every row begins with the flag for reported times, which is there even if there are no groups.
--
-- The planner would make as many plans of the steps that must be added up as there are references to them.
WITH @observed@,
rest AS MATERIALIZED (
    @rest@
),
part AS @materialized@ (
    @part@
),
entry AS MATERIALIZED (
    @entry@
),
activity AS NOT MATERIALIZED (
    @activity@
),
early AS MATERIALIZED (
    @early@
),
timed AS MATERIALIZED (
    @timed@
),
scope AS MATERIALIZED (
    @scope@
),
coverage AS (
    @coverage@
)
SELECT report.timed, answer.*
FROM (SELECT bool_or(timed.timed) AS timed FROM timed) report
LEFT JOIN (
    @wanted@
) answer ON true
ORDER BY @order@
