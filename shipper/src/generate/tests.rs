use std::fs;

use super::*;

#[test]
fn each_command_has_a_page_and_each_shell_a_completion() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path()).unwrap();
    let entries = fs::read_dir(directory.path()).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let commands = Options::command();
    let shown = commands
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    let mut wanted: Vec<_> = shown
        .map(|command| format!("jobstats-shipper-{}.1", command.get_name()))
        .chain(
            [
                "_jobstats-shipper",
                "jobstats-shipper.1",
                "jobstats-shipper.bash",
                "jobstats-shipper.fish",
            ]
            .map(str::to_owned),
        )
        .collect();
    wanted.sort();
    assert_eq!(names, wanted);
    let page = fs::read_to_string(directory.path().join("jobstats-shipper-once.1")).unwrap();
    assert!(page.contains("database\\-url"), "{page}");
    assert!(write(Path::new("/nowhere")).is_err());
}
