//! The page of keys.

use crate::show::line::{Line, PLAIN, TITLE, cut, line, push_right};
use crate::values::text;

/// The keys, each with its effect.
pub const KEYS: &[(&str, &str)] = &[
    ("q Ctrl-C", "quit"),
    ("? F1", "show these keys, or go back"),
    ("j k ↓ ↑", "select a row"),
    ("Enter", "look into the row"),
    ("Esc Backspace", "go back"),
    ("g G Tab", "next, previous grouping"),
    (
        "u J A t O",
        "users, jobs, accounts (with a store), targets, operations",
    ),
    ("s S", "next, previous order"),
    ("/", "filter names: make !root"),
    ("m", "all targets, MDTs only, OSTs only"),
    ("x X", "raise, lower the minimum of requests/s"),
    ("a c", "show all: clear filters and limits"),
    ("r", "rates, or amounts"),
    ("+ -", "average over a longer, shorter time"),
    ("n N", "one row more, less"),
    ("[ ]", "read more, less often"),
    ("Space p", "pause, resume; live scrapes continue"),
    ("1 2 3 h", "head, bars, foot on and off; head and foot"),
    ("l L", "legend; logarithmic bars"),
    ("← →", "recording, store: one scrape back, forward"),
    ("PgUp PgDn", "ten scrapes back, forward"),
    ("Home End", "first, last scrape; in a store, End is live"),
    ("< , > .", "slower, faster"),
];

/// Returns the lines of the page of keys: in two columns if one is too long. The first line has an identifier with its meaning.
pub fn help(width: usize, height: usize, example: Option<String>) -> Vec<Line> {
    let key = |(keys, does): &(&str, &str)| format!(" {} {does}", text::left(keys, 14));
    let keys: Vec<_> = KEYS.iter().map(key).collect();
    let mut lines = vec![line(" Keys", TITLE)];
    push_right(
        &mut lines[0],
        example.unwrap_or_default(),
        PLAIN,
        width.saturating_sub(1),
    );
    let (rows, column) = match keys.len() <= height.saturating_sub(1).max(1) {
        true => (keys.len(), width),
        false => (keys.len().div_ceil(2), width / 2),
    };
    for (at, left) in keys.iter().take(rows).enumerate() {
        let right = keys.get(rows + at).map_or("", String::as_str);
        let text = format!("{}{right}", text::left(left, column));
        lines.push(line(text, PLAIN));
    }
    lines.resize(height, Line::default());
    lines.iter_mut().for_each(|line| cut(line, width));
    lines
}
