-- The rate of each target, its ratio to the median of the targets of its kind, and the group of entries that leads on the
-- target. Nobody leads on a target without usage.
--
-- The planner expects a single group, and would read all of them again for each. A nested loop cannot do a FULL JOIN; and to find
-- the largest total before the rows are sorted leaves few to sort.
--
-- The order follows from the difference between a rate and the median, not from their ratio: if the median is zero, any target
-- above it is out of balance all the same.
WITH groups AS MATERIALIZED (
    @groups@
),
whole AS (
    SELECT groups.unit_group, sum(groups.total_0) AS total, max(groups.total_0) AS largest
    FROM groups
    GROUP BY groups.unit_group
),
leader AS MATERIALIZED (
    SELECT DISTINCT ON (groups.unit_group) groups.step@dimensions@,
        groups.observed, groups.targets, groups.idle, groups.mdt, groups.ost,
        whole.total::double precision / nullif(groups.observed, 0) AS rate,
        (groups.total_0 / nullif(whole.total, 0))::double precision AS share
    FROM groups
    FULL JOIN whole ON whole.unit_group = groups.unit_group
    WHERE groups.total_0 IS NOT DISTINCT FROM whole.largest
    ORDER BY groups.unit_group@entry@
),
kind AS MATERIALIZED (
    SELECT leader.cluster, leader.filesystem, leader.kind,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY leader.rate) AS median
    FROM leader
    GROUP BY leader.cluster, leader.filesystem, leader.kind
)
SELECT leader.step@of_target@@of_leader@, leader.observed, leader.targets, leader.idle, leader.mdt, leader.ost,
    leader.rate, leader.share AS leader_share,
    leader.rate / nullif(kind.median, 0) AS ratio, leader.rate - kind.median AS excess
FROM leader
LEFT JOIN kind ON kind.cluster = leader.cluster AND kind.filesystem IS NOT DISTINCT FROM leader.filesystem AND kind.kind = leader.kind
