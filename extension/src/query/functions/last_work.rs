//! The work of the last observation of each target, which `jobstats_now()` and `jobstats_metrics()` report.

/// Returns an expression for the sums of columns over [the work](crate::store::views::LAST_WORK) `i` of last
/// observations `l`: an array of double precision, in which unknown sums are NULL.
pub fn sums(columns: impl Iterator<Item = String>) -> String {
    let sums = columns.map(|column| {
        format!(
            "sum(jobstats_internal.share(i.\"{column}\", i.since, i.\"time\", l.since, l.\"time\"))"
        )
    });
    let sums: Vec<String> = sums.collect();
    format!("ARRAY[{}]::double precision[]", sums.join(", "))
}
