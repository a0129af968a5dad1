use super::*;

#[test]
fn times_have_zones_or_are_seconds() {
    let noon: Timestamp = "2026-01-31T11:00:00Z".parse().unwrap();
    assert_eq!(time("2026-01-31T12:00:00+01:00"), Ok(noon));
    assert_eq!(time("2026-01-31 11:00:00Z"), Ok(noon));
    assert_eq!(time("1769857200"), Ok(noon));
    assert_eq!(time("1769857200.25"), Ok(noon + Duration::from_millis(250)));
    for text in ["2026-01-31T12:00:00", "yesterday", "1e300", "NaN"] {
        assert!(time(text).is_err(), "{text}");
    }
}

#[test]
fn sizes_have_units() {
    assert_eq!(size("4GiB"), Ok(4 << 30));
    assert_eq!(size("500 MB"), Ok(500_000_000));
    assert_eq!(size("1000"), Ok(1000));
    assert_eq!(size("7b"), Ok(7));
    for text in ["", "0", "-1MB", "1.5GB", "12XB", "MB", "99999999999GiB"] {
        assert!(size(text).is_err(), "{text}");
    }
}
