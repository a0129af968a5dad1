//! Finds known names similar to an unknown one, for suggestions in messages.

#[cfg(test)]
mod tests;

use strsim::osa_distance;

/// The number of names that a hint suggests.
pub const SUGGESTED: usize = 3;

/// The number of characters that are compared. Longer names differ where readers do not look.
const COMPARED: usize = 100;

/// Returns the known names that are most like `name`, the nearest first, at most `most` of them. A name is near if few
/// characters have to be changed, or if one of the two names contains the other.
pub fn nearest<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Vec<&'a str> {
    let compared = |text: &str| text.chars().take(COMPARED).collect::<String>();
    let name = compared(name);
    let mut found: Vec<(usize, &str)> = Vec::new();
    for candidate in known {
        let other = compared(candidate);
        let distance = osa_distance(&name, &other);
        let ranked = (distance, candidate);
        if is_near(&name, &other, distance) && !found.contains(&ranked) {
            let place = found.partition_point(|it| *it < ranked);
            found.insert(place, ranked);
            found.truncate(most);
        }
    }
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Returns whether a name is worth suggesting: a quarter of the characters and one more may differ.
fn is_near(name: &str, candidate: &str, distance: usize) -> bool {
    let length = name.chars().count();
    distance <= 1 + length / 4 || contains(candidate, name) || contains(name, candidate)
}

fn contains(text: &str, part: &str) -> bool {
    part.chars().nth(1).is_some() && text.contains(part)
}
