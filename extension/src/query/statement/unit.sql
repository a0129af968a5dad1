-- The targets in scope, each with the number of its group, and once per server if the answer is by server.
SELECT observation.target_id, target.kind AS target_kind, target.name AS target_name, target.retired@dimensions@,
    @group@ AS unit_group
FROM (SELECT DISTINCT @key@ FROM observation) observation
JOIN jobstats.targets target ON target.target_id = observation.target_id
