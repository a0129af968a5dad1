//! TLS and passwords, against a server with certificates of the test's own making.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::common::{Fake, PATIENCE, Shipper, not_run, unpack};
use postgres::{Client, NoTls};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd,
};
use tempfile::TempDir;

const TEXT: &str = "mdt.fs-MDT0000.job_stats=job_stats:\n";

#[test]
fn modes_verify_what_they_say_and_passwords_work_over_tls() {
    let mut server = needs!(Server::start());
    let stranger = server.file("stranger.pem", &authority("a stranger").1.pem());
    let authority = server.file("ca.pem", &server.authority.clone());
    let certificate = server.file("server.pem", &server.certificate.clone());

    // The certificate names localhost.
    for (host, mode, ca_file, words) in [
        ("localhost", "verify-full", Some(&authority), &[][..]),
        (
            "localhost",
            "verify-full",
            Some(&stranger),
            &["UnknownIssuer"],
        ),
        ("localhost", "verify-full", None, &["UnknownIssuer"]),
        (
            "127.0.0.1",
            "verify-full",
            Some(&authority),
            &["not valid for name"],
        ),
        ("127.0.0.1", "verify-ca", Some(&authority), &[]),
        (
            "127.0.0.1",
            "verify-ca",
            Some(&stranger),
            &["UnknownIssuer"],
        ),
        ("127.0.0.1", "require", None, &[]),
        ("127.0.0.1", "require", Some(&stranger), &["UnknownIssuer"]),
        ("127.0.0.1", "prefer", None, &[]),
        // A certificate that is itself trusted needs no authority.
        ("localhost", "verify-full", Some(&certificate), &[]),
    ] {
        let before = server.count();
        let ended = server.ship(host, mode, ca_file.map(PathBuf::as_path), "s3cret");
        let expected = if words.is_empty() { 0 } else { 78 };
        ended.is(expected, words);
        assert_eq!(
            server.count() - before,
            i64::from(words.is_empty()),
            "{host} {mode} {ca_file:?}"
        );
    }

    // The server requires TLS and a correct password; a wrong one is not retried.
    server
        .ship("127.0.0.1", "disable", None, "s3cret")
        .is(77, &["28000"]);
    let denied = server
        .ship("127.0.0.1", "require", None, "wr0ng")
        .is(77, &["28P01"]);
    assert!(!denied.said.contains("wr0ng"));

    let packed: Vec<Vec<u8>> = server
        .client
        .query("SELECT body_zstd FROM jobstats.feed", &[])
        .unwrap()
        .iter()
        .map(|row| row.get(0))
        .collect();
    assert!(!packed.is_empty() && packed.iter().all(|packed| unpack(packed) == TEXT));
}

#[test]
fn an_expired_certificate_is_refused_wherever_certificates_are_verified() {
    let mut server = needs!(Server::start_until(2020));
    let authority = server.file("ca.pem", &server.authority.clone());
    let certificate = server.file("server.pem", &server.certificate.clone());
    for (mode, ca_file) in [
        ("verify-full", &authority),
        ("verify-ca", &authority),
        ("require", &authority),
        ("verify-full", &certificate),
    ] {
        server.ship("localhost", mode, Some(ca_file), "s3cret").is(
            78,
            &[
                "expired",
                "hint: the database's certificate must be renewed",
            ],
        );
    }
    assert_eq!(server.count(), 0);
    server
        .ship("localhost", "require", None, "s3cret")
        .is(0, &[]);
}

#[test]
fn failures_of_tls_say_what_to_do() {
    let server = needs!(Server::start());
    server
        .ship("localhost", "verify-full", None, "s3cret")
        .is(78, &["hint: --ca-file or sslrootcert"]);
    let authority = server.file("ca.pem", &server.authority);
    server
        .ship("127.0.0.1", "verify-full", Some(&authority), "s3cret")
        .is(78, &["hint: name the host as its certificate does"]);
    // A server without TLS answers the request for it with one letter.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(
        "postgresql://writer@{}/postgres?sslmode=require",
        listener.local_addr().unwrap()
    );
    let refusing = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; 8]).unwrap();
        stream.write_all(b"N").unwrap();
    });
    let lctl = lctl();
    Shipper::new(&["once", "--lctl", path(&lctl.path()), "--database-url", &url])
        .run()
        .is(78, &["hint: set ssl = on"]);
    refusing.join().unwrap();
}

