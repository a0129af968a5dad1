-- The names that users have or, if any had others, those of a window ($1, $2], each up to the end of its last day.
SELECT person.uid, person.user_name, person.gid, person.named_until
FROM @users@ person
