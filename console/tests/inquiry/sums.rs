//! Totals of an answer, and the sums of its rankings, as text, JSON and HTML show them.

use super::*;

/// Compares the rows of each screen with their sums, and its numbers with SQL: exactly in JSON, to three digits in text and on pages.
pub fn parts_add_up(store: &Store) {
    let mut client = Client::connect(&store.url, NoTls).unwrap();
    for (asked, filter) in [
        (vec!["job", "11"], "job=11"),
        (vec!["user", "user1000", "--from", "3h"], "user=user1000"),
        (
            vec!["target", "scratch-MDT0000", "--from", "3h"],
            "target=scratch-MDT0000",
        ),
        (
            vec!["target", "scratch-OST0000", "--from", "3h"],
            "target=scratch-OST0000",
        ),
    ] {
        let answer = store.json(&[&asked[..], &["--json"]].concat());
        let usage = answer["usage"].as_array().unwrap().iter();
        let (mut totals, mut rates) = (BTreeMap::new(), BTreeMap::new());
        for used in usage {
            let operation = used["operation"].as_str().unwrap();
            let statement = format!(
                "SELECT coalesce(sum(total), 0)::float8 FROM jobstats_totals({}, {}, '{operation}', '', '{filter} kind={}')",
                answer["since"].to_string().replace('"', "'"),
                answer["until"].to_string().replace('"', "'"),
                if is_part(operation) { "MDT" } else { "*" },
            );
            let total = used["total"].as_f64().unwrap_or(0.0);
            let expected: f64 = client.query_one(&statement, &[]).unwrap().get(0);
            assert!(is_near(total, expected, 1e-9), "{total}: {statement}");
            totals.insert(operation.to_owned(), total);
            rates.insert(operation.to_owned(), used["rate"].as_f64().unwrap_or(0.0));
        }
        add_up(&rates, &[], 1e-9, &asked);
        let rankings = answer["rankings"].as_array().unwrap().iter();
        let rankings = rankings.map(|ranking| {
            let rows = ranking["rows"].as_array().unwrap().iter();
            let row = |row: &Value| COLUMNS.map(|(operation, ..)| row[operation].as_f64());
            Ranked {
                rows: rows.map(row).collect(),
                is_whole: true,
            }
        });
        add_up(&totals, &rankings.collect::<Vec<_>>(), 1e-9, &asked);
        let text = store.text(&asked);
        let (shown, rankings) = of_text(&text);
        add_up(&shown, &rankings, ROUNDING, &asked);
        are_the_same(&shown, &totals);
        let page = plain(&store.text(&[&asked[..], &["--html", "-"]].concat()));
        let (shown, rankings) = of_page(&page);
        add_up(&shown, &rankings, ROUNDING, &asked);
        are_the_same(&shown, &totals);
    }
}

/// The sample of the documentation is what the program prints.
#[test]
pub fn the_documentation_adds_up() {
    let documentation = include_str!("../../../docs/job-pages.md");
    let sample = documentation
        .split("```")
        .find(|it| it.contains("  Job 1003"))
        .unwrap();
    let (totals, rankings) = of_text(sample);
    assert!(totals.len() > 5 && !rankings.is_empty(), "{totals:?}");
    add_up(&totals, &rankings, ROUNDING, &["docs"]);
}

/// The part that numbers of three digits may miss of a sum.
pub const ROUNDING: f64 = 0.01;

/// The operations of a ranking, with the labels of their totals, and the titles of their columns on a page.
pub const COLUMNS: [(&str, &str, &str); 4] = [
    ("service_time", "Server time", "Server time"),
    ("read_bytes", "Read", "Read"),
    ("write_bytes", "Written", "Written"),
    ("metadata", "Metadata requests", "Metadata"),
];

/// The groups of a dimension, each with its numbers.
pub struct Ranked {
    rows: Vec<[Option<f64>; 4]>,
    /// False if groups are left out.
    is_whole: bool,
}

pub type Totals = BTreeMap<String, f64>;

pub fn is_part(operation: &str) -> bool {
    OPERATIONS
        .iter()
        .any(|it| it.metadata && it.name == operation)
}

pub fn is_near(one: f64, other: f64, part: f64) -> bool {
    (one - other).abs() <= part * one.abs().max(other.abs())
}

