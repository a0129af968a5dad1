//! Finds the next object behind damage.

use memchr::memchr_iter;

use super::{DEPTH_MAX, Read, object};
use crate::accounting::Job;
use crate::base::pause::Pause;

/// Returns the place of the next object behind damage at a place, or the end of the text.
///
/// An object that begins a line is one. Another one must be a job, must not be the value of a key or an element of a list that has
/// a key, and another object or the end must follow it. So no part of a damaged object is taken for a job. The price is that damage
/// inside a list of objects hides the rest of the text.
pub fn next_object(
    text: &[u8],
    at: usize,
    read: Read,
    budget: &mut usize,
    pause: Pause<'_>,
) -> usize {
    for place in memchr_iter(b'{', text.get(at + 1..).unwrap_or_default()) {
        pause.now();
        if *budget == 0 {
            break;
        }
        let place = at + 1 + place;
        if begins_job(text, at, place, read, budget) {
            return place;
        }
    }
    text.len()
}

/// Returns whether a job begins at a brace behind damage.
fn begins_job(text: &[u8], damage: usize, place: usize, read: Read, budget: &mut usize) -> bool {
    let (before, rest) = text.split_at(place);
    if before.ends_with(b"\n") {
        return true;
    }
    if matches!(before.trim_ascii_end().last(), Some(b':' | b'[')) {
        return false;
    }
    let found = object(rest, read);
    let (Ok((length, _)) | Err(length)) = found;
    *budget = budget.saturating_sub(length);
    let is_job = |job: Job<'_>| job.submitted.is_some();
    let is_job = found.is_ok_and(|(_, job)| job.is_ok_and(|job| job.is_some_and(is_job)));
    if !is_job || !is_followed(&rest[length..]) {
        return false;
    }
    let damaged = before.get(damage..).unwrap_or_default();
    *budget = budget.saturating_sub(damaged.len());
    !ends_in_list(damaged)
}

/// Returns whether an object, or the end of the list or of the text, comes next.
fn is_followed(rest: &[u8]) -> bool {
    match rest.trim_ascii_start() {
        [] | [b']' | b'{', ..] => true,
        [b',', rest @ ..] => matches!(rest.trim_ascii_start(), [] | [b'{', ..]),
        _ => false,
    }
}

/// Returns whether a text ends inside a list that has a key. The text is read backwards, up to damage.
fn ends_in_list(text: &[u8]) -> bool {
    let mut open = Vec::new();
    let mut rest = text;
    let is_part = |byte: &u8| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']');
    // A key or the end follows the brace of an object.
    let opens_object =
        |text: &[u8]| matches!(text[1..].trim_ascii_start().first(), Some(b'"' | b'}'));
    let has_key = |text: &[u8]| {
        let key = text.trim_ascii_end().strip_suffix(b":");
        key.is_some_and(|key| key.trim_ascii_end().ends_with(b"\""))
    };
    while let Some(place) = rest.iter().rposition(is_part) {
        let found = rest.get(place);
        rest = &rest[..place];
        match (found, open.last()) {
            (Some(b'"'), _) => rest = before_string(rest),
            // A value that is too deep is no damage, and may be in a list.
            (Some(b'}' | b']'), _) if open.len() == DEPTH_MAX => return true,
            (Some(b'}'), _) => open.push(b'{'),
            (Some(b']'), _) => open.push(b'['),
            (Some(b'{'), _) if !opens_object(&text[place..]) => return false,
            (Some(opener), Some(expected)) if opener == expected => drop(open.pop()),
            (_, Some(_)) => return false,
            (Some(b'['), None) if has_key(rest) => return true,
            _ => {}
        }
    }
    false
}

/// Returns the text before the string at whose closing quote a text ends.
fn before_string(mut text: &[u8]) -> &[u8] {
    while let Some(place) = text.iter().rposition(|byte| *byte == b'"') {
        text = &text[..place];
        let escapes = text.iter().rev().take_while(|byte| **byte == b'\\').count();
        if escapes.is_multiple_of(2) {
            return text;
        }
    }
    &[]
}
