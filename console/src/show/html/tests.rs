use std::cell::RefCell;
use std::sync::LazyLock;

use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;
use crate::show::chart::Chart;
use crate::show::chart::Words;
use crate::show::chart::bars::{Bar, horizontal, standing};
use crate::show::chart::frame::{Point, Series, TimeAxis};
use crate::show::chart::grid::{counts, heat};
use crate::show::chart::line::{band, lines};
use crate::show::document::{Cell, Figure, Section};
use crate::values::text::is_harmless;
use crate::values::when::Clock;

/// The document as a browser reads it: the elements with their attributes, and the text.
#[derive(Default)]
struct Read {
    elements: RefCell<Vec<String>>,
    open: RefCell<Vec<String>>,
    text: RefCell<String>,
    mistakes: RefCell<Vec<String>>,
}

/// The elements of HTML that have no end.
const VOID: [&str; 1] = ["meta"];

impl Read {
    /// Returns the elements but for those around the words that stand on one line.
    fn lasting(&self) -> Vec<String> {
        let mut elements = self.elements.borrow().clone();
        elements.retain(|element| element != "span class");
        elements
    }

    fn tag(&self, tag: &Tag) {
        let name = tag.name.to_string();
        match tag.kind {
            TagKind::StartTag => {
                let mut names: Vec<_> = tag
                    .attrs
                    .iter()
                    .map(|it| it.name.local.to_string())
                    .collect();
                names.sort();
                let element = format!("{name} {}", names.join(" "));
                self.elements.borrow_mut().push(element);
                if !tag.self_closing && !VOID.contains(&name.as_str()) {
                    self.open.borrow_mut().push(name);
                }
            }
            TagKind::EndTag => {
                let open = self.open.borrow_mut().pop();
                if open.as_ref() != Some(&name) {
                    let mistake = format!("{name} ends where {open:?} is open");
                    self.mistakes.borrow_mut().push(mistake);
                }
            }
        }
    }
}

impl TokenSink for Read {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) => self.tag(&tag),
            Token::CharacterTokens(text) => self.text.borrow_mut().push_str(&text),
            Token::ParseError(error) => self.mistakes.borrow_mut().push(error.into_owned()),
            Token::CommentToken(comment) => self.mistakes.borrow_mut().push(comment.to_string()),
            Token::NullCharacterToken => self.mistakes.borrow_mut().push("NUL".to_owned()),
            Token::DoctypeToken(_) | Token::EOFToken => {}
        }
        TokenSinkResult::Continue
    }
}

fn read(document: &str) -> Read {
    let input = BufferQueue::default();
    input.push_back(document.into());
    let tokenizer = Tokenizer::new(Read::default(), TokenizerOpts::default());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink
}

