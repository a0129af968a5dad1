use super::*;

#[test]
fn urls_end_with_a_slash() {
    for (text, expected) in [
        ("https://db1", "https://db1/"),
        ("https://db1/", "https://db1/"),
        ("https://db1:8443/jobstats", "https://db1:8443/jobstats/"),
    ] {
        assert_eq!(url(text).unwrap().to_string(), expected);
    }
}

#[test]
fn only_this_machine_is_reached_without_tls() {
    for text in [
        "http://localhost:3000",
        "http://127.0.0.1:3000",
        "http://[::1]:3000",
    ] {
        assert!(url(text).is_ok(), "{text}");
    }
    for text in [
        "http://db1",
        "http://localhost.example.org",
        "http://10.0.0.1",
        "ftp://db1",
    ] {
        assert!(url(text).unwrap_err().contains("https://"), "{text}");
    }
}

#[test]
fn urls_hold_no_secret_and_no_query() {
    for text in [
        "https://user:s3cret@db1",
        "https://db1/?key=s3cret",
        "https://db1/#s3cret",
        "db1",
        "/feed",
        "",
    ] {
        assert!(!url(text).unwrap_err().contains("s3cret"), "{text}");
    }
}
