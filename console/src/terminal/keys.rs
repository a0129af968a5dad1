//! The page of keys.

use crate::show::page::{Line, Role};
use crate::values::text;

/// The keys, each with what it does.
pub const KEYS: &[(&str, &str)] = &[
    ("q Ctrl-C", "quit"),
    ("? F1", "show these keys, or go back"),
    ("j k ↓ ↑", "select a row"),
    ("Enter", "look into the row"),
    ("Esc Backspace", "go back out"),
    ("g G Tab", "next, previous grouping"),
    (
        "u J A t O",
        "users, jobs, accounts (of a store), targets, operations",
    ),
    ("s S", "next, previous order"),
    ("/", "filter names: make !root"),
    ("m", "all targets, MDTs only, OSTs only"),
    ("x X", "raise, lower the minimum of requests/s"),
    ("a c", "all again: no filter, no limit"),
    ("r", "rates, or amounts"),
    ("+ -", "average over a longer, shorter time"),
    ("n N", "one row more, less"),
    ("[ ]", "read more, less often"),
    ("Space p", "pause, go on; live readings are made meanwhile"),
    ("1 2 3 h", "head, bars, foot on and off; head and foot"),
    ("l L", "legend; logarithmic bars"),
    ("← →", "recording, store: a reading back, forward"),
    ("PgUp PgDn", "ten readings back, forward"),
    ("Home End", "first, last reading; End of a store is live"),
    ("< , > .", "slower, faster"),
];

/// Returns the lines of the page of keys: in two columns if one is too long.
pub fn help(width: usize, height: usize) -> Vec<Line> {
    let key = |(keys, does): &(&str, &str)| format!(" {} {does}", text::left(keys, 14));
    let mut lines = vec![Line::of(" Keys", Role::Title)];
    let room = height.saturating_sub(1).max(1);
    if KEYS.len() <= room {
        lines.extend(
            KEYS.iter()
                .map(|it| Line::of(key(it), Role::Plain).cut(width)),
        );
    } else {
        let half = KEYS.len().div_ceil(2);
        let column = width / 2;
        for (at, left) in KEYS.iter().take(half).enumerate() {
            let right = KEYS.get(half + at).map(key).unwrap_or_default();
            let text = format!("{}{right}", text::left(&key(left), column));
            lines.push(Line::of(text, Role::Plain).cut(width));
        }
    }
    lines.resize(height, Line::default());
    lines
}
