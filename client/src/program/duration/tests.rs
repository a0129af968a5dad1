use super::*;

#[test]
fn durations_have_units() {
    assert_eq!(parse("120s"), Ok(Duration::from_secs(120)));
    assert_eq!(parse("1h 30m"), Ok(Duration::from_secs(5400)));
    assert_eq!(parse("1d 1h"), Ok(Duration::from_secs(90_000)));
    assert_eq!(parse("250ms"), Ok(Duration::from_millis(250)));
    for text in ["120", "-5s", "0s", "soon"] {
        assert!(parse(text).is_err(), "{text}");
    }
}
