-- The current names of users or, if any had another name, the names in a window ($1, $2], each up to the end of its last day.
SELECT person.uid, person.user_name, person.gid, person.named_until
FROM @users@ person
