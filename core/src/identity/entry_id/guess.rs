//! Guesses the format of identifiers.

use std::sync::LazyLock;

use super::{DEFAULT_FORMATS, Format, MixedFormats};

/// The formats that sites use. Of formats that match the same identifiers, the strictest comes first.
const COMMON: &str = "%j:%u:%H %j:%u:%h %u:%j:%H %u:%j:%h %j@%u@%H %j@%u@%h %j.%u.%H %j.%u.%h %e:%u:%H \
    %e:%u:%h %e@%u@%H %e@%u@%h %e.%u.%H %e.%u.%h %j?%e:%u:%H %j?%e:%u:%h %j?%e@%u@%H \
    %j?%e@%u@%h %j:%u %u:%j %j@%u %j.%u %e:%u %e@%u %e.%u %u@%H %u@%h %j";

/// A common format.
struct Common {
    format: Format,
    /// The format that is common too, and the same with user and job swapped.
    swapped: Option<Format>,
}

static COMPILED: LazyLock<Vec<Common>> = LazyLock::new(|| {
    let compile = |text| Format::compile(text, None).ok();
    let common = COMMON.split(' ').filter_map(|text| {
        let swapped = swapped(text);
        let mut others = COMMON.split(' ').filter(|it| *it != text);
        Some(Common {
            format: compile(text)?,
            swapped: others.find(|it| *it == swapped).and_then(compile),
        })
    });
    common.collect()
});

/// Returns the format with `%j` and `%u` in each other's place.
fn swapped(format: &str) -> String {
    let letter = |letter| match letter {
        'j' => 'u',
        'u' => 'j',
        other => other,
    };
    format.chars().map(letter).collect()
}

impl Common {
    /// Returns the format, and the same with user and job swapped.
    fn orders(&self) -> impl Iterator<Item = &Format> {
        [&self.format].into_iter().chain(&self.swapped)
    }

    fn explains(&self, id: &str) -> bool {
        let mut readings = self.orders().filter_map(|it| it.identify(id));
        readings.any(|it| it.is_plausible())
    }
}

/// Returns the common format that explains most of these identifiers in either order of user and job, if one explains more than
/// half of them.
fn likely(ids: &[&str]) -> Option<&'static Common> {
    let explained = |common: &'static Common| {
        let explained = ids.iter().filter(|id| common.explains(id));
        (common, explained.count())
    };
    // `max_by_key` takes the last of equals, so that the order is reversed: the strictest format is the first.
    let counts = COMPILED.iter().rev().map(explained);
    let (common, count) = counts.max_by_key(|(_, count)| *count)?;
    (2 * count > ids.len()).then_some(common)
}

/// Returns the common format that explains most of these identifiers, if one explains more than half of them.
pub fn likely_format<'i>(ids: impl IntoIterator<Item = &'i str>) -> Option<&'static str> {
    let ids: Vec<_> = ids.into_iter().collect();
    let common = likely(&ids)?;
    let formats: Vec<_> = common.orders().cloned().collect();
    let mut formats = MixedFormats::new(&formats, None);
    formats.learn(ids, |_| false);
    let swapped = common.swapped.as_ref();
    let swapped = swapped.filter(|_| formats.is_mostly_second());
    Some(&swapped.unwrap_or(&common.format).text)
}

impl MixedFormats {
    /// Guesses the formats: some that together explain these identifiers, and then the default ones, each in both orders of user and job.
    pub fn likely(ids: &[&str]) -> Self {
        let mut found: Vec<&Common> = Vec::new();
        let mut rest = ids.to_vec();
        while let Some(common) = likely(&rest) {
            // Any text is a job.
            if common.format.text == "%j" && !found.is_empty() {
                break;
            }
            found.push(common);
            rest.retain(|id| !common.explains(id));
        }
        let has_job = found.iter().any(|it| it.format.text.contains("%j"));
        // Two formats with jobs would read different users in one identifier, and so know neither user nor job.
        let is_left_out = |text: &str| {
            has_job && text.contains("%j") || found.iter().any(|it| it.format.text == text)
        };
        let is_default = |text: &str| DEFAULT_FORMATS.contains(&text) && !is_left_out(text);
        let defaults = COMPILED.iter().filter(|it| is_default(&it.format.text));
        found.extend(defaults.collect::<Vec<_>>());
        let formats = found.into_iter().flat_map(Common::orders);
        Self::new(&formats.cloned().collect::<Vec<_>>(), None)
    }
}
