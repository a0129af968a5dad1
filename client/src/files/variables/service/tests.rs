use std::io::Write as _;

use super::*;

const TEXT: &str = "# services\n[other]\nhost=db2\n\n[jobs]\nhost = db1\n# a comment\npassword=s3=cret\nsslmode=verify-full\n\n[last]\nkrbsrvname=x\n";

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

#[test]
fn a_section_ends_where_the_next_begins() {
    let file = file(TEXT);
    let variables = read("jobs", &[file.path().to_owned()]).unwrap();
    let expected = [
        ("PGHOST", "db1"),
        ("PGPASSWORD", "s3=cret"),
        ("PGSSLMODE", "verify-full"),
    ];
    assert_eq!(
        variables,
        expected.map(|(name, value)| (name, value.to_owned()))
    );
}

#[test]
fn the_first_file_with_the_section_counts() {
    let (first, second) = (
        file("[a]\nhost=db1\n"),
        file("[a]\nhost=db2\n[b]\nhost=db3\n"),
    );
    let files = [
        "/nowhere/pg_service.conf".into(),
        first.path().to_owned(),
        second.path().to_owned(),
    ];
    assert_eq!(read("a", &files).unwrap(), [("PGHOST", "db1".to_owned())]);
    assert_eq!(read("b", &files).unwrap(), [("PGHOST", "db3".to_owned())]);
    assert!(matches!(read("c", &files), Err(VariablesError::NoService(name)) if name == "c"));
}

#[test]
fn a_key_that_would_be_ignored_is_refused() {
    let file = file(TEXT);
    let message = read("last", &[file.path().to_owned()])
        .unwrap_err()
        .to_string();
    assert!(message.contains("line 12"), "{message}");
}
