//! A subject as text of one screen, in 80 columns.

use jobstats_core::quantity::Quantity;

use super::questions::is_part;
use super::{COURSE, Kind, Ranked, Ranking, Subject, Usage, Value, number};
use crate::number::{Number, bar, sparkline};
use crate::text::{self, cut, left, right, shown, width};
use crate::when::{self, Clock};

/// The width of a sheet.
const WIDTH: usize = 80;

/// The number of rows of a ranking.
const ROWS: usize = 5;

/// The number of operations that are shown besides the sums.
const OPERATIONS: usize = 4;

/// Returns the lines of the sheet, none of which is wider than 80 cells.
pub fn sheet(subject: &Subject, clock: &Clock) -> String {
    let mut lines = vec!["=".repeat(WIDTH)];
    let title = format!(
        "Lustre use of {} {}",
        subject.kind.name(),
        shown(&subject.name)
    );
    lines.push(centred(&cut(&title, WIDTH)));
    lines.push("=".repeat(WIDTH));
    lines.extend(facts(subject, clock));
    lines.extend(usage(subject));
    lines.extend(course(subject, clock));
    for ranking in &subject.rankings {
        lines.extend(ranked(ranking));
    }
    let notes = subject.findings.iter().chain(&subject.notes);
    let notes: Vec<_> = notes.flat_map(|note| note_lines(note)).collect();
    if !notes.is_empty() {
        lines.push(heading("Notes", ""));
        lines.extend(notes);
    }
    let mut text = String::new();
    for line in lines {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn centred(text: &str) -> String {
    let blanks = WIDTH.saturating_sub(width(text)) / 2;
    format!("{}{text}", " ".repeat(blanks))
}

/// Returns the line above a part: its title, and what is said of its numbers.
fn heading(title: &str, said: &str) -> String {
    let rest = WIDTH.saturating_sub(width(title) + width(said) + 5);
    let said = if said.is_empty() {
        String::new()
    } else {
        format!(" {said}")
    };
    format!(
        "── {title}{said} {}",
        "─".repeat(rest + usize::from(said.is_empty()))
    )
}

fn facts(subject: &Subject, clock: &Clock) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for two in subject.facts.chunks(2) {
        let cells = two.iter().map(|fact| {
            let value = left(&shown(&value(&fact.value, clock)), 22);
            format!("{}: {value}", right(fact.label, 15))
        });
        lines.push(cells.collect::<Vec<_>>().join(" "));
    }
    let label = if subject.kind == Kind::Job {
        "Seen"
    } else {
        "Window"
    };
    let window = clock.window(subject.window);
    lines.push(format!("{}: {window} ({})", right(label, 15), clock.name()));
    lines
}

/// Returns the text of a property.
pub fn value(value: &Value, clock: &Clock) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Count(count) => count.to_string(),
        Value::Time(time) => clock.second(*time),
        Value::Length(seconds) => when::length(*seconds),
        Value::Number(number) => Number::of(Some(*number), "service_time", Quantity::Rate).text(),
        Value::Share(share) => Number::percent(Some(*share)).text(),
    }
}

/// Returns the words for an operation.
pub fn label(operation: &str) -> &str {
    match operation {
        "read_bytes" => "Read",
        "write_bytes" => "Written",
        "metadata" => "Metadata requests",
        "service_time" => "Server time",
        other => other,
    }
}

/// Returns the operations that are part of the metadata requests, largest first.
pub fn parts(subject: &Subject) -> Vec<&Usage> {
    let is_done = |usage: &Usage| usage.total.is_some_and(|total| !total.is_zero());
    let parts = subject.usage.iter();
    let mut parts: Vec<_> = parts
        .filter(|usage| is_part(&usage.operation) && is_done(usage))
        .collect();
    parts.sort_by_key(|usage| std::cmp::Reverse(usage.total));
    parts
}

fn usage(subject: &Subject) -> Vec<String> {
    let step = when::width(subject.course.step);
    let has_course = !subject.course.steps.is_empty();
    let highest = if has_course {
        format!("highest in {step}")
    } else {
        String::new()
    };
    let mut lines = vec![
        String::new(),
        format!(
            " {}{}{}{}{}",
            left("What it did", 20),
            right("total", 12),
            right("mean", 14),
            right(&highest, 18),
            right("per call", 14)
        ),
        "─".repeat(WIDTH),
    ];
    let mut names: Vec<&str> = vec!["read_bytes", "write_bytes", "metadata"];
    let parts = parts(subject);
    names.extend(
        parts
            .iter()
            .take(OPERATIONS)
            .map(|it| it.operation.as_str()),
    );
    for name in names {
        lines.extend(subject.used(name).map(|usage| operation(subject, usage)));
    }
    if parts.len() > OPERATIONS {
        let others = parts[OPERATIONS..].iter().map(|it| it.operation.as_str());
        let others = format!("   also {}", others.collect::<Vec<_>>().join(", "));
        lines.push(cut(&others, WIDTH));
    }
    let time = subject.used("service_time");
    lines.extend(time.map(|usage| operation(subject, usage)));
    if subject.usage.is_empty() {
        lines.push(" No server observed any work.".to_owned());
    }
    lines
}

