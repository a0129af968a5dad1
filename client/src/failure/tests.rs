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
    // Access, store, version, role and disk are not the data's fault.
    for state in [
        "28000", "42501", "42703", "42P01", "55000", "53100", "57P03", "25006", "40001", "23514",
        "P0001",
    ] {
        assert!(
            !of_server(&SqlState::from_code(state)).is_of_data(),
            "{state}"
        );
    }
    for state in ["22021", "22P03", "54000", "XX000"] {
        assert!(
            of_server(&SqlState::from_code(state)).is_of_data(),
            "{state}"
        );
    }
}
