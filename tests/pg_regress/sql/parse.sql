-- jobstats_parse(): one row per operation line, and the lines that it could not use.
CREATE EXTENSION jobstats;

\set text 'obdfilter.scratch-OST0000.job_stats=\njob_stats:\n- job_id:          "11317854\\x3A1000\\x3Ar01c01"\n  snapshot_time:   1749555518.685497069 secs.nsecs\n  start_time:      1749555508.597767178 secs.nsecs\n  elapsed_time:    10.087729891 secs.nsecs\n  read_bytes:      { samples:           2, unit: bytes, min:     4096, max:  1048576, sum:          1052672, sumsq:      1099528404992, hist: { 4K: 1, 1M: 1 } }\n  getattr:         { samples:           1, unit: usecs, min:       50, max:       50, sum:               50, sumsq:               2500 }\n- job_id:          dd.0\n  snapshot_time:   1749555400.000000001 secs.nsecs\n  read_bytes:      { samples:           0, unit: bytes, min:        0, max:        0, sum:                0, sumsq:                  0, hist: {  } }\n  getattr:         { samples: 18446744073709551615, unit:  reqs }\n'
\x on
SELECT * FROM jobstats_parse(:'text');
\x off

-- One damaged entry costs no other, and its line is named.
\set damaged 'obdfilter.scratch-OST0000.job_stats=\njob_stats:\n- job_id:          cp.1\n  snapshot_time:   1381939592\n  read_bytes:      { samples:           1, unit: bytes, min:    4096, max:    4096, sum:            4096 }\n  setattr:         { samples:           7, unit:  reqs }\n- job_id:          dd.2\n  snapshot_time:   1381939640\n  read_bytes:      { samples:          -1, unit: bytes, min:    4096, max:    4096, sum:            4096 }\n  setattr:         { samples:           8, unit:  re\n- job_id:          mv.3\n  snapshot_time:   1381939650\n  read_bytes:      { samples:           3, unit: bytes, min:    4096, max:    4096, sum:           12288 }\n  setattr:         { samples:           9, unit:  reqs }\n'
SELECT line, target, entry, operation, samples, unit, sum, snapshot_time, problem, text FROM jobstats_parse(:'damaged');

-- A text without names, an empty text, no text.
SELECT target, entry, operation, samples FROM jobstats_parse(E'job_stats:\n- job_id:          a.1\n  snapshot_time:   1381939592\n  sync:            { samples:           5, unit:  reqs }\n');
SELECT count(*) FROM jobstats_parse('');
SELECT count(*) FROM jobstats_parse(NULL);
