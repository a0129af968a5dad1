-- The usage by owner, with the names of users.
SELECT part.step, part.target_id@sums@@dimensions@
FROM part@names@
WHERE true@conditions@
