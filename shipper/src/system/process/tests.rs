use super::*;

#[test]
fn programs_inherit_no_password() {
    let environment = [
        ("PATH", "/bin"),
        ("PGPASSWORD", "s3cret"),
        ("PGHOST", "db1"),
        (variables::URL, "postgresql://writer:s3cret@db1/jobstats"),
        ("https_proxy", "http://user:s3cret@proxy:3128"),
        ("ALL_PROXY", "http://user:s3cret@proxy:3128"),
        ("HTTP_PROXY", "http://proxy:3128"),
        ("no_proxy", ".example.org"),
    ];
    let removed = secrets(
        environment
            .map(|(name, value)| (name.into(), value.into()))
            .into_iter(),
    );
    let expected = ["PGPASSWORD", variables::URL, "https_proxy", "ALL_PROXY"];
    assert_eq!(removed, expected);
}
