use super::*;

#[test]
fn sqlstates_tell_what_to_do() {
    for (state, kind) in [
        ("40001", Kind::Conflict),
        ("40P01", Kind::Conflict),
        ("55P03", Kind::Conflict),
        ("57P01", Kind::Lost),
        ("57P05", Kind::Lost),
        ("08006", Kind::Lost),
        ("25006", Kind::Lost),
        ("25P03", Kind::Lost),
        ("53300", Kind::Lost),
        ("53100", Kind::Exhausted),
        ("53200", Kind::Exhausted),
        ("58030", Kind::Exhausted),
        ("57014", Kind::Slow),
        ("28P01", Kind::Denied),
        ("42501", Kind::Denied),
        ("55000", Kind::Setup),
        ("42P01", Kind::Setup),
        ("42703", Kind::Setup),
        ("42883", Kind::Setup),
        ("0A000", Kind::Setup),
        ("22P03", Kind::Refused),
        ("54000", Kind::Refused),
        ("54001", Kind::Failed),
        ("22012", Kind::Failed),
        ("22023", Kind::Failed),
        ("XX000", Kind::Internal),
        ("XX001", Kind::Failed),
        ("23514", Kind::Failed),
        ("P0001", Kind::Failed),
    ] {
        assert_eq!(of_server(&SqlState::from_code(state)), kind, "{state}");
    }
}

#[test]
fn only_a_text_that_is_always_refused_is_given_up() {
    let page = include_str!("../../../../docs/spool.md");
    for (state, why) in OF_DATA {
        let kind = Kind::of_state(state);
        assert_eq!(kind, Kind::Refused, "{state}");
        // While a connection is made, no text was sent.
        assert_eq!(kind.of_connecting(), Kind::Setup);
        assert!(page.contains(&format!("| `{state}` | {why} |")), "{state}");
    }
    let listed = page.lines().filter(|line| {
        let state = line.strip_prefix("| `").and_then(|rest| rest.get(..7));
        state.is_some_and(|state| state.starts_with(['2', '5']) && state.ends_with("` "))
    });
    assert_eq!(listed.count(), OF_DATA.len());
}

#[test]
fn a_refused_connection_refuses_no_data() {
    for (state, kind) in [
        // A full disk of the server.
        ("XX000", Kind::Lost),
        ("57014", Kind::Lost),
        ("53300", Kind::Lost),
        ("53100", Kind::Exhausted),
        ("28P01", Kind::Denied),
        ("3D000", Kind::Setup),
        ("22023", Kind::Setup),
    ] {
        assert_eq!(Kind::of_state(state).of_connecting(), kind, "{state}");
    }
}

#[test]
fn a_stranger_writes_one_line_and_gives_a_terminal_no_orders() {
    let hostile = "no\u{1b}]0;title\u{7}\r\nerror: forged\u{9b}2J\u{202e}gpj";
    assert_eq!(one_line(hostile), "no ]0;title   error: forged 2J gpj");
    let long = one_line(&"x".repeat(1 << 20));
    assert_eq!(long.chars().count(), MOST_SHOWN + 1);
    assert!(long.ends_with('…'));
}
