//! Guesses the format of identifiers.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Format, Identity};

/// The formats that sites use. Of formats that match the same identifiers, the strictest comes first.
const COMMON: &str = "%j:%u:%H %j:%u:%h %u:%j:%H %u:%j:%h %j@%u@%H %j@%u@%h %j.%u.%H %j.%u.%h %e:%u:%H \
    %e:%u:%h %e@%u@%H %e@%u@%h %e.%u.%H %e.%u.%h %j?%e:%u:%H %j?%e:%u:%h %j?%e@%u@%H \
    %j?%e@%u@%h %j:%u %u:%j %j@%u %j.%u %e:%u %e@%u %e.%u %u@%H %u@%h %j";

static COMPILED: LazyLock<Vec<(&str, Format)>> = LazyLock::new(|| {
    let compile = |format| Some((format, Format::compile(format, None).ok()?));
    COMMON.split(' ').filter_map(compile).collect()
});

/// Returns the common format that explains most of these identifiers, if one explains more than half of them.
pub fn likely_format<'i>(ids: impl IntoIterator<Item = &'i str>) -> Option<&'static str> {
    let mut total = 0;
    let mut explained = vec![(0, HashMap::new()); COMPILED.len()];
    for id in ids {
        total += 1;
        for ((count, users), (_, format)) in explained.iter_mut().zip(COMPILED.iter()) {
            let plausible = format.identify(id).filter(Identity::is_plausible);
            // A job has one user, and a user has many jobs: so `1000:17:n1` shows what comes first.
            let is_explained = plausible.is_some_and(|it| {
                it.job
                    .zip(it.uid)
                    .is_none_or(|(job, uid)| *users.entry(job).or_insert(uid) == uid)
            });
            *count += usize::from(is_explained);
        }
    }
    let candidates = COMPILED.iter().zip(explained);
    // `max_by_key` takes the last of equals, so that the order is reversed: the strictest format is the first.
    let ((format, _), (count, _)) = candidates.rev().max_by_key(|(_, (count, _))| *count)?;
    (2 * count > total).then_some(format)
}
