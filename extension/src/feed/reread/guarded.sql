-- Reads a text again in a transaction of its own, so that one that fails does not keep the others from being read.
CREATE FUNCTION jobstats_internal.reread_guarded(
    cluster text, source text, server text, "time" timestamptz,
    OUT records integer, OUT problems integer, OUT changed integer, OUT problem text)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    SELECT r.* INTO records, problems, changed, problem FROM jobstats_internal.reread(cluster, source, server, "time") r;
EXCEPTION WHEN OTHERS THEN
    problem := SQLERRM;
END
$$;
COMMENT ON FUNCTION jobstats_internal.reread_guarded(text, text, text, timestamptz) IS
'Internal: what jobstats_internal.reread() does; an error becomes the problem.';
