use clap::ValueEnum;
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use jobstats_core::base::instant::SECOND;
use jobstats_core::base::target::TargetKind;
use ratatui::crossterm::event::KeyCode;

use super::*;
use crate::live::interval::Failure;
use crate::live::view::Filter;
use crate::source::Update;
use crate::terminal::app::App;
use crate::terminal::help::{KEYS, help};
use crate::terminal::screen::draw;
use crate::testing::{counted, interval, round};

mod store;
mod wide;

const MDT: &str = "scratch-MDT0000";
const OST: &str = "scratch-OST0000";

/// Readings of a busy file system: one user with much metadata, one who reads, and others who do little.
fn rounds(count: i64) -> Vec<crate::live::interval::Round> {
    let at = |end: i64| {
        let mut work = vec![
            ("101:1000:r01c01".to_owned(), "open", 124_000),
            (
                "101:1000:r01c01".to_owned(),
                "open_usecs",
                70_000_000 + end * 1_000_000,
            ),
            ("102:1001:r01c02".to_owned(), "getattr", 3_100),
            ("102:1001:r01c02".to_owned(), "getattr_usecs", 1_000_000),
            ("noise".to_owned(), "close", 50),
            ("noise".to_owned(), "close_usecs", 4_000_000),
        ];
        for other in 0..40 {
            let id = format!("{}:{}:r02c{other:02}", 200 + other, 2000 + other);
            work.extend([
                (id.clone(), "open", 60),
                (id, "open_usecs", 500_000 - 10_000 * other),
            ]);
        }
        let work: Vec<_> = work
            .iter()
            .map(|(id, operation, total)| (id.as_str(), *operation, *total))
            .collect();
        let io = [
            ("102:1001:r01c02", "read", 6_000),
            ("102:1001:r01c02", "read_usecs", 40_000_000),
            ("102:1001:r01c02", "read_bytes", 24_000_000_000),
            ("101:1000:r01c01", "write", 610),
            ("101:1000:r01c01", "write_bytes", 1_040_000_000),
            ("101:1000:r01c01", "write_usecs", 20_000_000),
        ];
        round(
            1_795_425_600 + end,
            &[
                (
                    MDT,
                    Some(interval(1_795_425_590 + end, 1_795_425_600 + end, &work)),
                ),
                (
                    OST,
                    Some(interval(1_795_425_590 + end, 1_795_425_600 + end, &io)),
                ),
            ],
        )
    };
    (0..count).map(|number| at(10 * number)).collect()
}

fn app() -> App {
    let look = ScreenState {
        interval: 10 * SECOND,
        speed: 60.0,
        ..ScreenState::new(Mode::Live)
    };
    App::new(View::default(), look)
}

fn busy(count: i64) -> App {
    let mut app = app();
    app.take(Update {
        rounds: rounds(count),
        ..Update::default()
    });
    app
}

/// Draws on a terminal of this size, and returns its lines without the blanks at their ends.
fn drawn(app: &mut App, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, app, true)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let line = |y| {
        (0..width)
            .map(|x| buffer[(x, y)].symbol())
            .collect::<String>()
    };
    (0..height).map(|y| line(y).trim_end().to_owned()).collect()
}

#[test]
fn eighty_columns_have_the_load_and_who_makes_it() {
    let lines = drawn(&mut busy(12), 80, 24);
    assert_eq!(
        lines[..6],
        [
            " scratch  25.7 in service (usual 19.7)  1 MDT, 1 OST ok  09:21:50 UTC live 10 s",
            " by user · ranked by requests in service                 [g]roup [s]ort [?]help",
            "  #  user      jobs     ↓in service  share    metadata         read        write",
            "  1  1000         1  ██████  20       78 %   12.4 k/s     0          104 MB/s",
            "  2  1001         1  █▎       4.1     16 %  310/s         2.4 GB/s     0",
            "  3  2000         1  ▏        0.05    <1 %    6/s         0            0",
        ]
    );
    assert_eq!(
        lines[23],
        " ── 22 more, 2 % ──   without user 2 %     user 1000, mostly on scratch-MDT0000"
    );
}