#[test]
fn a_client_certificate_replaces_the_password() {
    let mut server = needs!(Server::start());
    let [certificate, key] = server.identity(&server.issuer, "certified");
    let url = format!(
        "postgresql://certified@127.0.0.1:{}/postgres?sslmode=require",
        server.port
    );
    let lctl = lctl();
    let ship = |arguments: &[&str]| {
        Shipper::new(&["once", "--lctl", path(&lctl.path()), "--database-url", &url])
            .args(arguments)
            .run()
    };
    ship(&[]).is(77, &["28000"]);
    let both = [
        "--client-certificate",
        path(&certificate),
        "--client-key",
        path(&key),
    ];
    ship(&both).is(0, &[]);
    assert_eq!(server.count(), 1);
    // Others could have copied a key that they can read.
    fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
    ship(&both).is(78, &["chmod 600"]);
    // systemd gives a service access to its credentials in a way that looks like this.
    let from_systemd =
        Shipper::new(&["once", "--lctl", path(&lctl.path()), "--database-url", &url])
            .args(&both)
            .env("CREDENTIALS_DIRECTORY", path(server.directory.path()));
    from_systemd.run().is(0, &[]);
    // A certificate that the server does not trust is a mistake, and no outage.
    server.identity(&authority("a stranger").0, "certified");
    ship(&both).is(
        78,
        &[
            "UnknownCA",
            "hint: the server does not take the client certificate",
        ],
    );
}

#[test]
fn secrets_are_in_no_argument_no_message_and_no_spool() {
    let server = needs!(Server::start());
    let credentials = TempDir::new().unwrap();
    let spool = TempDir::new().unwrap();
    let arguments = credentials.path().join("arguments");
    let lctl = Fake::new(&format!(
        "tr '\\0' ' ' < /proc/$PPID/cmdline > {}; env > {}; printf '{}'",
        path(&arguments),
        path(&credentials.path().join("environment")),
        TEXT.escape_default()
    ));
    fs::write(credentials.path().join("PGPASSWORD"), "wr0ng-s3cret\n").unwrap();
    let ended = Shipper::new(&[
        "once",
        "--verbose",
        "--lctl",
        path(&lctl.path()),
        "--spool",
        path(spool.path()),
    ])
    .args(&[
        "--database-url",
        &format!("postgresql://writer@127.0.0.1:{}/postgres", server.port),
    ])
    .env("CREDENTIALS_DIRECTORY", path(credentials.path()))
    .run()
    .is(77, &["28P01"]);
    assert!(!ended.said.contains("s3cret"), "{}", ended.said);
    for file in [arguments, credentials.path().join("environment")] {
        let text = fs::read_to_string(file).unwrap();
        assert!(!text.is_empty() && !text.contains("s3cret"), "{text}");
    }
    let mut files = 0;
    for entry in fs::read_dir(spool.path()).unwrap() {
        let file = entry.unwrap().path();
        if file.is_file() {
            files += 1;
            let bytes = fs::read(file).unwrap();
            assert!(!bytes.windows(6).any(|bytes| bytes == b"s3cret"));
        }
    }
    assert!(files > 0, "the reading waits in the spool");
}

fn lctl() -> Fake {
    Fake::new(&format!("printf '{}'", TEXT.escape_default()))
}

/// A server that listens on the loopback interface and on a socket in its directory.
struct Server {
    directory: TempDir,
    port: u16,
    issuer: Issuer<'static, KeyPair>,
    authority: String,
    certificate: String,
    client: Client,
}

impl Server {
    /// Returns `None`, with a message, if the tests that need a database are not to run.
    fn start() -> Option<Self> {
        Self::start_until(4000)
    }

    /// With a certificate that is valid until this year.
    fn start_until(year: i32) -> Option<Self> {
        if std::env::var("JOBSTATS_TEST_DATABASE_URL").is_err() {
            not_run("JOBSTATS_TEST_DATABASE_URL is not set");
            return None;
        }
        let directory = tempfile::Builder::new()
            .prefix("jobstats-tls")
            .tempdir_in("/tmp")
            .unwrap();
        fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
        let (issuer, authority) = authority("the test");
        let key = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new(["localhost".to_owned()]).unwrap();
        parameters.not_after = date_time_ymd(year, 1, 1);
        let certificate = parameters.signed_by(&key, &issuer).unwrap();
        let (authority, certificate) = (authority.pem(), certificate.pem());
        let data = directory.path().join("data");
        fs::create_dir(&data).unwrap();
        if let Some(user) = postgres_user() {
            chown(&data, Some(user), None).unwrap();
        }
        run(
            "initdb",
            &[
                "-D",
                path(&data),
                "-U",
                "postgres",
                "--auth=trust",
                "--no-sync",
            ],
        );
        for (name, text) in [
            ("server.crt", certificate.as_str()),
            ("server.key", &key.serialize_pem()),
            ("clients.crt", &authority),
        ] {
            let file = data.join(name);
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
            chown(&file, postgres_user(), None).unwrap();
        }
        fs::write(
            data.join("pg_hba.conf"),
            "local all all trust\nhostssl all certified 127.0.0.1/32 cert\nhostssl all all 127.0.0.1/32 scram-sha-256\n",
        )
        .unwrap();
        let port = (0..5).find_map(|_| start_at_free_port(&data));
        let port = port.expect("a port is free");
        let socket = format!(
            "postgresql:///postgres?host={}&port={port}&user=postgres",
            path(&data)
        );
        let mut client = Client::connect(&socket, NoTls).unwrap();
        client
            .batch_execute(
                "CREATE ROLE writer LOGIN PASSWORD 's3cret'; CREATE ROLE certified LOGIN; CREATE SCHEMA jobstats;
                 CREATE TABLE jobstats.feed (cluster text, server text, \"time\" timestamptz, body_zstd bytea,
                     duration interval, shipper text, source text, covers tstzrange);
                 GRANT USAGE ON SCHEMA jobstats TO writer, certified;
                 GRANT INSERT ON jobstats.feed TO writer, certified",
            )
            .unwrap();
        Some(Self {
            directory,
            port,
            issuer,
            authority,
            certificate,
            client,
        })
    }

