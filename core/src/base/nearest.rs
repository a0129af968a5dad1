//! Finds known names similar to an unknown one, for suggestions in messages.

#[cfg(test)]
mod tests;

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
    let name: Vec<char> = name.chars().take(COMPARED).collect();
    let mut found: Vec<(usize, &str)> = Vec::new();
    for candidate in known {
        let characters: Vec<char> = candidate.chars().take(COMPARED).collect();
        let distance = distance(&name, &characters);
        let ranked = (distance, candidate);
        if is_near(&name, &characters, distance) && !found.contains(&ranked) {
            let place = found.partition_point(|it| *it < ranked);
            found.insert(place, ranked);
            found.truncate(most);
        }
    }
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Returns whether a name is worth suggesting: a quarter of the characters and one more may differ.
fn is_near(name: &[char], candidate: &[char], distance: usize) -> bool {
    distance <= 1 + name.len() / 4 || contains(candidate, name) || contains(name, candidate)
}

fn contains(text: &[char], part: &[char]) -> bool {
    part.len() > 1 && text.windows(part.len()).any(|window| window == part)
}

/// Returns the number of characters that have to be inserted, deleted, replaced or swapped with the next one to turn
/// one name into the other.
fn distance(one: &[char], other: &[char]) -> usize {
    // Row r has the distances of the first r characters of `one` to each beginning of `other`.
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for row in 1..=one.len() {
        let mut next = vec![row; other.len() + 1];
        for column in 1..=other.len() {
            let differ = usize::from(one[row - 1] != other[column - 1]);
            let mut least = (last[column] + 1)
                .min(next[column - 1] + 1)
                .min(last[column - 1] + differ);
            let swapped = row > 1
                && column > 1
                && one[row - 1] == other[column - 2]
                && one[row - 2] == other[column - 1];
            if swapped {
                least = least.min(before_last[column - 2] + 1);
            }
            next[column] = least;
        }
        before_last = std::mem::replace(&mut last, next);
    }
    last[other.len()]
}
