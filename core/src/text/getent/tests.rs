mod database;

use super::*;

#[test]
fn lines_with_passwords_are_known_by_their_form() {
    for line in [
        "ada:$6$salt$abcdefghijklmnop:19000:0:99999:7:::",
        "ada:!:19000:0:99999:7:::",
        "ada:aZ9kq0bC1dE2f:19000::::::",
        "root:*:19000:0:99999:7:::\r",
        "ada:x:1000:1000:Ada Lovelace,,,:/home/ada:/bin/sh",
        "ada:aZ9kq0bC1dE2f:1000:1000:Ada, room 5:4:/home/ada:/bin/sh",
        "staff:x:100:ada,bob",
        "staff:!::ada",
        "staff:$y$j9T$abcdefghijkl::",
        "the hash of ada is $2b$10$abcdefghijklmnopqrstuv",
        "ada $argon2id$v=19$m=65536",
        "userPassword: {SSHA}DkMTwBl+a/3DQTxCYEApdUtNXGgdUac3",
        "first line\nada:!:19000:0:99999:7:::\nlast line",
    ] {
        assert!(may_have_password(line.as_bytes()), "{line}");
        assert!(begins_with_password(line.as_bytes()), "{line}");
    }
}

#[test]
fn lines_of_lustre_and_of_schedulers_have_no_passwords() {
    for line in [
        "",
        "- job_id:          123:1000:n1",
        "  read_bytes:      { samples: 1, unit: bytes, min: 1, max: 9, sum: 9, sumsq: 81, hist: { 4K: 1 } }",
        "  snapshot_time:   1749555518.685497069 secs.nsecs",
        "mdt.fs-MDT0000.job_stats=",
        "error: get_param: param_path 'obdfilter/*/job_stats': No such file or directory",
        "07/05/2024 14:00:37;E;7.pbs1;user=ada price=$5 end=1720188037",
        "all.q:n7:staff:ada:wrf:77:sge:0:1700200000:1700200100:1700200400:0:0:300",
        "{\"jobs\": [{\"id\": 1}]}",
        "4711|4711|c1|RUNNING",
        "a:b:c",
        "$HOME/$USER/x",
    ] {
        assert!(!may_have_password(line.as_bytes()), "{line}");
    }
    // Only the first lines identify a text.
    let text = "x\n".repeat(10) + "ada:!:19000:0:99999:7:::\n";
    assert!(!begins_with_password(text.as_bytes()));
}
