-- Whether any target prints the sizes of reads and writes. The last hour of the window tells, so that a store in which none does need not
-- be read.
SELECT EXISTS (
    SELECT FROM jobstats.increments increment
    WHERE increment."time" > $1 AND increment."time" <= $2
        AND (increment.read_bytes_hist IS NOT NULL OR increment.write_bytes_hist IS NOT NULL))
