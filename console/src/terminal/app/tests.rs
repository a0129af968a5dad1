use super::*;
use crate::live::view::{Key, Sort};
use crate::testing::{interval, round};

fn app(mode: Mode) -> App {
    let look = ScreenState {
        interval: 10 * SECOND,
        speed: 60.0,
        ..ScreenState::new(mode)
    };
    let mut app = App::new(View::default(), look);
    for end in 1..=3 {
        let work = interval(
            10 * end - 10,
            10 * end,
            &[
                ("1:1000:a", "open", 900),
                ("1:1000:a", "open_usecs", 9_000_000),
                ("2:1001:b", "close", 500),
                ("2:1001:b", "close_usecs", 5_000_000),
            ],
        );
        let rounds = vec![round(10 * end, &[("scratch-MDT0000", Some(work))])];
        app.take(Update {
            rounds,
            ..Update::default()
        });
    }
    app.lines(100, 24);
    app
}

fn live() -> App {
    app(Mode::Live)
}

fn press(app: &mut App, keys: &str) -> Action {
    let mut last = Action::Draw;
    for key in keys.chars() {
        last = code(app, KeyCode::Char(key));
    }
    last
}

fn code(app: &mut App, code: KeyCode) -> Action {
    let action = app.key(KeyEvent::new(code, KeyModifiers::NONE));
    app.lines(100, 24);
    action
}

#[test]
fn keys_group_and_rank() {
    let mut app = live();
    press(&mut app, "g");
    assert_eq!(app.view.by, By::Job);
    code(&mut app, KeyCode::Tab);
    code(&mut app, KeyCode::BackTab);
    press(&mut app, "GG");
    assert_eq!(app.view.by, By::Entry);
    for (key, by) in [
        ("u", By::User),
        ("J", By::Job),
        ("t", By::Target),
        ("O", By::Operation),
    ] {
        press(&mut app, key);
        assert_eq!(app.view.by, by);
    }
    press(&mut app, "ss");
    assert_eq!(app.view.sort, Sort::Metadata);
    press(&mut app, "S");
    assert_eq!(app.view.sort, Sort::Requests);
}

#[test]
fn a_row_is_looked_into_and_left() {
    let mut app = live();
    press(&mut app, "j");
    assert_eq!(app.look.selected, 1);
    press(&mut app, "jjj");
    assert_eq!(app.look.selected, 1, "the selection stays on the last row");
    code(&mut app, KeyCode::Enter);
    assert_eq!(
        (app.view.by, app.view.scope.clone()),
        (By::Job, vec![(By::User, Key::User(1001))])
    );
    assert_eq!(app.tables[0].rows.len(), 1);
    code(&mut app, KeyCode::Esc);
    assert_eq!(
        (app.view.by, app.view.scope.len(), app.tables[0].rows.len()),
        (By::User, 0, 2)
    );
    code(&mut app, KeyCode::Up);
    assert_eq!(app.look.selected, 0);
}

#[test]
fn a_filter_is_typed_kept_and_dropped() {
    let mut app = live();
    press(&mut app, "/!1000q");
    assert_eq!(app.look.typing.as_deref(), Some("!1000q"));
    assert_eq!(app.tables[0].rows.len(), 2, "nobody is called 1000q");
    code(&mut app, KeyCode::Backspace);
    assert_eq!(app.tables[0].rows.len(), 1, "rows follow each letter");
    code(&mut app, KeyCode::Enter);
    assert_eq!(app.view.filter.0, "!1000");
    assert_eq!(app.tables[0].rows.len(), 1);
    press(&mut app, "/x");
    assert_eq!(app.tables[0].rows.len(), 2, "it goes on as !1000x");
    code(&mut app, KeyCode::Esc);
    assert_eq!(
        (app.look.typing.clone(), app.view.filter.0.as_str()),
        (None, "!1000")
    );
    code(&mut app, KeyCode::Esc);
    assert!(app.view.filter.is_empty());
    press(&mut app, "m");
    assert_eq!(app.view.kind, Some(TargetKind::Mdt));
    press(&mut app, "m");
    assert!(app.tables[0].rows.is_empty());
    press(&mut app, "xxX");
    assert_eq!(app.view.minimum, 0.01);
    press(&mut app, "a");
    assert_eq!((app.view.kind, app.view.minimum), (None, 0.0));
}

