-- jobstats_internal.share(): the part of a row that lies in a window.
\set ECHO all
CREATE EXTENSION jobstats;
-- 7 calls in six minutes: adjacent parts add up.
SELECT jobstats_internal.share(7, '2025-11-03 08:08', '2025-11-03 08:14', '2025-11-03 08:08', '2025-11-03 08:10') AS before_ten,
    jobstats_internal.share(7, '2025-11-03 08:08', '2025-11-03 08:14', '2025-11-03 08:10', '2025-11-03 08:14') AS after_ten;
-- A window that holds the row, one outside it, an empty one; no value.
SELECT jobstats_internal.share(7, '2025-11-03 08:08', '2025-11-03 08:14', '2025-11-03', '2025-11-04') AS whole,
    jobstats_internal.share(7, '2025-11-03 08:08', '2025-11-03 08:14', '2025-11-03 08:14', '2025-11-03 08:20') AS after,
    jobstats_internal.share(7, '2025-11-03 08:08', '2025-11-03 08:14', '2025-11-04', '2025-11-03') AS backwards,
    jobstats_internal.share(7, '2025-11-03 08:08', '2025-11-03 08:14', '-infinity', 'infinity') AS ever,
    jobstats_internal.share(NULL, '2025-11-03 08:08', '2025-11-03 08:14', '2025-11-03', '2025-11-04') AS no_value;