fn time(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// Returns one of each chart, with this name in every place that has one.
fn charts(name: &str) -> Vec<Chart> {
    let clock = Clock::new(TimeZone::UTC);
    let axis = TimeAxis::new((time(0), time(1200)), &clock);
    let words = Words::new(name, name);
    let point = |at, value| Point {
        time: time(at),
        seconds: 600.0,
        value,
    };
    let series = vec![Series {
        name: name.to_owned(),
        points: vec![point(0, Some(2.0)), point(600, None)],
    }];
    let points = &series[0].points;
    let bars = vec![Bar {
        name: name.to_owned(),
        value: Some(1.0),
        label: name.to_owned(),
        note: Some(name.to_owned()),
    }];
    let names = [name.to_owned()];
    let print = |value: f64| value.to_string();
    let power = |exponent: i32| exponent.to_string();
    vec![
        band(&words, &axis, (points, points), &[], print),
        lines(&words, &axis, &series, print),
        heat(&words, "load", &axis, std::slice::from_ref(&series), power),
        counts(&words, "users", &axis, &series),
        horizontal(&words, &bars, Some((0.5, name.to_owned()))),
        standing(&words, &names, &[(name, &[1.0])], print),
    ]
}

/// Returns a page with this text in every place that has one.
fn page(name: &str) -> Page {
    let text = name.to_owned();
    let bar = Cell {
        text: text.clone(),
        ..Cell::bar(None, 0.5)
    };
    let rows = [
        [("Name", Cell::text(name)), ("Number", bar)],
        [
            ("Name", Cell::sentences(name)),
            ("Number", Cell::number(text.clone())),
        ],
        [("Name", Cell::text("total")), ("Number", Cell::number(1))],
    ];
    let mut table = Table::new(name, rows);
    table.note = Some(text.clone());
    let pair = || vec![(text.clone(), text.clone())];
    let figure = |chart| {
        Block::from(Figure {
            heading: text.clone(),
            caption: text.clone(),
            chart,
            table: table.clone(),
            statements: pair(),
        })
    };
    let figures = charts(name).into_iter().map(figure);
    let mut blocks = vec![
        Block::Text(text.clone()),
        Block::List(vec![text.clone()]),
        Block::Numbered(vec![text.clone()]),
        Block::Facts(pair()),
        table.clone().into(),
        Block::Statements(pair()),
    ];
    blocks.extend(figures);
    Page {
        title: text.clone(),
        kind: "Page",
        heading: text.clone(),
        lead: text.clone(),
        about: vec![text.clone()],
        made: Some(text.clone()),
        sections: vec![Section::new("one", "One", blocks)],
    }
}

#[test]
fn a_page_is_well_formed_and_asks_for_nothing() {
    let document = page("ada").document().unwrap();
    let read = read(&document);
    assert_eq!(*read.mistakes.borrow(), Vec::<String>::new());
    assert!(read.open.borrow().is_empty(), "{:?}", read.open);
    for element in read.elements.borrow().iter() {
        let (name, attributes) = element.split_once(' ').unwrap();
        assert!(
            !["script", "link", "img", "iframe", "form", "base"].contains(&name),
            "{element}"
        );
        for attribute in attributes.split(' ') {
            assert!(
                !attribute.starts_with("on") && attribute != "src" && attribute != "style",
                "{element}"
            );
        }
    }
    // Only links within the page, and patterns within a chart.
    for place in document.match_indices("href=\"") {
        assert_eq!(&document[place.0 + 6..place.0 + 7], "#");
    }
    assert!(document.contains("Content-Security-Policy\" content=\"default-src 'none'"));
}

#[test]
fn each_picture_has_words_numbers_and_a_statement() {
    let document = page("ada").document().unwrap();
    let count = |what: &str| document.matches(what).count();
    // Six charts in two sizes.
    assert_eq!(count("<svg class=\"wide\""), 6);
    assert_eq!(count("<svg class=\"narrow\""), 6);
    assert_eq!(count("role=\"img\""), 12);
    assert!(count("<desc>ada</desc>") == 12);
    assert!(document.contains("<figcaption>ada</figcaption>"));
    assert!(document.contains("<summary>SQL</summary>"));
    assert!(document.contains("<details><summary>Numbers: ada</summary>"));
}

#[test]
fn a_table_says_how_many_rows_are_left_out() {
    let numbers: Vec<u8> = (0..250).collect();
    let cells = |number: &u8| [("Number", Cell::number(number))];
    let table = Table::largest("numbers", &numbers, |it| Some((*it).into()), cells);
    assert_eq!((table.rows.len(), table.more), (200, 50));
    assert_eq!(table.rows[0][0].text, "249");
    let mut page = page("ada");
    page.sections[0].blocks = vec![table.into()];
    let document = page.document().unwrap();
    assert!(document.contains("50 more rows are left out."));
    // No statement is printed on paper.
    assert!(document.contains("#statements{display:none}"));
}

#[test]
fn no_line_ends_within_a_number_or_the_name_of_a_target() {
    assert_eq!(
        prose("14 % of 2 MB/s, 3 k <b> on (puhti-MDT0000), 5 jobs, 90 min."),
        "14\u{a0}% of 2\u{a0}MB/s, 3\u{a0}k &lt;b&gt; on <span class=\"whole\">(puhti-MDT0000),</span> 5 jobs, 90\u{a0}min."
    );
    assert_eq!(
        prose("of 2026-11-23"),
        "of <span class=\"whole\">2026-11-23</span>"
    );
    assert_eq!(
        prose("project_2001015"),
        "<span class=\"whole\">project_2001015</span>"
    );
    // Lines of a phone are shorter than such a name.
    let long = format!("{}-MDT0000", "x".repeat(30));
    assert_eq!(prose(&long), long);
}

/// Returns a table without rows.
fn nothing() -> Table {
    Table::new("nothing", Vec::<[(&str, Cell); 1]>::new())
}

#[test]
fn columns_and_tables_that_say_nothing_are_left_out() {
    let titles = ["Name", "Known", "Unknown", "None"];
    let row = |known: &str| std::iter::zip(titles, ["–", known, "–", ""].map(Cell::text));
    let table = Table::new("numbers", [row("–"), row("0")]);
    let tables = present(&[table, nothing()]);
    assert_eq!(tables.len(), 1);
    let titles: Vec<_> = tables[0].columns.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(titles, ["Name", "Known"]);
    assert!(tables[0].rows.iter().all(|row| row.len() == 2));
}

#[test]
fn a_table_without_rows_has_only_its_note() {
    let mut table = nothing();
    table.note = Some("There are none.".to_owned());
    let mut page = page("ada");
    page.sections[0].blocks = vec![table.into()];
    let document = page.document().unwrap();
    assert!(
        document.contains("There are none.") && !document.contains("<th "),
        "{document}"
    );
}

/// The elements of a page about somebody without intentions.
static BENIGN: LazyLock<Vec<String>> =
    LazyLock::new(|| read(&page("ada").document().unwrap()).lasting());

/// Names that have done harm somewhere.
fn hostile() -> impl Strategy<Value = String> {
    let known = [
        "<script>alert(1)</script>",
        "</title></svg></style><img src=x onerror=alert(1)>",
        "\" onload=\"alert(1)",
        "' autofocus onfocus='alert(1)",
        "{{ 7 * 7 }}{% raw %}",
        "<!--",
        "]]>",
        "&lt;b&gt;&#x3c;",
        "\u{1b}[31m\u{7}",
        "\u{202e}gpj.exe",
        "\0",
        "=cmd|' /C calc'!A0",
        "javascript:alert(1)",
        "x-MDT0000<b>",
        "2026-11-<b>",
    ];
    let known: Vec<_> = known.map(str::to_owned).to_vec();
    prop_oneof![
        any::<String>(),
        prop::sample::select(known),
        "[<>&\"'/=!\\-a-z ]{0,40}",
        Just("x".repeat(1_000)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_name_in_any_place_is_text(name in hostile()) {
        let document = page(&name).document().unwrap();
        let read = read(&document);
        prop_assert_eq!(&*read.mistakes.borrow(), &Vec::<String>::new());
        prop_assert!(read.open.borrow().is_empty());
        // The positions of text depend on its length, elements do not.
        prop_assert_eq!(read.lasting(), &**BENIGN);
    }

    #[test]
    fn charts_and_cells_only_show_names(name in hostile()) {
        for chart in charts(&name) {
            for svg in [chart.wide, chart.narrow] {
                prop_assert!(svg.chars().all(is_harmless));
            }
        }
        prop_assert!(Cell::text(&name).text.chars().all(is_harmless));
        prop_assert!(Cell::sentences(&name).text.chars().all(is_harmless));
    }
}
