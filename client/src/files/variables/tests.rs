use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use super::*;

fn file(text: &str, mode: u32) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    fs::set_permissions(file.path(), Permissions::from_mode(mode)).unwrap();
    file
}

fn nothing(_: &str) -> Option<String> {
    None
}

#[test]
fn a_file_may_have_comments_blank_lines_and_quotes() {
    let file = file(
        "# the database\n\nPGHOST = db1\nPGPASSWORD='a b=c'\nPGUSER=\"writer\"\nPGPORT=\n",
        0o600,
    );
    let variables = Variables::new(nothing, Some(file.path())).unwrap();
    assert_eq!(variables.get("PGHOST"), Some("db1"));
    assert_eq!(variables.get("PGPASSWORD"), Some("a b=c"));
    assert_eq!(variables.get("PGUSER"), Some("writer"));
    assert_eq!(variables.get("PGPORT"), None);
}

#[test]
fn the_environment_goes_before_the_file_unless_it_is_empty() {
    let file = file("PGHOST=file\nPGUSER=file\n", 0o400);
    let environment = |name: &str| match name {
        "PGHOST" => Some("environment".to_owned()),
        "PGUSER" => Some(String::new()),
        _ => None,
    };
    let variables = Variables::new(environment, Some(file.path())).unwrap();
    assert_eq!(variables.get("PGHOST"), Some("environment"));
    assert_eq!(variables.get("PGUSER"), Some("file"));
}

#[test]
fn a_file_that_others_can_read_is_refused() {
    for mode in [0o604, 0o620, 0o644, 0o666] {
        let file = file("PGPASSWORD=secret\n", mode);
        assert!(
            matches!(
                Variables::new(nothing, Some(file.path())),
                Err(VariablesError::File(TrustError::Exposed(_)))
            ),
            "{mode:o}"
        );
    }
}

#[test]
fn only_a_file_of_root_may_be_open_to_its_group() {
    let file = file("PGHOST=db1\n", 0o640);
    let is_read = Variables::new(nothing, Some(file.path())).is_ok();
    assert_eq!(is_read, rustix::process::geteuid().is_root());
}

#[test]
fn a_file_of_another_user_is_refused() {
    let file = file("PGHOST=db1\n", 0o600);
    // Only root can give the file away.
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(file.path(), Some(65534), None).unwrap();
        let refused = Variables::new(nothing, Some(file.path())).unwrap_err();
        assert!(
            matches!(refused, VariablesError::File(TrustError::Foreign { .. })),
            "{refused}"
        );
    }
}

#[test]
fn a_wrong_line_is_named_by_its_number_alone() {
    let file = file("PGHOST=db1\nPASSWORD=secret\n", 0o600);
    let message = Variables::new(nothing, Some(file.path()))
        .unwrap_err()
        .to_string();
    assert!(message.contains("line 2"), "{message}");
    assert!(!message.contains("secret"), "{message}");
}

#[test]
fn a_missing_file_is_an_error() {
    let missing = Path::new("/nowhere/shipper.conf");
    assert!(matches!(
        Variables::new(nothing, Some(missing)),
        Err(VariablesError::File(TrustError::Unreadable(_)))
    ));
}

#[test]
fn credentials_win_over_the_file_and_lose_against_the_environment() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("PGPASSWORD"), "s3cret\n").unwrap();
    std::fs::write(directory.path().join("PGUSER"), "writer").unwrap();
    std::fs::write(directory.path().join("unrelated"), "x").unwrap();
    let file = file("PGPASSWORD=older\nPGHOST=db1\n", 0o600);
    let path = directory.path().to_str().unwrap();
    let environment = |name: &str| match name {
        "CREDENTIALS_DIRECTORY" => Some(path.to_owned()),
        "PGUSER" => Some("other".to_owned()),
        _ => None,
    };
    let variables = Variables::new(environment, Some(file.path())).unwrap();
    assert_eq!(variables.get("PGPASSWORD"), Some("s3cret"));
    assert_eq!(variables.get("PGUSER"), Some("other"));
    assert_eq!(variables.get("PGHOST"), Some("db1"));
}
