use super::*;

fn refusal(status: u16, body: &str) -> Refusal {
    check(status, &HeaderMap::new(), body.as_bytes()).unwrap_err()
}

/// An error as PostgREST passes it on.
fn of_postgresql(status: u16, state: &str) -> Refusal {
    refusal(
        status,
        &format!(
            r#"{{"code":"{state}","details":"s3cret","hint":"do this","message":"that is wrong"}}"#
        ),
    )
}

#[test]
fn only_201_means_that_the_texts_are_stored() {
    assert!(check(201, &HeaderMap::new(), b"").is_ok());
    for status in [200, 202, 204, 302] {
        assert_eq!(refusal(status, "<html>").kind(), Kind::Setup, "{status}");
    }
}

#[test]
fn texts_are_set_aside_only_for_what_postgresql_says_of_them() {
    for (status, state) in [
        (400, "22P02"),
        (400, "22021"),
        (409, "22003"),
        (422, "22P03"),
        (500, "54000"),
    ] {
        assert!(
            of_postgresql(status, state).is_of_text(),
            "{status} {state}"
        );
    }
    // The role of a token that does not exist is 401 with 22023.
    for (status, state) in [
        (401, "22023"),
        (400, "22023"),
        (500, "54001"),
        (403, "42501"),
        (400, "42703"),
        (404, "42P01"),
        (409, "23505"),
        (409, "23503"),
        (400, "23514"),
        (500, "XX000"),
        (500, "22P02"),
        (503, "53100"),
        (400, "P0001"),
        (400, "PGRST"),
        (400, "PGRST102"),
        (502, "22P02"),
    ] {
        assert!(
            !of_postgresql(status, state).is_of_text(),
            "{status} {state}"
        );
    }
    for (status, body) in [
        (400, "<html>22P02</html>"),
        (400, ""),
        (400, r#"{"code":22000}"#),
        (400, r#"{"code":"22p02"}"#),
        (422, r#"["22P02"]"#),
        (400, r#"{"code":"22P02""#),
        (413, r#"{"code":"22P02"}"#),
    ] {
        assert!(!refusal(status, body).is_of_text(), "{status} {body}");
    }
}

#[test]
fn kinds_are_those_of_the_sqlstate_or_else_of_the_status() {
    for (status, state, kind) in [
        (401, "22023", Kind::Denied),
        (403, "42501", Kind::Denied),
        (404, "42P01", Kind::Setup),
        (405, "25006", Kind::Lost),
        (500, "40P01", Kind::Conflict),
        (500, "57014", Kind::Slow),
        (503, "53100", Kind::Exhausted),
        (401, "PGRST301", Kind::Denied),
        (400, "PGRST204", Kind::Setup),
        (503, "PGRST001", Kind::Exhausted),
        (504, "PGRST003", Kind::Silent),
    ] {
        assert_eq!(
            of_postgresql(status, state).kind(),
            kind,
            "{status} {state}"
        );
    }
    for (status, kind) in [
        (403, Kind::Denied),
        (413, Kind::Setup),
        (429, Kind::Exhausted),
        (502, Kind::Lost),
    ] {
        assert_eq!(refusal(status, "<html>").kind(), kind, "{status}");
    }
}

#[test]
fn messages_name_the_cause_and_repeat_nothing_that_was_sent() {
    assert_eq!(
        of_postgresql(400, "22P02").to_string(),
        "HTTP 400: that is wrong (SQLSTATE 22P02) (hint: do this)"
    );
    assert_eq!(
        refusal(401, r#"{"code":"PGRST301","message":"No suitable key"}"#).to_string(),
        "HTTP 401: No suitable key (PGRST301)"
    );
    assert_eq!(
        refusal(502, "<html>s3cret").to_string(),
        "HTTP 502: not a PostgREST response"
    );
    let terminal = refusal(400, r#"{"message":"\u001b[2Jcleared\n"}"#);
    assert_eq!(terminal.to_string(), "HTTP 400:  [2Jcleared ");
}

#[test]
fn a_redirect_names_the_place_without_secrets() {
    let mut headers = HeaderMap::new();
    headers.insert(
        "location",
        "https://login.example.org/?ticket=s3cret".parse().unwrap(),
    );
    let refusal = check(302, &headers, b"").unwrap_err();
    assert!(
        refusal
            .to_string()
            .ends_with("(to https://login.example.org/)"),
        "{refusal}"
    );
}

#[test]
fn a_pause_is_a_number_of_seconds_or_a_time() {
    let now: Timestamp = "1994-11-06T08:49:07Z".parse().unwrap();
    let seconds = |value| pause(value, now).map(|pause| pause.as_secs());
    assert_eq!(seconds("120"), Some(120));
    assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(30));
    assert_eq!(seconds("Sun, 06 Nov 1994 08:49:00 GMT"), Some(0));
    for value in ["", "-1", "soon", "99999999999999999999999"] {
        assert_eq!(seconds(value), None, "{value}");
    }
}