fn operation(subject: &Subject, usage: &Usage) -> String {
    let name = usage.operation.as_str();
    let is_sum = COURSE.contains(&name);
    let indent = if is_sum { " " } else { "   " };
    let total = usage.total.map(number);
    let rate = Number::of(usage.rate, name, Quantity::Rate).text();
    let highest = subject.course.highest(name);
    let highest = match (is_sum, subject.course.steps.is_empty()) {
        (true, false) => Number::of(highest, name, Quantity::Rate).text(),
        _ => String::new(),
    };
    let unit = if name == "service_time" { " busy" } else { "" };
    format!(
        "{}{}{}{}{}",
        left(&format!("{indent}{}", label(name)), 21),
        right(&Number::of(total, name, Quantity::Total).text(), 12),
        right(&format!("{rate}{unit}"), 14),
        right(
            &format!("{highest}{}", if highest.is_empty() { "" } else { unit }),
            18
        ),
        right(
            &Number::of(usage.per_call, name, Quantity::PerCall).text(),
            14
        )
    )
}

fn course(subject: &Subject, clock: &Clock) -> Vec<String> {
    let steps = &subject.course.steps;
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
        return Vec::new();
    };
    let said = format!(
        "each bar {}, to its own maximum",
        when::width(subject.course.step)
    );
    let mut lines = vec![String::new(), heading("Over time", &said)];
    for (place, name) in COURSE.iter().enumerate() {
        let rates = subject.course.rates(place);
        // A line of an operation that was never done, or cannot be known, says nothing.
        if rates.iter().flatten().any(|rate| *rate > 0.0) {
            let label = left(&format!(" {}", label(name)), 19);
            lines.push(format!("{label}{}", sparkline(&rates, WIDTH - 20)));
        }
    }
    let (start, end) = (
        clock.within(first.time, subject.window),
        clock.within(subject.window.1.max(last.time), subject.window),
    );
    let room = steps.len().max(width(&start) + width(&end) + 2) - width(&end);
    lines.push(format!("{}{}{end}", " ".repeat(19), left(&start, room)));
    lines
}

fn ranked(ranking: &Ranking) -> Vec<String> {
    if ranking.rows.is_empty() {
        return Vec::new();
    }
    let title = format!("By {}", ranking.by);
    let mut lines = vec![
        String::new(),
        format!(
            " {}{}{}{}{}{}",
            left(&title, 28),
            left("", 15),
            right("srv time", 9),
            right("read", 9),
            right("written", 9),
            right("metadata", 9)
        ),
        "─".repeat(WIDTH),
    ];
    let shown = ranking.rows.iter().take(ROWS);
    lines.extend(shown.map(|row| ranked_row(ranking, row)));
    let more = ranking.rows.len().saturating_sub(ROWS) + ranking.more;
    if more > 0 {
        let rest = ranking.rows[ROWS..].iter().filter_map(|row| row.share);
        let share = Number::percent(Some(rest.sum())).text();
        lines.push(format!(" {more} more, {share}"));
    }
    lines
}

fn ranked_row(ranking: &Ranking, row: &Ranked) -> String {
    let name = match &row.name {
        Some(name) => shown(name),
        None => format!("(no {})", ranking.by),
    };
    let name = match &row.detail {
        Some(detail) => format!("{name} {}", shown(detail)),
        None => name,
    };
    let total = |amount: Option<_>, name| {
        right(
            &Number::of(amount.map(number), name, Quantity::Total).text(),
            9,
        )
    };
    format!(
        " {}{} {}{}{}{}{}",
        left(&text::cut(&name, 27), 28),
        left(&bar(row.share.unwrap_or_default(), 8), 8),
        left(&right(&Number::percent(row.share).text(), 5), 6),
        total(row.service_time, "service_time"),
        total(row.read_bytes, "read_bytes"),
        total(row.write_bytes, "write_bytes"),
        total(row.metadata, "metadata")
    )
}

/// Breaks a note into lines.
fn note_lines(note: &str) -> Vec<String> {
    let mut lines = vec![" * ".to_owned()];
    for word in shown(note).split(' ') {
        let mut word = word.to_owned();
        let last = lines.last().map_or(0, |line| width(line));
        if last > 3 && last + 1 + width(&word) > WIDTH {
            lines.push("   ".to_owned());
        }
        // A word that is longer than a line, such as a name, is cut into pieces.
        while width(&word) > WIDTH - 3 {
            let piece: String = word.chars().take((WIDTH - 3) / 2).collect();
            word = word[piece.len()..].to_owned();
            push(&mut lines, &piece);
            lines.push("   ".to_owned());
        }
        push(&mut lines, &word);
    }
    lines
}

fn push(lines: &mut [String], word: &str) {
    if let Some(line) = lines.last_mut() {
        if width(line) > 3 {
            line.push(' ');
        }
        line.push_str(word);
    }
}

#[cfg(test)]
mod tests;