/// Asserts that metadata requests are the sum of their parts, and that groups add up to totals.
#[track_caller]
pub fn add_up(totals: &Totals, rankings: &[Ranked], rounding: f64, asked: &[&str]) {
    let is_sum = |sum: f64, total: f64, is_whole: bool| {
        is_near(sum, total, rounding) || !is_whole && sum < total
    };
    let total = |name: &str| totals.get(name).copied().unwrap_or(0.0);
    let parts = totals
        .iter()
        .filter(|(name, _)| is_part(name))
        .map(|(_, part)| part);
    let is_whole = !totals.contains_key("also");
    assert!(
        is_sum(parts.sum(), total("metadata"), is_whole),
        "{asked:?}: {totals:?}"
    );
    for ranking in rankings {
        for (at, (operation, ..)) in COLUMNS.iter().enumerate() {
            let sum = ranking.rows.iter().filter_map(|row| row[at]).sum();
            let is_sum = is_sum(sum, total(operation), ranking.is_whole);
            assert!(is_sum, "{asked:?}: {operation}: {sum} of {totals:?}");
        }
    }
}

/// Asserts that a screen has the sums, and no number that is another one.
#[track_caller]
pub fn are_the_same(shown: &Totals, totals: &Totals) {
    let sums = COLUMNS.iter().map(|(operation, ..)| *operation);
    let names = shown.keys().map(String::as_str).chain(sums);
    for name in names.filter(|name| *name != "also") {
        let [shown, total] = [shown, totals].map(|it| it.get(name).copied().unwrap_or(0.0));
        assert!(
            is_near(shown, total, ROUNDING),
            "{name}: {shown} is not {total}"
        );
    }
}

/// Returns a number as a person reads it, in base units.
pub fn amount(text: &str) -> Option<f64> {
    let (digits, unit) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let factor = match unit.trim_end_matches("/s").trim_end_matches('B') {
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "%" => 0.01,
        "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        other => unreachable!("{other}"),
    };
    // Less than something may be half of it.
    let factor = if digits.starts_with('<') {
        factor / 2.0
    } else {
        factor
    };
    let digits = digits.trim_start_matches(['<', '>']).trim_end_matches("/s");
    digits.parse::<f64>().ok().map(|number| number * factor)
}

/// Returns the operation of a label.
pub fn operation(label: &str) -> String {
    let known = COLUMNS.iter().find(|(_, known, _)| *known == label);
    known.map_or(label, |(operation, ..)| operation).to_owned()
}

/// The titles of a line, each with the end of its column.
fn titles(line: &str) -> Vec<(String, usize)> {
    let mut end = 0;
    let titles = line.split("  ").map(|title| {
        end += title.chars().count() + 2;
        (title.trim().to_owned(), end - 2)
    });
    titles.filter(|(title, _)| !title.is_empty()).collect()
}

/// Reads the totals and rankings of a page as text.
pub fn of_text(text: &str) -> (Totals, Vec<Ranked>) {
    let (mut totals, mut rankings) = (Totals::new(), Vec::<Ranked>::new());
    let mut columns = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with("───")) {
        let number = |title: &str| {
            let at = columns.iter().position(|(it, _)| it == title)?;
            let (from, to): (usize, usize) = (columns[at - 1].1, columns[at].1);
            let cell = line.chars().skip(from).take(to - from).collect::<String>();
            amount(cell.rsplit("  ").next().unwrap())
        };
        if line.starts_with(" By ") && line.contains("Server time") {
            columns = titles(line);
            rankings.push(Ranked {
                rows: Vec::new(),
                is_whole: true,
            });
        } else if line.starts_with(" Totals ") {
            columns = titles(line);
        } else if line.is_empty() {
            columns.clear();
        } else if line.starts_with("   also ") {
            totals.insert("also".to_owned(), 0.0);
        } else if columns.first().is_some_and(|(title, _)| title == "Totals") {
            let name = operation(line.trim().split("  ").next().unwrap());
            if is_part(&name) || COLUMNS.iter().any(|(known, ..)| *known == name) {
                totals.insert(name, number("Total").unwrap_or(0.0));
            }
        } else if let Some(last) = rankings.last_mut().filter(|_| !columns.is_empty()) {
            match line.ends_with(" more") {
                true => last.is_whole = false,
                false => last.rows.push(COLUMNS.map(|(.., title)| number(title))),
            }
        }
    }
    (totals, rankings)
}

