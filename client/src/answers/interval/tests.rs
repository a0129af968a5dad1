use super::*;

fn read(micros: i64, days: i32, months: i32) -> Result<Interval, String> {
    let mut raw = BytesMut::new();
    raw.put_i64(micros);
    raw.put_i32(days);
    raw.put_i32(months);
    Interval::from_sql(&Type::INTERVAL, &raw).map_err(|error| error.to_string())
}

#[test]
fn days_and_microseconds_add_up() {
    assert_eq!(
        read(-1_500_000, 2, 0).unwrap().0,
        SignedDuration::from_millis(2 * 86_400_000 - 1500)
    );
    assert_eq!(read(0, -1, 0).unwrap().0, SignedDuration::from_hours(-24));
}

#[test]
fn months_and_what_is_too_long_are_refused() {
    assert!(read(0, 0, 1).unwrap_err().contains("months"));
    assert!(read(i64::MAX, 1, 0).unwrap_err().contains("too long"));
    assert!(Interval::from_sql(&Type::INTERVAL, &[0; 15]).is_err());
}

#[test]
fn what_is_written_is_read() {
    for length in [0, 1, -1, i64::MAX, i64::MIN] {
        let interval = Interval(SignedDuration::from_micros(length));
        let mut raw = BytesMut::new();
        interval.to_sql(&Type::INTERVAL, &mut raw).unwrap();
        let again = Interval::from_sql(&Type::INTERVAL, &raw).unwrap();
        assert_eq!(again, interval);
    }
}