/// The readings of a store that knows what targets count by themselves: a third of their work has no identifier.
fn counting() -> App {
    let mut app = app();
    let mut rounds = rounds(12);
    for seen in rounds.iter_mut().flat_map(|it| &mut it.snapshots) {
        let whole: &[_] = match seen.kind {
            TargetKind::Mdt => &[
                ("service_time", 180.0, 60.0),
                ("metadata", 200_000.0, 60_000.0),
                ("open", 200_000.0, 60_000.0),
            ],
            TargetKind::Ost => &[
                ("service_time", 120.0, 40.0),
                ("read_bytes", 36e9, 12e9),
                ("read", 9_000.0, 3_000.0),
            ],
        };
        seen.interval = seen.interval.take().map(|it| counted(it, whole));
    }
    app.take(Update {
        rounds,
        ..Update::default()
    });
    app
}

#[test]
fn work_without_identifier_is_a_line_below_the_rows() {
    let (mut busy, mut app) = (busy(12), counting());
    let (plain, lines) = (drawn(&mut busy, 80, 24), drawn(&mut app, 80, 24));
    // No column moves for it, and it takes the room of a row.
    assert_eq!(plain[..22], lines[..22]);
    assert_eq!(
        lines[22..],
        [
            " without identifier  ███     10       33 %    6 k/s       1.2 GB/s     0",
            " ── 23 more, 2 % ──   without user 2 %     user 1000, mostly on scratch-MDT0000"
        ]
    );
    assert!(lines.iter().all(|line| line.chars().count() <= 80));
    press_all(&mut counting());
    // It is no row to select or to look into.
    for _ in 0..100 {
        app.key(KeyCode::Down.into());
    }
    assert!(drawn(&mut app, 80, 24)[23].contains("user 20"));
    // The text has the requested number of rows, and the row of untracked usage.
    let look = ScreenState {
        rows: Some(3),
        ..app.look.clone()
    };
    let printed = crate::terminal::print::lines(app.history(), &app.view, &look, 100);
    assert_eq!(printed.len(), 8, "{printed:#?}");
    assert!(
        printed[6].starts_with(" without identifier "),
        "{printed:#?}"
    );
    // A filter of rows removes it.
    app.view.filter = Filter::new("1000");
    let lines = drawn(&mut app, 80, 24);
    assert!(!lines.join("").contains("without identifier"), "{lines:#?}");
}

#[test]
fn hundred_columns_say_where() {
    let lines = drawn(&mut busy(12), 100, 30);
    assert_eq!(
        lines[2..5],
        [
            "  #  user      jobs   ↓in service  share    metadata         read        write  per write  mostly on",
            "  1  1000         1  ████  20       78 %   12.4 k/s     0          104 MB/s       1.7 MB   MDT0000",
            "  2  1001         1  ▉      4.1     16 %  310/s         2.4 GB/s     0            –        OST0000",
        ]
    );
}

#[test]
fn the_smallest_terminals_are_survived() {
    for (width, height) in [(1, 1), (2, 3), (10, 4), (40, 5), (79, 2), (300, 1)] {
        let lines = drawn(&mut busy(3), width, height);
        assert_eq!(lines.len(), usize::from(height));
    }
}

#[test]
fn a_screen_without_readings_says_what_it_waits_for() {
    let mut app = app();
    assert!(drawn(&mut app, 80, 24)[3].contains("waiting for the first scrape"));
    app.take(Update {
        rounds: vec![round(100, &[(MDT, None)])],
        ..Update::default()
    });
    assert!(drawn(&mut app, 80, 24)[3].contains("rates follow with the second"));
    app.take(Update {
        rounds: vec![round(110, &[(MDT, Some(interval(100, 110, &[])))])],
        ..Update::default()
    });
    assert!(drawn(&mut app, 80, 24)[3].contains("no I/O"));
}

#[test]
fn work_that_has_no_account_is_not_called_nothing() {
    let mut app = busy(1);
    for (by, has_accounts, said) in [
        (
            By::Account,
            true,
            "no I/O has an account: see Jobs in docs/sources.md",
        ),
        (By::Account, false, "accounts need a store"),
        (By::Node, false, "  1  r01c01"),
    ] {
        (app.view.by, app.view.is_store) = (by, has_accounts);
        let lines = drawn(&mut app, 80, 24);
        assert!(lines[0].contains("14.7 in service"), "{lines:#?}");
        assert!(lines[3].contains(said), "{lines:#?}");
    }
}

