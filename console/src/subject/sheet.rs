//! A subject as text of one screen.

use jobstats_client::answers::FindingRow;
use ratatui::crossterm::style::Stylize;

use super::findings::said;
use super::questions::is_part;
use super::space::{self, Space};
use super::{COURSE, Kind, Ranking, RankingRow, Subject, Usage, Value, number};
use crate::values::number::{
    bar, calls, difference, joules, mean, per_call, percent, rate, ratio, sparkline, total,
};
use crate::values::text::{cut, left, right, shown, width};
use crate::values::when::{self, Clock};

/// The narrowest and the widest sheet.
const WIDTHS: (usize, usize) = (56, 100);

/// The minimum width of a complete sheet.
const WHOLE: usize = 79;

/// The number of rows of a ranking.
const ROWS: usize = 5;

/// The number of operations that are shown besides the sums.
const OPERATIONS: usize = 4;

/// Returns the lines of the sheet, at most so many cells wide. The minimum is 56, and lines over 100 would be hard to read. The levels of
/// findings may be coloured in addition to their word.
pub fn sheet(subject: &Subject, clock: &Clock, cells: usize, is_coloured: bool) -> String {
    let cells = cells.clamp(WIDTHS.0, WIDTHS.1);
    let mut lines = vec!["=".repeat(cells)];
    let (kind, name) = (subject.kind.name(), shown(&subject.name));
    let title = format!("Lustre use of {kind} {name}");
    lines.push(centred(&cut(&title, cells), cells));
    lines.push("=".repeat(cells));
    lines.extend(facts(subject, clock, cells));
    if let Some(meanwhile) = &subject.meanwhile {
        lines.push(heading("While it ran", cells));
        let sentences = meanwhile.sentences(clock, subject.work.window);
        lines.extend(sentences.iter().flat_map(|it| broken(" ", it, cells)));
    }
    lines.extend(usage(subject, cells));
    lines.extend(course(subject, clock, cells));
    lines.extend(subject.space.iter().flat_map(|it| owned(it, clock, cells)));
    for ranking in &subject.rankings {
        lines.extend(ranked(ranking, cells));
    }
    if !subject.findings.is_empty() {
        lines.push(heading("What could be better", cells));
        let findings = subject.findings.iter();
        lines.extend(findings.flat_map(|it| found(it, cells, is_coloured)));
    }
    let notes = subject.notes.iter();
    let notes: Vec<_> = notes.flat_map(|note| broken(" * ", note, cells)).collect();
    if !notes.is_empty() {
        lines.push(heading("Notes", cells));
        lines.extend(notes);
    }
    let lines = lines.iter().map(|line| format!("{}\n", line.trim_end()));
    lines.collect()
}

fn centred(text: &str, cells: usize) -> String {
    let blanks = cells.saturating_sub(width(text)) / 2;
    format!("{}{text}", " ".repeat(blanks))
}

/// Returns the line above a part, with its title.
fn heading(title: &str, cells: usize) -> String {
    let rest = cells.saturating_sub(width(title) + 4);
    format!("── {title} {}", "─".repeat(rest))
}

