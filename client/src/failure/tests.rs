use super::*;

#[test]
fn sqlstates_tell_what_to_do() {
    for (state, kind) in [
        ("40001", Kind::Conflict),
        ("40P01", Kind::Conflict),
        ("57P01", Kind::Lost),
        ("08006", Kind::Lost),
        ("57014", Kind::Slow),
        ("28P01", Kind::Denied),
        ("42501", Kind::Denied),
        ("55000", Kind::Setup),
        ("42P01", Kind::Setup),
        ("42883", Kind::Setup),
        ("54000", Kind::Refused),
        ("XX000", Kind::Refused),
    ] {
        assert_eq!(of_server(&SqlState::from_code(state)), kind, "{state}");
    }
}
