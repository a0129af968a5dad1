-- Pseudonyms: of a user, a number that no system gives; of a job and of an identifier, a text. Who has the secret can find out whose a
-- pseudonym is by trying all users.

CREATE FUNCTION jobstats_internal.pseudonym(text text) RETURNS text
LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp
AS $$
SELECT jobstats_internal.pseudonym(s.pseudonyms, text) FROM jobstats.secrets s
$$;
COMMENT ON FUNCTION jobstats_internal.pseudonym(text) IS
'Internal: the pseudonym of a job or an identifier; of a pseudonym, itself.';

CREATE FUNCTION jobstats_internal.is_person(uid bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT uid BETWEEN s.system_uids_below AND 4294967295 FROM jobstats.settings s
$$;
COMMENT ON FUNCTION jobstats_internal.is_person(bigint) IS
'Internal: whether a number is that of a user, and neither of one of the system nor a pseudonym.';

-- A user that only a name tells has a pseudonym, too, if getent does not tell the number.
CREATE FUNCTION jobstats_internal.pseudonym_of_user(uid bigint, user_name text) RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN jobstats_internal.is_person(n.uid) THEN jobstats_internal.pseudonym_of_user(s.pseudonyms, n.uid::text)
    WHEN n.uid IS NULL AND user_name IS NOT NULL THEN jobstats_internal.pseudonym_of_user(s.pseudonyms, user_name)
    ELSE n.uid END
FROM jobstats.secrets s
CROSS JOIN LATERAL (
    SELECT coalesce(pseudonym_of_user.uid, (SELECT CASE WHEN count(*) = 1 THEN min(u.uid) END
        FROM jobstats.users u WHERE u.user_name = pseudonym_of_user.user_name AND u.source = text 'getent')) AS uid) n
$$;
COMMENT ON FUNCTION jobstats_internal.pseudonym_of_user(bigint, text) IS
'Internal: the pseudonym of the user of a number, else of a name: a number of 2^32 and more; of a pseudonym and of a user of the system, itself; NULL: neither is known.';
