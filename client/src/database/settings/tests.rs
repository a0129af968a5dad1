use std::os::unix::fs::PermissionsExt;

use super::*;

fn settings(url: Option<&str>, variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    let options = Options {
        database_url: url.map(str::to_owned),
        ..Options::default()
    };
    options.settings_from(&set(variables), "jobstats-test")
}

fn set(variables: &[(&str, &str)]) -> Variables {
    let value = |name: &str| {
        variables
            .iter()
            .find(|(set, _)| *set == name)
            .map(|(_, value)| (*value).to_owned())
    };
    Variables::new(value, None).unwrap()
}

#[test]
fn a_password_in_the_arguments_is_refused_in_every_spelling() {
    for url in [
        "postgresql://writer:s3cret@db1/jobstats",
        "postgresql://writer@db1/jobstats?password=s3cret",
        "host=db1 user=writer password=s3cret",
    ] {
        let error = settings(Some(url), &[]).unwrap_err();
        assert!(matches!(error, SettingsError::PasswordInArguments), "{url}");
        assert!(!error.to_string().contains("s3cret"));
    }
}

#[test]
fn a_password_from_elsewhere_is_taken() {
    let stored = settings(
        None,
        &[(
            "JOBSTATS_DATABASE_URL",
            "postgresql://writer:s3cret@db1/jobstats",
        )],
    )
    .unwrap();
    assert_eq!(stored.config.get_password(), Some(&b"s3cret"[..]));
    let filled = settings(
        Some("postgresql://writer@db1/jobstats"),
        &[("PGPASSWORD", "s3cret")],
    )
    .unwrap();
    assert_eq!(filled.config.get_password(), Some(&b"s3cret"[..]));
}

#[test]
fn what_cannot_be_read_is_not_repeated() {
    let error = settings(
        None,
        &[(
            "JOBSTATS_DATABASE_URL",
            "postgresql://db1/x?pass word=s3cret",
        )],
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "JOBSTATS_DATABASE_URL is not of the form postgresql://USER@HOST:PORT/DATABASE?sslmode=…"
    );
}

#[test]
fn variables_fill_in_what_the_url_leaves_open() {
    let variables = [
        ("PGHOST", "other"),
        ("PGPORT", "6432"),
        ("PGUSER", "writer"),
        ("PGDATABASE", "other"),
    ];
    let Settings { config, .. } = settings(Some("postgresql://db1/jobstats"), &variables).unwrap();
    assert_eq!(config.get_hosts(), [Host::Tcp("db1".to_owned())]);
    assert_eq!(config.get_dbname(), Some("jobstats"));
    assert_eq!(config.get_user(), Some("writer"));
    assert_eq!(config.get_application_name(), Some("jobstats-test"));
    let Settings { config, .. } = settings(None, &variables).unwrap();
    assert_eq!(config.get_hosts(), [Host::Tcp("other".to_owned())]);
    assert_eq!(config.get_ports(), [6432]);
}

#[test]
fn without_a_host_it_is_the_local_server() {
    let Settings {
        config, sslmode, ..
    } = settings(Some("postgresql:///jobstats"), &[]).unwrap();
    assert_eq!(config.get_hosts(), [Host::Unix(DEFAULT_HOST.into())]);
    assert_eq!(sslmode, SslMode::Disable);
}

#[test]
fn without_any_word_of_a_database_nothing_is_guessed() {
    assert!(matches!(
        settings(None, &[("PGUSER", "writer")]),
        Err(SettingsError::Nowhere)
    ));
}

#[test]
fn sslmode_comes_from_the_url_then_from_the_environment() {
    let mode = |url, variables: &[(&str, &str)]| settings(Some(url), variables).unwrap().sslmode;
    assert_eq!(mode("postgresql://db1/x", &[]), SslMode::VerifyFull);
    assert_eq!(
        mode("postgresql://db1/x", &[("PGSSLMODE", "prefer")]),
        SslMode::Prefer
    );
    assert_eq!(
        mode("postgresql://db1/x", &[("PGSSLMODE", "require")]),
        SslMode::Require
    );
    let verify =
        "postgresql://db1/x?connect_timeout=3&sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem";
    assert_eq!(
        mode(verify, &[("PGSSLMODE", "require")]),
        SslMode::VerifyFull
    );
    assert_eq!(
        settings(Some(verify), &[]).unwrap().ca_file,
        Some("/etc/ca.pem".into())
    );
    assert!(matches!(
        settings(Some("postgresql://db1/x?sslmode=yes"), &[]),
        Err(SettingsError::Value("sslmode"))
    ));
}

