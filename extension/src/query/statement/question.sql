-- Every row begins with two flags, which are there even if there are no groups: whether any target reports times, and whether
-- all do, if that is known. Where it is asked for, a third number follows.
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
SELECT report.*, answer.*
FROM (SELECT bool_or(timed.timed) AS timed, bool_and(timed.timed) AS all_timed@covered@ FROM timed) report
LEFT JOIN (
    @wanted@
) answer ON true
@order@
