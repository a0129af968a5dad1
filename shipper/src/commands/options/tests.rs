use clap::CommandFactory;

use super::*;

#[test]
fn the_command_line_is_consistent() {
    Options::command().debug_assert();
}

#[test]
fn the_pages_are_those_of_this_program() {
    let directory = tempfile::tempdir().unwrap();
    let generate = [
        "jobstats-shipper",
        "generate",
        directory.path().to_str().unwrap(),
    ];
    Options::parse_from(generate).command.execute().unwrap();
    let page = directory.path().join("jobstats-shipper-once.1");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("database\\-url"), "{page}");
}

#[test]
fn input_needs_to_know_its_server() {
    let parse = |arguments: &[&str]| {
        Options::try_parse_from([&["jobstats-shipper", "once"], arguments].concat())
    };
    assert!(parse(&["--input", "-"]).is_err());
    assert!(parse(&["--input", "-", "--server", "oss1"]).is_ok());
    assert!(parse(&["--time", "0", "--server", "oss1"]).is_err());
    assert!(parse(&["--input", "-", "--server", "oss1", "--lctl", "lctl"]).is_err());
}

#[test]
fn a_source_has_one_way_to_its_text() {
    let parse = |arguments: &[&str]| {
        Options::try_parse_from([&["jobstats-shipper", "once"], arguments].concat()).is_ok()
    };
    let passwd = ["--source", "passwd", "--command", "getent passwd"];
    assert!(parse(&passwd));
    assert!(parse(&[&passwd[..], &["--covers", "20m"]].concat()));
    assert!(parse(&[
        "--source", "passwd", "--input", "-", "--server", "oss1"
    ]));
    assert!(parse(&[
        "--source", "lsf", "--follow", "acct", "--spool", "s"
    ]));
    assert!(parse(&["--sources", "file", "--spool", "s"]));
    for arguments in [
        &["--source", "passwd"][..],
        &["--command", "getent passwd"],
        &["--source", "a/b", "--command", "x"],
        &["--source", "lsf", "--follow", "acct"],
        &["--sources", "file"],
        &["--sources", "file", "--spool", "s", "--source", "a"],
        &[
            "--source",
            "a",
            "--command",
            "x",
            "--follow",
            "y",
            "--spool",
            "s",
        ],
        &[
            "--source",
            "a",
            "--command",
            "x",
            "--input",
            "-",
            "--server",
            "b",
        ],
        &["--source", "a", "--command", "x", "--lctl", "lctl"],
        &[
            "--source", "lsf", "--follow", "y", "--spool", "s", "--covers", "1m",
        ],
        &["--covers", "20m"],
    ] {
        assert!(!parse(arguments), "{arguments:?}");
    }
}
