-- The usage by step and target, and by entry if the question is about entries, or by owner if it is about users or accounts only. Groups
-- add up these rows, so the rows are summed here to make them few.
SELECT @key@@sums@
FROM (
    @usage@
) usage
@of_targets@
@group_by@