    /// The files of the certificate and of the key of a client.
    fn identity(&self, issuer: &Issuer<'static, KeyPair>, role: &str) -> [PathBuf; 2] {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.push(DnType::CommonName, role);
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.signed_by(&key, issuer).unwrap();
        let key = self.file("client.key", &key.serialize_pem());
        fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
        [self.file("client.pem", &certificate.pem()), key]
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let file = self.directory.path().join(name);
        fs::write(&file, text).unwrap();
        file
    }

    fn ship(
        &self,
        host: &str,
        mode: &str,
        ca_file: Option<&Path>,
        password: &str,
    ) -> crate::common::Ended {
        let lctl = lctl();
        let url = format!(
            "postgresql://writer@{host}:{}/postgres?sslmode={mode}",
            self.port
        );
        let ca_file = ca_file.map_or(vec![], |file| vec!["--ca-file", path(file)]);
        Shipper::new(&["once", "--lctl", path(&lctl.path()), "--database-url", &url])
            .args(&ca_file)
            .env("PGPASSWORD", password)
            .run()
    }

    fn count(&mut self) -> i64 {
        self.client
            .query_one("SELECT count(*) FROM jobstats.feed", &[])
            .unwrap()
            .get(0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        run(
            "pg_ctl",
            &[
                "stop",
                "-w",
                "-s",
                "-m",
                "immediate",
                "-D",
                path(&self.directory.path().join("data")),
            ],
        );
    }
}

fn authority(name: &str) -> (Issuer<'static, KeyPair>, Certificate) {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let certificate = parameters.self_signed(&key).unwrap();
    (Issuer::new(parameters, key), certificate)
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns the user that owns the server: PostgreSQL does not run as root.
fn postgres_user() -> Option<u32> {
    let id = |arguments: &[&str]| -> u32 {
        let output = Command::new("id").args(arguments).output().unwrap();
        String::from_utf8(output.stdout)
            .unwrap()
            .trim()
            .parse()
            .unwrap()
    };
    (id(&["-u"]) == 0).then(|| id(&["-u", "postgres"]))
}

/// Starts the server with this data at a port that is free. Returns `None` if something else took the port before.
fn start_at_free_port(data: &Path) -> Option<u16> {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let options = format!(
        "-c ssl=on -c ssl_ca_file=clients.crt -c fsync=off -c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={}",
        path(data)
    );
    let log = data.join("log");
    let arguments = ["start", "-w", "-s", "-D", path(data), "-l", path(&log)];
    ends_well("pg_ctl", &[&arguments[..], &["-o", &options]].concat()).then_some(port)
}

fn run(program: &str, arguments: &[&str]) {
    assert!(ends_well(program, arguments), "{program} {arguments:?}");
}

/// Runs a program of PostgreSQL as a user that may.
fn ends_well(program: &str, arguments: &[&str]) -> bool {
    let pg_config = std::env::var("PG_CONFIG")
        .ok()
        .filter(|path| !path.is_empty())
        .unwrap_or("pg_config".to_owned());
    let directory = Command::new(pg_config)
        .arg("--bindir")
        .output()
        .unwrap()
        .stdout;
    let program = PathBuf::from(String::from_utf8(directory).unwrap().trim()).join(program);
    let mut command = match postgres_user() {
        Some(_) => {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(&program);
            command
        }
        None => Command::new(&program),
    };
    // The server would keep a pipe open, and this directory may be closed to its user.
    let status = command
        .args(arguments)
        .env("PGCTLTIMEOUT", PATIENCE.as_secs().to_string())
        .current_dir("/")
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    status.success()
}
