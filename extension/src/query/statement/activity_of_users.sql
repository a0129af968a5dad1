-- The usage by user, with the names of users.
SELECT part.*@dimensions@
FROM part@names@
WHERE true@conditions@