fn facts(subject: &Subject, clock: &Clock, cells: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let columns = if cells < WHOLE { 1 } else { 2 };
    let room = (cells - 1) / columns - 17;
    for facts in subject.facts.chunks(columns) {
        let facts = facts.iter().map(|fact| {
            let value = left(&shown(&value(&fact.value, clock)), room);
            format!("{}: {value}", right(fact.label, 15))
        });
        lines.push(facts.collect::<Vec<_>>().join(" "));
    }
    let label = match subject.kind {
        Kind::Job => "Seen",
        Kind::User | Kind::Target => "Window",
    };
    let window = clock.window(subject.work.window);
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
        Value::Joules(energy) => joules(*energy),
        Value::Number(number) => ratio(*number),
        Value::Share(share) => percent(*share),
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
fn parts(subject: &Subject) -> Vec<&Usage> {
    let is_done = |usage: &Usage| usage.total.is_some_and(|total| !total.is_zero());
    let parts = subject.usage.iter();
    let parts = parts.filter(|usage| is_part(&usage.operation) && is_done(usage));
    let mut parts: Vec<_> = parts.collect();
    parts.sort_by_key(|usage| std::cmp::Reverse(usage.total));
    parts
}

fn usage(subject: &Subject, cells: usize) -> Vec<String> {
    let highest = match subject.course.steps.is_empty() {
        true => String::new(),
        false => format!("highest in {}", when::width(subject.course.step)),
    };
    let titles = ["total", "mean", &highest, "per call"].map(str::to_owned);
    let mut lines = vec![
        String::new(),
        used(" What it did", titles, cells),
        "─".repeat(cells),
    ];
    let sums = ["read_bytes", "write_bytes", "metadata"].into_iter();
    let sums = sums.filter_map(|name| subject.used(name));
    let parts = parts(subject);
    let (first, others) = parts.split_at(parts.len().min(OPERATIONS));
    let shown = sums.chain(first.iter().copied());
    lines.extend(shown.map(|usage| operation(subject, usage, cells)));
    if !others.is_empty() {
        let others = others.iter().map(|it| it.operation.as_str());
        let others = format!("   also {}", others.collect::<Vec<_>>().join(", "));
        lines.push(cut(&others, cells));
    }
    let time = subject.used("service_time");
    lines.extend(time.map(|usage| operation(subject, usage, cells)));
    if subject.usage.is_empty() {
        lines.push(" No server observed any work.".to_owned());
    }
    lines
}

/// Returns a line of usage: its name and its numbers. The highest rate is left out first, and then the size of a call.
fn used(name: &str, [total, mean, highest, per_call]: [String; 4], cells: usize) -> String {
    let mut line = left(name, 21 + cells.saturating_sub(80));
    line += &right(&total, 12);
    line += &right(&mean, 14);
    if cells >= WHOLE {
        line += &right(&highest, 18);
    }
    if cells >= WHOLE - 18 {
        line += &right(&per_call, 14);
    }
    line
}

fn operation(subject: &Subject, usage: &Usage, cells: usize) -> String {
    let name = usage.operation.as_str();
    let is_sum = COURSE.contains(&name);
    let indent = if is_sum { " " } else { "   " };
    let unit = if name == "service_time" { " busy" } else { "" };
    let busy = |value: Option<f64>| format!("{}{unit}", rate(value, name));
    let highest = match is_sum && !subject.course.steps.is_empty() {
        true => busy(subject.course.highest(name)),
        false => String::new(),
    };
    let numbers = [
        total(usage.total.map(number), name),
        busy(usage.rate),
        highest,
        per_call(usage.per_call, name),
    ];
    used(&format!("{indent}{}", label(name)), numbers, cells)
}

fn course(subject: &Subject, clock: &Clock, cells: usize) -> Vec<String> {
    let steps = &subject.course.steps;
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
        return Vec::new();
    };
    // A narrow sheet joins steps to fewer bars.
    let joined = steps.len().div_ceil(cells - 20);
    let bar = when::width(subject.course.step * joined as i64);
    let title = format!("Over time each bar {bar}, to its own maximum");
    let mut lines = vec![String::new(), heading(&title, cells)];
    for (place, name) in COURSE.iter().enumerate() {
        let bars = steps.chunks(joined);
        let bars = bars.map(|bar| mean(bar.iter().filter_map(|step| step.rates[place])));
        let rates: Vec<_> = bars.collect();
        // Skip operations that are zero or unknown.
        if rates.iter().flatten().any(|rate| *rate > 0.0) {
            let label = left(&format!(" {}", label(name)), 19);
            lines.push(format!("{label}{}", sparkline(&rates, cells - 20)));
        }
    }
    let window = subject.work.window;
    let start = clock.within(first.time, window);
    let end = clock.within(window.1.max(last.time), window);
    let bars = steps.len().div_ceil(joined);
    let room = bars.max(width(&start) + width(&end) + 2) - width(&end);
    lines.push(format!("{}{}{end}", " ".repeat(19), left(&start, room)));
    lines
}

fn ranked(ranking: &Ranking, cells: usize) -> Vec<String> {
    if ranking.rows.is_empty() {
        return Vec::new();
    }
    let title = format!("By {}", ranking.by);
    let titles = ["srv time", "read", "written", "metadata"].map(|title| right(title, 9));
    let mut lines = vec![
        String::new(),
        format!(" {}{}", left(&title, cells - 37), titles.concat()),
        "─".repeat(cells),
    ];
    let shown = ranking.rows.iter().take(ROWS);
    lines.extend(shown.map(|row| ranked_row(ranking, row, cells)));
    let more = ranking.rows.len().saturating_sub(ROWS) + ranking.more;
    if more > 0 {
        let rest = ranking.rows[ROWS..].iter().filter_map(|row| row.share);
        let share = percent(rest.sum::<f64>());
        lines.push(format!(" {more} more, {share}"));
    }
    lines
}

