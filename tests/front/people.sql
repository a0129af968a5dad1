-- Sends the output of getent and sacct, in addition to the texts of servers.
\set names `cat :'directory'/passwd`
\set teams `cat :'directory'/group`
\set jobs `cat :'directory'/jobs`
INSERT INTO public.texts (cluster, server, "time", body, source, covers)
VALUES ('alpha', 'login1', '2026-03-09 23:00Z', :'names' || E'\n', 'passwd', NULL),
    ('alpha', 'login1', '2026-03-09 23:00Z', :'teams' || E'\n', 'group', NULL),
    ('alpha', 'login1', '2026-03-10 03:00Z', :'jobs' || E'\n', 'slurm', '[2026-03-08 00:00Z, 2026-03-10 03:00Z)');
