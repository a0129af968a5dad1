-- One row per step and group: the dimensions, the seconds observed, the number of targets, the seconds for which targets were
-- retired, whether MDTs and OSTs are among them, and the measures.
--
-- The expression `target_id + 0` hides the number of targets from the planner. The planner knows nothing about the units,
-- would expect fewer distinct keys in them, and would put all rows into a hash table (39 of 157 ms) to look up the units in it.
--
-- In the rows of a single step, the number of the step is a constant. In a join by it, the planner would expect one matching
-- unit, and would read all rows for each of the units: the join is by step only if there are several.
--
-- The join with the coverage is a FULL JOIN because a nested loop cannot do it. The planner expects a tenth of the rows, and
-- next to what adding up many rows costs, it took hashing 20,160 groups and comparing each with all others for equal: 15 s. The
-- condition and OFFSET 0 keep it from seeing that groups without sums are left out.
SELECT sums.step@dimensions@, coverage.observed, coverage.targets, coverage.idle, coverage.mdt, coverage.ost@values@
FROM (
    SELECT scope.unit_group, scope.step@entry@@sums@
    FROM scope
    @join@ activity ON activity.target_id + 0 = scope.target_id@same_server@@same_step@
    GROUP BY scope.unit_group, scope.step@entry@
) sums
FULL JOIN coverage ON coverage.unit_group = sums.unit_group AND coverage.step = sums.step
WHERE coalesce(sums.step, 0) > 0
OFFSET 0
