-- Processor seconds of this session, independent of the load of the machine.
CREATE FUNCTION processor() RETURNS numeric LANGUAGE sql VOLATILE AS $$
SELECT (field[12]::numeric + field[13]::numeric) / 100
FROM regexp_split_to_array(regexp_replace(pg_read_file('/proc/self/stat'), '^.*\) ', ''), ' ') AS field
$$;
