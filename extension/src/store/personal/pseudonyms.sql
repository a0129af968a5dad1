-- Pseudonyms: of a user, a number that no system gives; of a job and of an identifier, a text. Who has the secret can find out whose a
-- pseudonym is by trying all users.

CREATE FUNCTION jobstats_internal.is_pseudonym(text text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN text ~ '^pseudonym:[0-9a-f]{16}$';
COMMENT ON FUNCTION jobstats_internal.is_pseudonym(text) IS 'Internal: whether a text is a pseudonym.';

CREATE FUNCTION jobstats_internal.pseudonym(text text) RETURNS text
LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN jobstats_internal.is_pseudonym(text) THEN text
    ELSE jobstats_internal.pseudonym(s.pseudonyms, text) END
FROM jobstats.secrets s
$$;
COMMENT ON FUNCTION jobstats_internal.pseudonym(text) IS
'Internal: the pseudonym of a job or an identifier; of a pseudonym, itself.';

-- A user that only a name tells has a pseudonym, too; users of the system are nobody.
CREATE FUNCTION jobstats_internal.pseudonym_of_user(uid bigint, user_name text) RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN uid < t.system_uids_below OR uid > 4294967295 OR num_nonnulls(uid, user_name) = 0 THEN uid
    ELSE jobstats_internal.pseudonym_of_user(s.pseudonyms, coalesce(uid::text, user_name)) END
FROM jobstats.secrets s, jobstats.settings t
$$;
COMMENT ON FUNCTION jobstats_internal.pseudonym_of_user(bigint, text) IS
'Internal: the pseudonym of the user of a number, else of a name: a number of 2^32 and more; of a pseudonym and of a user of the system, itself; NULL: neither is known.';