#[test]
fn sslmode_on_the_command_line_goes_first() {
    let options = Options {
        database_url: Some("postgresql://db1/x?sslmode=disable".to_owned()),
        sslmode: Some(SslMode::VerifyCa),
        ca_file: Some("/etc/other.pem".into()),
        ..Options::default()
    };
    let settings = options
        .settings_from(&set(&[("PGSSLROOTCERT", "/etc/ca.pem")]), "jobstats-test")
        .unwrap();
    assert_eq!(settings.sslmode, SslMode::VerifyCa);
    assert_eq!(settings.ca_file, Some("/etc/other.pem".into()));
}

#[test]
fn sslmode_of_a_connection_string_is_not_weakened() {
    let mode = |text, variables: &[(&str, &str)]| settings(Some(text), variables).unwrap().sslmode;
    assert_eq!(
        mode("host=db1 sslmode=require", &[("PGSSLMODE", "prefer")]),
        SslMode::Require
    );
    assert_eq!(mode("host=db1 sslmode=disable", &[]), SslMode::Disable);
    assert_eq!(
        mode("host=db1", &[("PGSSLMODE", "verify-full")]),
        SslMode::VerifyFull
    );
}

#[test]
fn an_address_without_a_name_is_no_socket() {
    let mode = |url| settings(Some(url), &[]).unwrap().sslmode;
    assert_eq!(
        mode("postgresql:///x?hostaddr=10.0.0.1&sslmode=require"),
        SslMode::Require
    );
    assert_eq!(mode("postgresql:///x?hostaddr=127.0.0.1"), SslMode::Disable);
    let nameless = settings(Some("postgresql:///x?hostaddr=10.0.0.1"), &[]);
    assert!(matches!(nameless, Err(SettingsError::Nameless)));
}

#[test]
fn certificates_of_other_machines_are_verified_by_default() {
    let mode = |url| settings(Some(url), &[]).unwrap().sslmode;
    for (url, expected) in [
        ("postgresql://db1/x", SslMode::VerifyFull),
        ("postgresql://10.0.0.1/x", SslMode::VerifyFull),
        ("host=db1", SslMode::VerifyFull),
        ("host=db1 sslmode=prefer", SslMode::Prefer),
        ("postgresql://localhost/x", SslMode::Prefer),
        ("postgresql://127.0.0.1/x", SslMode::Prefer),
        ("postgresql://[::1]/x", SslMode::Prefer),
        ("postgresql://localhost,db1/x", SslMode::VerifyFull),
        // The name is of this machine, and the address is not.
        (
            "postgresql://localhost/x?hostaddr=10.0.0.1",
            SslMode::VerifyFull,
        ),
        ("postgresql:///x?host=/run/postgresql", SslMode::Disable),
    ] {
        assert_eq!(mode(url), expected, "{url}");
    }
}

#[test]
fn a_client_certificate_comes_with_its_key() {
    let url = "postgresql://db1/x?sslcert=%2Fetc%2Fclient.pem&sslkey=%2Fetc%2Fclient.key";
    let files = Some(("/etc/client.pem".into(), "/etc/client.key".into()));
    assert_eq!(settings(Some(url), &[]).unwrap().identity, files);
    let variables = [
        ("PGSSLCERT", "/etc/client.pem"),
        ("PGSSLKEY", "/etc/client.key"),
    ];
    let plain = Some("postgresql://db1/x");
    assert_eq!(settings(plain, &variables).unwrap().identity, files);
    assert_eq!(settings(plain, &[]).unwrap().identity, None);
    let half = settings(plain, &variables[..1]);
    assert!(matches!(half, Err(SettingsError::HalfIdentity)));
}

