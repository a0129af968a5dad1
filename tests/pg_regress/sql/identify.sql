-- jobstats_identify(): what an entry identifier means.
CREATE EXTENSION jobstats;

-- Seen in production, with the formats %j:%u:%H and %e.%u. Lustre cuts identifiers at 31 bytes.
SELECT entry, i.* FROM unnest(ARRAY[
    'wget.11317854', '11317854:17627127:r01c01', ':17627127:r01c01', 'wget', 'wget.', '11317854', '11317854:',
    '113178544', '11317854:17627127', '11317854:17627127:', '11317854:17627127:r01c01.bullx',
    ':17627127:r01c01.bullx', ':1317854:17627127:r01c01', '11317854:17627127:r01c01-averyl', '']) WITH ORDINALITY AS entries (entry, position),
    jobstats_identify(entry, '{%j:%u:%H,%e.%u}') i
ORDER BY position;

-- A program before a colon is a job to the usual format; the format of the site, tried alone, knows better.
SELECT format, job, uid, node, executable
FROM (VALUES ('%j:%u:%H'), ('%j?%e:%u:%H')) AS formats (tried), jobstats_identify('wget:1000:login1', ARRAY[tried]);

-- A job with the notation of bytes may be 31 bytes long, a job that is text stands before a node with its domain, a program has dots, a job
-- may look like a node, and quotes around jobid_name come along.
SELECT tried, entry, job, uid, node, executable, status
FROM (VALUES (1, '%j:%u:%H', '4711.s\xAA\x41:1000:n1aaaaaaaaaaaa'), (2, '%.8j:%u:%H', 'x:2000:n5.cl.example.org'),
    (3, '%j.%e.%u', '4711.python3.11.1000'), (4, '%j?%H:%e:%u', 'alice:cp:0'), (5, '%j:%u:%H', '"4711:1000:n1"')) AS t (n, tried, entry),
    jobstats_identify(entry, ARRAY[tried])
ORDER BY n;

-- Without formats those of the store are used, and before there is one the usual ones.
SELECT * FROM jobstats_identify('wget.1000');
SELECT * FROM jobstats_identify('4711:1000:n101');
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT * FROM jobstats_identify('wget.1000');
DELETE FROM jobstats.entry_formats;
SELECT * FROM jobstats_identify('wget.1000');

-- Other formats; nothing in, nothing out.
SELECT job, uid, node, format, status FROM jobstats_identify('1000:4711:n101', '{%u:%j:%H}');
SELECT * FROM jobstats_identify('dd@1000@login1', '{%e@%u@%h}');
SELECT * FROM jobstats_identify(NULL);
SELECT * FROM jobstats_identify('a', '{}');
SELECT * FROM jobstats_identify('a', '{NULL}');
SELECT * FROM jobstats_identify('a', '{no code}');
