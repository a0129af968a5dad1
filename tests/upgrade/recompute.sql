-- What the released version stored, computed again as the manual says; prints how many observations changed.
SELECT jobstats_reidentify() AS identified \gset
SELECT sum(changed) FROM jobstats_reprocess(now() - (SELECT raw_retention FROM jobstats.settings), now());