/// A file of the test's own that only its owner can read.
fn private(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

#[test]
fn a_service_fills_in_what_the_url_leaves_open_and_wins_over_variables() {
    let file = private("[jobs]\nhost=db1\nuser=writer\ndbname=other\nsslmode=verify-full\n");
    let variables = [
        ("PGSERVICEFILE", file.path().to_str().unwrap()),
        ("PGHOST", "db2"),
        ("PGPORT", "6432"),
    ];
    let found = settings(Some("postgresql:///jobstats?service=jobs"), &variables).unwrap();
    assert_eq!(found.config.get_hosts(), [Host::Tcp("db1".to_owned())]);
    assert_eq!(found.config.get_ports(), [6432]);
    assert_eq!(found.config.get_dbname(), Some("jobstats"));
    assert_eq!(found.config.get_user(), Some("writer"));
    assert_eq!(found.sslmode, SslMode::VerifyFull);
    let named = [variables[0], ("PGSERVICE", "jobs")];
    let found = settings(None, &named).unwrap();
    assert_eq!(found.config.get_dbname(), Some("other"));
    let missing = settings(None, &[variables[0], ("PGSERVICE", "none")]).unwrap_err();
    assert!(missing.to_string().contains("\"none\""), "{missing}");
}

#[test]
fn the_password_file_is_asked_last() {
    let file = private("db1:*:*:writer:s3cret\n");
    let variables = [("PGPASSFILE", file.path().to_str().unwrap())];
    let url = Some("postgresql://writer@db1/jobstats");
    let found = settings(url, &variables).unwrap();
    assert_eq!(found.config.get_password(), Some(&b"s3cret"[..]));
    let found = settings(url, &[variables[0], ("PGPASSWORD", "other")]).unwrap();
    assert_eq!(found.config.get_password(), Some(&b"other"[..]));
    // A file that is not needed is not read.
    let missing = ("PGPASSFILE", "/nowhere/pgpass");
    assert!(settings(url, &[missing, ("PGPASSWORD", "other")]).is_ok());
    assert!(settings(url, &[missing]).is_err());
}

#[test]
fn a_password_file_in_the_home_directory_is_ignored_unless_it_is_private() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(".pgpass");
    std::fs::write(&path, "*:*:*:*:s3cret\n").unwrap();
    let password = |variables: &[(&str, &str)]| -> Result<_, SettingsError> {
        let found = settings(Some("postgresql://writer@db1/jobstats"), variables)?;
        Ok(found.config.get_password().map(<[u8]>::to_vec))
    };
    let (home, named) = (home.path().to_str().unwrap(), path.to_str().unwrap());
    let permit = |mode| std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
    permit(0o600);
    assert_eq!(
        password(&[("HOME", home)]).unwrap(),
        Some(b"s3cret".to_vec())
    );
    permit(0o644);
    assert_eq!(password(&[("HOME", home)]).unwrap(), None);
    assert!(password(&[("PGPASSFILE", named)]).is_err());
}

#[test]
fn hosts_and_ports_may_be_lists_of_parameters() {
    let listed = |query| {
        let url = format!("postgresql://writer@/jobstats?{query}&sslmode=require");
        hosts(&settings(Some(&url), &[]).unwrap().for_writing().config)
    };
    let both = |ports: [u16; 2]| {
        ["a", "/run/b"]
            .map(str::to_owned)
            .into_iter()
            .zip(ports)
            .collect::<Vec<_>>()
    };
    assert_eq!(listed("host=a,/run/b&port=1,2"), both([1, 2]));
    assert_eq!(listed("port=1,2&host=a%2c%2Frun%2Fb"), both([1, 2]));
    assert_eq!(listed("host=a,/run/b&port=7"), both([7, 7]));
    assert_eq!(listed("host=a,/run/b"), both([5432, 5432]));
    assert_eq!(listed("host=a&host=/run/b&port=1,2"), both([1, 2]));
}

#[test]
fn writers_ask_several_hosts_for_the_one_that_accepts_writes() {
    let attributes = |url| {
        let settings = settings(Some(url), &[]).unwrap().for_writing();
        settings.config.get_target_session_attrs()
    };
    let any = TargetSessionAttrs::Any;
    let writing = TargetSessionAttrs::ReadWrite;
    assert_eq!(attributes("postgresql://writer@db1,db2/jobstats"), writing);
    assert_eq!(attributes("host=db1,db2 user=writer"), writing);
    assert_eq!(attributes("postgresql://writer@db1/jobstats"), any);
    assert_eq!(
        attributes("postgresql://writer@db1,db2/jobstats?target_session_attrs=any"),
        any
    );
}
