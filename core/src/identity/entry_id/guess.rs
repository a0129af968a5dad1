//! Guesses the format of identifiers.

use std::sync::LazyLock;

use super::swapped::Roles;
use super::{DEFAULT_FORMATS, Format, Identity};

/// The formats that sites use. Of formats that match the same identifiers, the strictest comes first.
const COMMON: &str = "%j:%u:%H %j:%u:%h %u:%j:%H %u:%j:%h %j@%u@%H %j@%u@%h %j.%u.%H %j.%u.%h %e:%u:%H \
    %e:%u:%h %e@%u@%H %e@%u@%h %e.%u.%H %e.%u.%h %j?%e:%u:%H %j?%e:%u:%h %j?%e@%u@%H \
    %j?%e@%u@%h %j:%u %u:%j %j@%u %j.%u %e:%u %e@%u %e.%u %u@%H %u@%h %j";

/// A common format.
struct Common {
    text: &'static str,
    format: Format,
    /// The format that is common too, and the same with user and job swapped.
    swapped: Option<(&'static str, Format)>,
}

static COMPILED: LazyLock<Vec<Common>> = LazyLock::new(|| {
    let compile = |text| Format::compile(text, None).ok();
    let common = COMMON.split(' ').filter_map(|text| {
        let swapped = COMMON
            .split(' ')
            .find(|it| *it == swapped(text) && *it != text);
        Some(Common {
            text,
            format: compile(text)?,
            swapped: swapped.and_then(|text| Some((text, compile(text)?))),
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
    /// Returns the plausible readings of an identifier by the format and with user and job swapped.
    fn read<'a>(&'a self, id: &'a str) -> [Option<Identity<'a>>; 2] {
        let read = |format: &'a Format| format.identify(id).filter(Identity::is_plausible);
        let swapped = self.swapped.as_ref();
        [read(&self.format), swapped.and_then(|(_, it)| read(it))]
    }

    fn explains(&self, id: &str) -> bool {
        self.read(id).iter().any(Option::is_some)
    }

    /// Returns true if most of the identifiers that show an order of user and job have it swapped.
    fn is_swapped(&self, ids: &[&str]) -> bool {
        let readings = || ids.iter().map(|id| self.read(id));
        let pair = |[one, other]: [Option<Identity<'_>>; 2]| one?.uid.zip(other?.uid);
        let roles = Roles::of(readings().filter_map(pair), |_| false);
        let orders = readings().map(|read| match read {
            [Some(_), None] => Some(true),
            [None, Some(_)] => Some(false),
            read => roles.is_first_user(pair(read)?),
        });
        let (right, swapped): (Vec<_>, Vec<_>) = orders.flatten().partition(|it| *it);
        swapped.len() > right.len()
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
    let swapped = common.swapped.as_ref().filter(|_| common.is_swapped(&ids));
    Some(swapped.map_or(common.text, |(text, _)| text))
}

/// Returns formats that together explain these identifiers, those that explain most first, each in both orders of user and job; then
/// the default formats.
pub(super) fn likely_formats(ids: &[&str]) -> Vec<Format> {
    let mut found: Vec<&Common> = Vec::new();
    let mut rest = ids.to_vec();
    while let Some(common) = likely(&rest) {
        // Any text is a job.
        if common.text == "%j" && !found.is_empty() {
            break;
        }
        found.push(common);
        rest.retain(|id| !common.explains(id));
    }
    let has_job = found.iter().any(|it| it.text.contains("%j"));
    for common in COMPILED
        .iter()
        .filter(|it| DEFAULT_FORMATS.contains(&it.text))
    {
        // Two formats with jobs would read different users in one identifier, and so know neither user nor job.
        let is_found = found.iter().any(|it| it.text == common.text);
        if !(is_found || has_job && common.text.contains("%j")) {
            found.push(common);
        }
    }
    let formats = found.into_iter();
    let formats = formats.flat_map(|it| {
        let swapped = it.swapped.iter().map(|(_, swapped)| swapped);
        [&it.format].into_iter().chain(swapped)
    });
    formats.cloned().collect()
}
