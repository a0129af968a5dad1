jobstats_internal.histogram(increment.sizes, 0) AS read_bytes_hist, jobstats_internal.histogram(increment.sizes, 1) AS write_bytes_hist,
    jobstats_internal.detail(increment.detail) AS detail