#[test]
fn the_past_has_its_date_on_a_narrow_screen() {
    for mode in [Mode::Replay, Mode::Print] {
        let mut app = busy(1);
        app.look.mode = mode;
        let lines = drawn(&mut app, 80, 24);
        assert!(
            lines[0].contains("in service") && lines[0].contains("2026-11-23 09:20:00 UTC"),
            "{lines:#?}"
        );
    }
}

#[test]
fn a_long_name_of_a_user_leaves_room_for_numbers() {
    let name = "n".repeat(200);
    let mut app = busy(2);
    app.view.users = crate::live::user_names::UserNames::read(
        format!("{name}:x:1000:1::/:/bin/sh\n").as_bytes(),
    )
    .into();
    for by in [By::Job, By::User] {
        app.view.by = by;
        let lines = crate::terminal::print::lines(app.history(), &app.view, &app.look, 100);
        assert!(
            lines[2].contains("in service") && lines[2].contains("write"),
            "{lines:#?}"
        );
        assert!(lines[3].contains("nnn…"), "{lines:#?}");
    }
}

#[test]
fn late_servers_are_told_and_their_rows_are_marked() {
    let mut app = busy(3);
    let mut late = round(
        1_795_425_630,
        &[(
            MDT,
            Some(interval(
                1_795_425_620,
                1_795_425_630,
                &[("101:1000:a", "open_usecs", 9), ("101:1000:a", "open", 9)],
            )),
        )],
    );
    for server in ["oss-of-scratch-OST0000", "oss8", "oss9"] {
        late.failures.push(Failure {
            server: server.into(),
            reason: "no answer within 8s".to_owned(),
            since: None,
        });
    }
    app.take(Update {
        rounds: vec![late],
        ..Update::default()
    });
    let lines = drawn(&mut app, 100, 20);
    assert!(lines[0].contains("1 late  1 MDT ok"), "{}", lines[0]);
    assert_eq!(
        lines[2],
        " oss-of-scratch-OST0000 late since 09:20:20: no answer within 8s"
    );
    assert_eq!(
        lines[3],
        " oss8 not read yet: no answer within 8s and 1 more servers"
    );
    assert!(lines[5].starts_with("~ 1  1001"), "{}", lines[5]);
    let mut noted = round(1_795_425_640, &[]);
    noted.notes = ["one".to_owned(), "two".to_owned()].into();
    app.take(Update {
        rounds: vec![noted],
        ..Update::default()
    });
    let lines = drawn(&mut app, 100, 20);
    assert_eq!(lines[2..4], [" one", " two"]);
    assert!(lines[5].starts_with("~ 1  1001"), "{}", lines[5]);
}

#[test]
fn an_identifier_is_shown_with_its_meaning() {
    let mut app = App::new(
        View {
            by: By::Entry,
            ..View::default()
        },
        ScreenState::new(Mode::Live),
    );
    app.take(Update {
        rounds: rounds(2),
        ..Update::default()
    });
    let lines = drawn(&mut app, 80, 24);
    assert!(lines[3].starts_with("  1  101:1000"), "{}", lines[3]);
    let decoded = "101:1000:r01c01 = user 1000, job 101, node r01c01";
    assert!(lines[23].ends_with(decoded), "{}", lines[23]);
    app.key(KeyCode::Enter.into());
    let lines = drawn(&mut app, 100, 24);
    assert!(lines[1].contains(decoded), "{}", lines[1]);
    app.key(KeyCode::Char('?').into());
    assert!(drawn(&mut app, 80, 24)[0].ends_with(decoded));
}

#[test]
fn amounts_are_those_of_the_interval() {
    let mut app = busy(1);
    app.look.amounts = true;
    let lines = drawn(&mut app, 100, 24);
    assert!(
        lines[1].contains("amounts") && lines[2].contains("↓time"),
        "{lines:#?}"
    );
    assert!(
        lines[3].contains(" 90 ") && lines[3].contains("124 ") && lines[3].contains("1.04 GB "),
        "{}",
        lines[3]
    );
    assert!(!lines[3].contains("/s"), "{}", lines[3]);
}

