use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use clap::Parser;
use tempfile::NamedTempFile;

use super::*;
use crate::commands::options::{Command, Common, Options};

const INTERVAL: Duration = Duration::from_secs(120);

fn common(arguments: &[&str]) -> Common {
    let arguments = [&["jobstats-shipper", "run"], arguments].concat();
    match Options::try_parse_from(&arguments).unwrap().command {
        Command::Run(run) => run.common,
        _ => unreachable!("{arguments:?}"),
    }
}

fn listed(text: &str) -> Result<Vec<Source>, SourcesError> {
    let file = NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    let path = file.path().to_str().unwrap();
    named(&["--spool", "/s", "--sources", path])
}

fn named(arguments: &[&str]) -> Result<Vec<Source>, SourcesError> {
    let common = common(arguments);
    sources(&common.reader, &common.origin, None, INTERVAL)
}

#[test]
fn without_options_lctl_is_read() {
    let sources = named(&[]).unwrap();
    assert!(matches!(
        &sources[..],
        [Source {
            way: Way::Lctl(_),
            ..
        }]
    ));
}

#[test]
fn a_file_lists_sources_with_their_intervals() {
    let sources = listed(
        r#"
        [lctl]
        [passwd]
        command = "getent passwd"
        interval = "1d"
        [lsf]
        follow = "/lsf/lsb.acct"
        interval = "30s"
        [slurm]
        command = '''
        sacct -a | awk '{ print "a\tb" }'
        '''
        covers = "20m"
        [slurm-night]
        source = "slurm"
        command = "sacct -S now-3days"
        timeout = "10m"
        "#,
    )
    .unwrap();
    let seconds = |source: &Source| (source.name.clone(), source.interval.as_secs());
    let intervals: Vec<_> = sources.iter().map(seconds).collect();
    let expected = [
        ("lctl", 120),
        ("lsf", 30),
        ("passwd", 86_400),
        ("slurm", 120),
        ("slurm-night", 120),
    ];
    assert_eq!(
        intervals,
        expected.map(|(name, interval)| (name.to_owned(), interval))
    );
    let night = &sources[4];
    assert_eq!(night.source, "slurm");
    assert_eq!(night.timeout, Duration::from_secs(600));
    let Way::Script(command, covers) = &sources[3].way else {
        unreachable!("{sources:?}");
    };
    assert_eq!(command.trim(), r#"sacct -a | awk '{ print "a\tb" }'"#);
    assert_eq!(*covers, Some(Duration::from_secs(1200)));
}

#[test]
fn the_file_that_is_installed_can_be_read() {
    let sources = listed(include_str!("../../../../packaging/sources.toml")).unwrap();
    let names: Vec<_> = sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(names, ["group", "lctl", "passwd"]);
}

#[test]
fn the_files_of_the_documentation_can_be_read() {
    let pages = [
        (include_str!("../../../../docs/sources/slurm.md"), "slurm"),
        (include_str!("../../../../docs/sources/pbs.md"), "pbs"),
        (include_str!("../../../../docs/sources/lsf.md"), "lsf"),
        (
            include_str!("../../../../docs/sources/gridengine.md"),
            "gridengine",
        ),
        (include_str!("../../../../docs/sources/flux.md"), "flux"),
        (
            include_str!("../../../../docs/sources/openmetrics.md"),
            "openmetrics",
        ),
    ];
    for (page, source) in pages {
        let (_, example) = page.split_once("```toml\n").unwrap();
        let (file, _) = example.split_once("```").unwrap();
        let sources = listed(file).unwrap();
        for listed in &sources {
            assert!(matches!(listed.way, Way::Follow(_) | Way::Script(..)));
            assert_eq!(listed.source, source);
        }
    }
}

#[test]
fn a_mistake_is_named_with_its_place() {
    for (text, message) in [
        ("", "has no section"),
        (
            "[passwd]\n",
            "[passwd]: a source other than lctl needs command or follow",
        ),
        (
            "[a]\ncommand = 'x'\nfollow = 'y'\n",
            "[a]: command and follow are mutually exclusive",
        ),
        ("[lctl]\ncovers = '20m'\n", "[lctl]: covers needs a command"),
        ("['a/b']\ncommand = 'x'\n", "[a/b]: a section name"),
        ("[a]\nsource = 'b c'\ncommand = 'x'\n", "line 2"),
        ("[a]\ncomand = 'x'\n", "unknown field `comand`"),
        ("[a]\ncommand = 'x'\ninterval = '5'\n", "line 3"),
        ("[a]\ncommand = 'x'\ninterval = 5\n", "line 3"),
        ("a = 1\n", "line 1"),
    ] {
        let error = listed(text).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn a_file_that_others_can_write_is_not_used() {
    let file = NamedTempFile::new().unwrap();
    fs::write(file.path(), "[lctl]\n").unwrap();
    fs::set_permissions(file.path(), Permissions::from_mode(0o646)).unwrap();
    let read = from_file(file.path(), &common(&[]).reader, INTERVAL);
    assert!(matches!(read, Err(SourcesError::File(_))));
}
