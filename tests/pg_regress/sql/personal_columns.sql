-- A single list has the personal data in columns of the store: a text column without an entry there is forgotten.
\i new_store.sql
\set ECHO all
CREATE VIEW columns AS
SELECT c.relname::text AS relation, a.attname::text AS "column", a.atttypid IN ('text'::regtype, 'text[]'::regtype, 'jsonb'::regtype, 'json'::regtype, 'bytea'::regtype, 'name'::regtype, 'varchar'::regtype) AS is_text
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = 'jobstats'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition;
CREATE VIEW without_word AS
SELECT c.relation, c."column" FROM columns c
WHERE c.is_text AND NOT EXISTS (SELECT FROM jobstats_internal.columns_of_people() p WHERE p.relation IN (c.relation, '*') AND p."column" = c."column")
ORDER BY 1, 2;
CREATE VIEW without_column AS
SELECT p.relation, p."column" FROM jobstats_internal.columns_of_people() p
WHERE NOT EXISTS (SELECT FROM columns c WHERE p.relation IN (c.relation, '*') AND p."column" = c."column")
ORDER BY 1, 2;
TABLE without_word;
TABLE without_column;
SELECT p.relation, p."column", count(*) FROM jobstats_internal.columns_of_people() p GROUP BY 1, 2 HAVING count(*) > 1;
-- Personal columns have the reason to stay or the way to forget, the others a description.
SELECT * FROM jobstats_internal.columns_of_people() p WHERE num_nonnulls(p.becomes, p.reason) = 0 OR p.holds IS NULL AND p.becomes IS NOT NULL;
SELECT p.holds, count(DISTINCT p.relation) > 0 AS found FROM jobstats_internal.columns_of_people() p WHERE p.holds IS NOT NULL GROUP BY 1 ORDER BY 1;
ALTER TABLE jobstats.events ADD COLUMN told_to text, ADD COLUMN texts text[], ADD COLUMN more jsonb;
TABLE without_word;
ALTER TABLE jobstats.events DROP COLUMN told_to, DROP COLUMN texts, DROP COLUMN more;
BEGIN;
ALTER TABLE jobstats.jobs RENAME COLUMN node_list TO hosts;
TABLE without_word;
TABLE without_column;
ROLLBACK;

-- Free text names no forgotten user, and is otherwise complete.
INSERT INTO jobstats.users (uid, user_name) VALUES (2001, 'a.da'), (2002, 'adamant');
SELECT jobstats_silence(now(), now() + interval '1 hour', reason => 'tests of a.da (2001), axda and adamant') IS NOT NULL AS silenced;
INSERT INTO jobstats.events (kind, cluster, filesystem, began, found, until, updated, severity, targets, servers, rate, details, note, reason)
SELECT 'full', '', 'fs', now(), now(), now(), now(), 'info', '{}', '{}', 1, '{}', 'a.da, again: 12001 files', w.reason FROM jobstats.windows w;
INSERT INTO jobstats.advice VALUES ('', 'unconfirmed', 'for example 901:2001:n01', now());
SELECT trace, "rows" FROM jobstats_forget_user(2001) WHERE "rows" > 0;
SELECT replace(w.reason, p.uid::text, 'PSEUDONYM') AS silence, replace(e.reason, p.uid::text, 'PSEUDONYM') AS reason, replace(e.note, p.uid::text, 'PSEUDONYM') AS note
FROM jobstats.windows w, jobstats.events e, jobstats_internal.pseudonym_of_user(2001, NULL) AS p (uid);
SELECT count(*) FROM jobstats.advice;
SELECT relation, "rows", columns, kept FROM jobstats_personal_data(2002) WHERE relation IN ('events', 'windows');