#[test]
fn users_have_names_where_they_are_known() {
    let users = crate::live::user_names::UserNames::read(b"ada:x:1000:1::/home/ada:/bin/sh\n");
    let mut app = busy(2);
    app.view.users = users.into();
    let lines = drawn(&mut app, 100, 24);
    assert!(
        lines[3].starts_with("  1  ada ") && lines[4].starts_with("  2  1001 "),
        "{lines:#?}"
    );
    for (filter, rows) in [("ada", 1), ("1000", 1), ("!ada", 41)] {
        app.view.filter = Filter::new(filter);
        let count = crate::live::rows::table(app.history(), &app.view, &[], 100)
            .rows
            .len();
        assert_eq!(count, rows, "{filter}");
    }
    app.view.filter = Filter::default();
    app.view.enter(crate::live::view::Key::User(1000));
    assert!(drawn(&mut app, 100, 24)[1].contains("user ada"));
}

#[test]
fn servers_without_times_have_requests_instead() {
    let mut app = app();
    let work = interval(10, 20, &[("1:1000:a", "open", 1000)]);
    app.take(Update {
        rounds: vec![round(20, &[(MDT, Some(work))])],
        ..Update::default()
    });
    let lines = drawn(&mut app, 100, 12);
    assert!(lines[0].contains("100/s requests"), "{}", lines[0]);
    assert!(
        lines[1].contains("ranked by requests (no times)"),
        "{}",
        lines[1]
    );
    assert!(
        lines[2].contains("↓requests") && !lines[2].contains("in service"),
        "{}",
        lines[2]
    );
}

#[test]
fn the_keys_fit_a_small_terminal() {
    let lines = help(80, 24, None);
    assert_eq!(lines.len(), 24);
    let text: String = lines.iter().map(Line::to_string).collect();
    for (keys, does) in KEYS {
        assert!(text.contains(keys) && text.contains(does), "{keys}");
    }
    assert!(help(30, 5, None).iter().all(|line| line.width() <= 30));
}

fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[\u{1b}\u{9b}\u{202e}\u{200f}\0\n\r\t\u{7f}a\\[m;0-9]{0,40}",
        Just("x".repeat(10_000)),
        Just("\u{301}".repeat(5_000)),
        Just("שלום עולם".to_owned()),
        Just("=cmd|' /C calc'!A0 \"<script>".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Whatever an entry, a server and an error are called: each line has its width, and no character moves the cursor.
    #[test]
    fn hostile_names_are_only_shown(
        id in hostile(),
        server in hostile(),
        reason in hostile(),
        filter in hostile(),
        by in 0_usize..7,
        width in 1_u16..210,
        height in 1_u16..40,
    ) {
        let mut read = round(20, &[(MDT, Some(interval(10, 20, &[(&id, "open", 5), (&id, "open_usecs", 5), ("1:1:n", "close", 1)])))]);
        read.failures.push(Failure { server: server.as_str().into(), reason, since: None });
        let view = View { by: By::value_variants()[by], filter: Filter::new(&format!("!{filter}")), ..View::default() };
        let mut app = App::new(view, ScreenState { message: Some(server), ..ScreenState::new(Mode::Live) });
        app.take(Update { rounds: vec![read], ..Update::default() });
        let (cells, rows) = (usize::from(width), usize::from(height));
        for line in app.lines(cells, rows) {
            let text = line.to_string();
            prop_assert!(text.chars().all(text::is_harmless), "{text:?}");
            prop_assert!(text::width(&text) <= cells, "{text:?}");
        }
        let lines = app.lines(cells, rows);
        prop_assert_eq!(lines.len(), rows);
        drawn(&mut app, width, height);
        let view = app.view.clone();
        let look = ScreenState::new(Mode::Live);
        for line in crate::terminal::print::lines(app.history(), &view, &look, 100) {
            prop_assert!(line.chars().all(text::is_harmless));
        }
    }
}

#[test]
fn the_documentation_shows_a_screen() {
    let lines = drawn(&mut busy(12), 106, 7);
    let shown = lines.join("\n");
    let documentation = include_str!("../../../../docs/top.md");
    assert!(
        documentation.contains(&format!("```\n{shown}\n```")),
        "{shown}"
    );
}

/// Goes through all groupings and amounts, which must not fail with accounts or without.
fn press_all(app: &mut App) {
    for by in By::value_variants().iter().copied() {
        app.view.by = by;
        let lines = drawn(app, 80, 24);
        assert!(lines[2].contains(by.name()), "{lines:#?}");
    }
}