/// Reads the totals and rankings of a page.
pub fn of_page(page: &str) -> (Totals, Vec<Ranked>) {
    let (_, rows) = table(page, "Totals").unwrap();
    let totals = rows
        .iter()
        .map(|row| (operation(&row[0]), amount(&row[1]).unwrap_or(0.0)));
    let rankings = ["By target", "By job", "By user", "By node"];
    let rankings = rankings.iter().filter_map(|caption| table(page, caption));
    let rankings = rankings.map(|(titles, rows)| {
        let row = |row: &Vec<String>| {
            COLUMNS.map(|(.., title)| {
                let at = titles.iter().position(|it| it == title)?;
                amount(&row[at])
            })
        };
        Ranked {
            rows: rows.iter().map(row).collect(),
            is_whole: true,
        }
    });
    (totals.collect(), rankings.collect())
}

/// Returns the titles and the rows of a table of a page.
pub fn table(page: &str, caption: &str) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let (_, rest) = page.split_once(&format!("<h3>{caption}</h3>"))?;
    let (table, _) = rest.split_once("</table>")?;
    let cells = |row: &str| -> Vec<String> {
        let cells = row.split("</th>").flat_map(|it| it.split("</td>"));
        // The text follows the last tag.
        let texts = cells
            .filter(|it| it.contains("<t"))
            .map(|it| it.rsplit('>').next().unwrap());
        texts.map(str::to_owned).collect()
    };
    let mut rows = table
        .split("</tr>")
        .map(cells)
        .filter(|row| !row.is_empty());
    Some((rows.next()?, rows.collect()))
}

/// Returns a page as it reads, without what keeps lines from ending.
pub fn plain(page: &str) -> String {
    let names = page.split("<span class=\"whole\">");
    let names = names.enumerate().map(|(at, part)| match at {
        0 => part.to_owned(),
        _ => part.replacen("</span>", "", 1),
    });
    let signs = [("\u{a0}", " "), ("&lt;", "<"), ("&gt;", ">")];
    signs
        .iter()
        .fold(names.collect::<String>(), |page, (sign, read)| {
            page.replace(sign, read)
        })
}

/// The users, accounts and jobs of a report add up to the total of the function, and the numbers of a chart to its statement.
pub fn a_report_adds_up(store: &Store, page: &str, from: &str) {
    let mut client = Client::connect(&store.url, NoTls).unwrap();
    let statement = format!("SELECT rate FROM jobstats_rates('{from}', now(), 'service_time', '')");
    let mean: f64 = client.query_one(&statement, &[]).unwrap().get(0);
    let lead = page.split_once("<p class=\"lead\">").unwrap().1;
    let said = amount(lead.split_once(" requests in service").unwrap().0).unwrap();
    assert!(is_near(said, mean, ROUNDING), "{said} is not {mean}");
    for caption in ["Users", "Accounts", "Jobs"] {
        for (title, whole) in [("In service", mean), ("Share", 1.0)] {
            let sum = sum_of_column(page, caption, title);
            assert!(is_near(sum, whole, 0.02), "{caption}, {title}: {sum}");
        }
    }
    for (heading, title, column) in [
        ("Load", "Load", "rate"),
        ("Each target, by requests in service", "Load", "rate"),
        ("Number of users by rate", "Users", "count"),
        ("Bytes written to each OST", "Rate", "rate"),
    ] {
        let (_, figure) = page.split_once(&format!("<h3>{heading}</h3>")).unwrap();
        let statement = statements(figure).remove(0);
        let statement = statement.trim_end_matches(';');
        let statement = format!("SELECT sum({column})::double precision FROM ({statement}) answer");
        let answer: f64 = client.query_one(&statement, &[]).unwrap().get(0);
        let sum = sum_of_column(page, heading, title);
        assert!(
            answer > 0.0 && is_near(sum, answer, 0.01),
            "{heading}: {sum}, {answer}"
        );
    }
}

/// Returns the sum of a column of the first table below a heading.
pub fn sum_of_column(page: &str, heading: &str, title: &str) -> f64 {
    let (titles, rows) = table(page, heading).unwrap();
    let at = titles.iter().position(|it| it == title).unwrap();
    rows.iter().filter_map(|row| amount(&row[at])).sum()
}