#[test]
fn the_look_is_switched() {
    let mut app = live();
    press(&mut app, "123rlL");
    let look = &app.look;
    assert!(!look.head && !look.bars && !look.foot && look.amounts && look.legend && look.log);
    press(&mut app, "h");
    assert!(app.look.head && app.look.foot);
    press(&mut app, "N");
    assert_eq!((app.look.rows, app.tables[0].rows.len()), (Some(1), 1));
    press(&mut app, "n");
    assert_eq!(app.tables[0].rows.len(), 2);
    press(&mut app, "++-]]][");
    assert_eq!(
        (app.view.window, app.look.interval),
        (30 * SECOND, 12 * SECOND)
    );
    press(&mut app, "[[[[[[[[[[[[[[[[");
    assert_eq!(app.look.interval, SECOND);
    press(&mut app, "?");
    assert!(app.lines(80, 24)[0].to_string().contains("Keys"));
    code(&mut app, KeyCode::Esc);
    assert!(!app.is_help);
    assert_eq!(press(&mut app, "q"), Action::Quit);
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(app.key(interrupt), Action::Quit);
}

#[test]
fn a_pause_stops_the_screen_and_not_the_readings() {
    let mut app = live();
    press(&mut app, " ");
    let rounds = vec![round(
        40,
        &[("scratch-MDT0000", Some(interval(30, 40, &[])))],
    )];
    app.take(Update {
        rounds,
        ..Update::default()
    });
    assert_eq!(app.history().time, 30 * SECOND);
    assert!(app.lines(100, 24)[0].to_string().contains("PAUSED"));
    press(&mut app, "p");
    assert_eq!(app.history().time, 40 * SECOND);
}

#[test]
fn a_recording_is_moved_through() {
    let mut app = app(Mode::Replay);
    for (key, step) in [
        (KeyCode::Left, Step::By(-1)),
        (KeyCode::Right, Step::By(1)),
        (KeyCode::PageUp, Step::By(-10)),
        (KeyCode::PageDown, Step::By(10)),
        (KeyCode::Home, Step::Begin),
        (KeyCode::End, Step::End),
    ] {
        assert_eq!(code(&mut app, key), Action::Step(step));
    }
    press(&mut app, "><,");
    assert_eq!(app.look.speed, 30.0);
    let rounds = vec![round(20, &[("scratch-MDT0000", None)])];
    app.take(Update {
        rounds,
        begins_anew: true,
        ..Update::default()
    });
    assert_eq!(
        (app.history().time, app.history().loads("scratch").count()),
        (20 * SECOND, 0)
    );
    let mut live = live();
    assert_eq!(code(&mut live, KeyCode::Left), Action::Draw);
    assert!(live.look.message.is_some());
}

#[test]
fn the_selection_stays_with_its_row() {
    let mut app = live();
    press(&mut app, "j");
    let work = interval(
        30,
        40,
        &[
            ("1:1000:a", "open", 1),
            ("1:1000:a", "open_usecs", 1),
            ("2:1001:b", "close", 500),
            ("2:1001:b", "close_usecs", 5_000_000),
            ("3:1002:c", "close", 500),
            ("3:1002:c", "close_usecs", 9_000_000),
        ],
    );
    let rounds = vec![round(40, &[("scratch-MDT0000", Some(work))])];
    app.take(Update {
        rounds,
        ..Update::default()
    });
    app.lines(100, 24);
    assert_eq!(app.tables[0].rows[app.look.selected].key, Key::User(1001));
}

#[test]
fn keys_go_from_now_into_the_past_of_a_store_and_back() {
    let mut app = live();
    app.view.is_store = true;
    assert_eq!(code(&mut app, KeyCode::End), Action::Draw);
    assert_eq!(app.look.message.as_deref(), Some("already live"));
    let action = code(&mut app, KeyCode::Left);
    assert_eq!(action, Action::Step(Step::By(-1)));
    assert_eq!((app.look.mode, app.look.speed), (Mode::Replay, 60.0));
    assert!(app.look.is_paused);
    press(&mut app, ">");
    assert_eq!(
        code(&mut app, KeyCode::PageDown),
        Action::Step(Step::By(10))
    );
    assert_eq!(code(&mut app, KeyCode::End), Action::Step(Step::End));
    app.take(Update {
        is_live: Some(true),
        ..Update::default()
    });
    assert_eq!(
        (app.look.mode, app.look.interval),
        (Mode::Live, 10 * SECOND)
    );
    assert!(!app.look.is_paused);
    code(&mut app, KeyCode::Home);
    assert_eq!((app.look.mode, app.look.speed), (Mode::Replay, 120.0));
    // Commands have no past.
    let mut app = live();
    assert_eq!(code(&mut app, KeyCode::Left), Action::Draw);
    assert_eq!(
        (app.look.mode, app.look.interval),
        (Mode::Live, 10 * SECOND)
    );
}

#[test]
fn accounts_are_a_grouping_only_where_they_are_known() {
    let mut app = live();
    press(&mut app, "gg");
    assert_eq!(app.view.by, By::Node);
    press(&mut app, "A");
    assert_eq!(app.view.by, By::Node);
    app.view.is_store = true;
    press(&mut app, "G");
    assert_eq!(app.view.by, By::Account);
    press(&mut app, "uA");
    assert_eq!(app.view.by, By::Account);
}
