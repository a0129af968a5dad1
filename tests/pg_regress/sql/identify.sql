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