fn ranked_row(ranking: &Ranking, row: &RankingRow, cells: usize) -> String {
    let mut name = ranking.shown(row);
    if let Some(detail) = &row.detail {
        name = format!("{name} {}", shown(detail));
    }
    // There is no bar where it would leave no room for a name.
    let bar = match cells < 65 {
        true => String::new(),
        false => left(&bar(row.share.unwrap_or_default(), 8), 9),
    };
    let room = cells - 43 - width(&bar);
    let amounts = row.amounts();
    let amounts = amounts.map(|(name, amount)| right(&total(amount.map(number), name), 9));
    format!(
        " {}{bar}{}{}",
        left(&cut(&name, room - 1), room),
        left(&right(&percent(row.share), 5), 6),
        amounts.concat()
    )
}

/// Returns the part about space. A narrow sheet leaves out the part of all, and the inodes that were added.
fn owned(space: &Space, clock: &Clock, cells: usize) -> Vec<String> {
    let line = |name: &str, texts: [String; 6]| {
        let widths = [11, 7, 11, 10, 10, 10];
        let columns = texts.iter().zip(widths).enumerate();
        let columns = columns.filter(|(at, _)| cells >= WHOLE || ![1, 4].contains(at));
        let columns: Vec<_> = columns.map(|(_, column)| column).collect();
        let width: usize = columns.iter().map(|(_, width)| width).sum();
        let columns = columns.iter().map(|(text, width)| right(text, *width));
        let room = cells - width;
        let name = left(&format!(" {}", cut(name, room - 2)), room);
        format!("{name}{}", columns.collect::<String>())
    };
    let titles = ["used", "part", "added", "inodes", "added", "targets"].map(str::to_owned);
    let mut lines = vec![String::new(), line("Space", titles), "─".repeat(cells)];
    let bytes = |bytes: f64| total(bytes, "bytes");
    lines.extend(space.answered.rows.iter().take(ROWS).map(|row| {
        let numbers = [
            bytes(number(row.bytes)),
            percent(space.share(row)),
            difference(row.added_bytes.map(number), bytes),
            total(row.inodes.map(number), "open"),
            difference(row.added_inodes.map(number), calls),
            space::targets(row),
        ];
        line(&shown(&space.place(row)), numbers)
    }));
    let since = space.since.map(|since| clock.minute(since));
    let since = since.map(|since| format!(", added since {since}"));
    let read = space.read().map(|read| clock.minute(read));
    let read = read.map(|read| format!(" Read at {read}{}", since.unwrap_or_default()));
    lines.extend(read);
    lines
}

/// Returns the lines of a finding, starting with its level.
fn found(finding: &FindingRow, cells: usize, is_coloured: bool) -> Vec<String> {
    let level = cut(&shown(&finding.level), 4);
    let lead = left(&format!(" {level}"), 6);
    let mut lines = broken(&lead, &said(finding), cells);
    if let Some(first) = lines.first_mut().filter(|_| is_coloured) {
        let word = match finding.level.as_str() {
            "bad" => level.as_str().red().bold(),
            _ => level.as_str().yellow(),
        };
        *first = first.replacen(&level, &word.to_string(), 1);
    }
    let advice = finding.advice.as_deref().unwrap_or_default();
    lines.extend(broken("      ", advice, cells));
    lines
}

/// Breaks a text into lines, the first starting with these cells.
fn broken(lead: &str, text: &str, cells: usize) -> Vec<String> {
    let indent = width(lead);
    let mut lines = vec![lead.to_owned()];
    for word in shown(text).split(' ') {
        let mut word = word.to_owned();
        let last = lines.last().map_or(0, |line| width(line));
        if last > indent && last + 1 + width(&word) > cells {
            lines.push(" ".repeat(indent));
        }
        // A word that is longer than a line, such as a name, is cut into pieces.
        while width(&word) > cells - indent {
            let piece: String = word.chars().take((cells - indent) / 2).collect();
            word = word[piece.len()..].to_owned();
            push(&mut lines, indent, &piece);
            lines.push(" ".repeat(indent));
        }
        push(&mut lines, indent, &word);
    }
    lines
}

fn push(lines: &mut [String], indent: usize, word: &str) {
    if let Some(line) = lines.last_mut() {
        if width(line) > indent {
            line.push(' ');
        }
        line.push_str(word);
    }
}

#[cfg(test)]
mod tests;
