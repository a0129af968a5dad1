use super::*;

/// Returns the limits of TCP of a URL: idle, interval and user timeout in seconds, and the number of probes.
fn limits(url: &str) -> [u64; 4] {
    let mut config: Config = url.parse().unwrap();
    keep_alive(&mut config);
    [
        config.get_keepalives_idle().as_secs(),
        config.get_keepalives_interval().unwrap().as_secs(),
        config.get_tcp_user_timeout().unwrap().as_secs(),
        config.get_keepalives_retries().unwrap().into(),
    ]
}

#[test]
fn a_connection_that_dies_is_noticed_within_a_minute() {
    assert_eq!(limits("postgresql://u@h/d"), [30, 10, 60, 3]);
}

#[test]
fn limits_of_the_url_count() {
    let url = "postgresql://u@h/d?keepalives_idle=1&keepalives_interval=2&tcp_user_timeout=3&keepalives_retries=4";
    assert_eq!(limits(url), [1, 2, 3, 4]);
}
