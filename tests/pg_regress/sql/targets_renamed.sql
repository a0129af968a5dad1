-- A target with another name keeps its history; text that still has the old name goes there too.
\i store.sql
\set ECHO all
\pset null '(null)'
SET client_min_messages = error;

CREATE FUNCTION feed(target text, minute integer, calls integer) RETURNS TABLE (target text, action text, increments integer)
LANGUAGE sql AS $$
SELECT i.target, i.action, i.increments
FROM jobstats_ingest('', 'oss1', at(minute), ost(feed.target, record('dd.0', calls, calls * 4096))) AS i
$$;
SELECT * FROM feed('fs-OST0001', 0, 10);
SELECT * FROM feed('fs-OST0001', 10, 15);
INSERT INTO jobstats.expected VALUES ('', 'oss1', 'fs-OST0001'), ('', NULL, 'fs-OST0001'), ('', NULL, 'scratch-OST001f'),
    ('west', NULL, 'fs-OST0001');
SELECT jobstats_alter_target('fs-OST0001', rename_to => 'scratch-OST001f');
SELECT cluster, name, filesystem, kind, index FROM jobstats.targets;
SELECT * FROM jobstats.expected ORDER BY cluster, server, target;
SELECT target, operation, total FROM (SELECT * FROM jobstats_totals(at(0), at(10), 'write,write_bytes') r, dims(r.labels)) AS jobstats_totals;
SELECT count(*) FROM jobstats_totals(at(0), at(10), filter => 'target=fs-*');

-- Text of before that comes late, the first with the new name, and one more with the old one: 2 + 3 + 5 + 1 calls.
SELECT * FROM feed('fs-OST0001', 5, 12);
SELECT * FROM feed('scratch-OST001f', 20, 20);
SELECT * FROM feed('fs-OST0001', 22, 21);
SELECT * FROM feed('fs-OST0001', 22, 21);
SELECT target, since, until, write FROM increments;
-- The raw text of either name is computed again.
SELECT * FROM jobstats_audit(at(-1), at(30));
UPDATE jobstats.increments SET write = 7;
SELECT target, what, count(*) FROM jobstats_audit(at(-1), at(30)) GROUP BY target, what;
SELECT name, computed, changed, deleted, inserted FROM jobstats_reprocess(at(-1), at(30), 'target=scratch-*');
SELECT * FROM jobstats_audit(at(-1), at(30));

-- When raw text of the old name is not kept any more, the name is free for a new target.
UPDATE jobstats.earlier_names SET renamed = now() - interval '2 days 1 second';
SELECT * FROM feed('fs-OST0001', 24, 22);
SELECT name FROM jobstats.targets ORDER BY name;
-- A name that a target has is refused.
SELECT jobstats_alter_target('scratch-OST001f', rename_to => 'fs-OST0001');
\echo :LAST_ERROR_SQLSTATE
-- Names change places.
SELECT jobstats_alter_target('fs-OST0001', rename_to => 'fs-OST0002'), jobstats_alter_target('scratch-OST001f', rename_to => 'fs-OST0001');
SELECT e.name AS earlier, t.name FROM jobstats.earlier_names e JOIN jobstats.targets t USING (target_id) ORDER BY e.name;
SELECT * FROM feed('fs-OST0001', 26, 22);
SELECT * FROM feed('scratch-OST001f', 28, 23);
SELECT target, until, write FROM increments WHERE until > 22;

-- A name without an index; the kind stays. A target of another cluster is independent.
SELECT jobstats_alter_target('fs-OST0002', rename_to => 'spare'), jobstats_alter_target('fs-OST0001', rename_to => 'fs-OST0001');
SELECT action FROM jobstats_ingest('west', 'oss1', at(0), ost('spare', record('dd.0', 1, 4096)));
SELECT jobstats_alter_target('spare', 'west', 'home-MDT000a');
SELECT cluster, name, filesystem, kind, index FROM jobstats.targets ORDER BY cluster, name;

-- Renamings that are refused.
SELECT jobstats_alter_target('fs-OST0007', rename_to => 'fs-OST0008');
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_alter_target('fs-OST0001', rename_to => '');
SELECT jobstats_alter_target('fs-OST0001', rename_to => repeat('x', 256));
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_alter_target('fs-OST0001');
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_alter_target(NULL, rename_to => 'fs-OST0001');
TRUNCATE jobstats.targets;
SELECT jobstats_alter_target('fs-OST0001', rename_to => 'fs-OST0002');
SELECT * FROM wrong_spans();
DROP SCHEMA jobstats CASCADE;
SELECT jobstats_alter_target('fs-OST0001', rename_to => 'fs-OST0002');
SELECT jobstats_alter_target('fs-OST0001', retired => true);
