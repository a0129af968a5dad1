-- Pseudonyms: of a user, a number that no system assigns; of a job or an identifier, a text. With the secret, trying all users
-- reveals the user of a pseudonym.

CREATE FUNCTION jobstats_internal.pseudonym(secret bytea, text text) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_pseudonym_wrapper';
COMMENT ON FUNCTION jobstats_internal.pseudonym(bytea, text) IS
'Internal: the pseudonym of a text under a secret of 16 bytes. Errors: 22023 for a secret of another length.';

CREATE FUNCTION jobstats_internal.pseudonym_of_user(secret bytea, text text) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'jobstats_pseudonym_of_user_wrapper';
COMMENT ON FUNCTION jobstats_internal.pseudonym_of_user(bytea, text) IS
'Internal: the pseudonym of a number or name of a user, 2^32 or more, under a secret of 16 bytes. Errors: 22023 for a secret of another length.';

CREATE FUNCTION jobstats_internal.pseudonym(text text) RETURNS text
LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp
AS $$
SELECT jobstats_internal.pseudonym(s.pseudonyms, text) FROM jobstats.secrets s
$$;
COMMENT ON FUNCTION jobstats_internal.pseudonym(text) IS 'Internal: the pseudonym of a job or an identifier; of a pseudonym, itself.';

CREATE FUNCTION jobstats_internal.is_person(uid bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT uid BETWEEN s.system_uids_below AND 4294967295 FROM jobstats.settings s
$$;
COMMENT ON FUNCTION jobstats_internal.is_person IS 'Internal: whether a number belongs to a user, and not to a system user or a pseudonym.';

-- A user who is known only by name, without a number from getent, has a pseudonym too.
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

CREATE FUNCTION jobstats_internal.pseudonym_of_job(job text, kept text[]) RETURNS text
LANGUAGE sql STABLE
RETURN CASE WHEN job = ANY (kept) THEN job ELSE jobstats_internal.pseudonym(job) END;
COMMENT ON FUNCTION jobstats_internal.pseudonym_of_job IS 'Internal: the pseudonym of the number of a job; a kept number stays.';

CREATE FUNCTION jobstats_internal.name_for_ever(entry_id bigint) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN text 'pseudonym:' || lpad(to_hex(entry_id), 16, text '0');
COMMENT ON FUNCTION jobstats_internal.name_for_ever IS 'Internal: the name of a forgotten entry that no identifier has.';

-- Slurm's state of a job can be CANCELLED by 1000.
CREATE FUNCTION jobstats_internal.without_canceller(state text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN regexp_replace(state, text ' by \d+$', text '');
COMMENT ON FUNCTION jobstats_internal.without_canceller IS 'Internal: the state of a job without the user who cancelled it.';

CREATE FUNCTION jobstats_internal.people_kept_for() RETURNS interval
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
-- Increments that are retained longer show their user as long.
SELECT greatest(s.personal_retention, s.retention) FROM jobstats.settings s
$$;
COMMENT ON FUNCTION jobstats_internal.people_kept_for IS 'Internal: how long the user of a job or an entry is retained.';
