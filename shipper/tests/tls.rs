//! TLS and passwords, against a server with certificates of the test's own making.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod common;

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Fake, Shipper, not_run, unpack};
use postgres::{Client, NoTls};
use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use tempfile::TempDir;

const TEXT: &str = "mdt.fs-MDT0000.job_stats=job_stats:\n";

#[test]
fn modes_verify_what_they_say_and_passwords_work_over_tls() {
    let Some(mut server) = Server::start() else {
        return;
    };
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

    // The server takes nobody without TLS, and nobody with a wrong password, which is not repeated.
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

/// A server that listens on the loopback interface and on a socket in its directory.
struct Server {
    directory: TempDir,
    port: u16,
    authority: String,
    certificate: String,
    client: Client,
}

impl Server {
    /// Returns `None`, with a message, if the tests that need a database are not to run.
    fn start() -> Option<Self> {
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
        let certificate = CertificateParams::new(["localhost".to_owned()])
            .unwrap()
            .signed_by(&key, &issuer)
            .unwrap();
        let (authority, certificate) = (authority.pem(), certificate.pem());
        // Free now, and for the moment until the server takes it.
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
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
        ] {
            let file = data.join(name);
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
            chown(&file, postgres_user(), None).unwrap();
        }
        fs::write(
            data.join("pg_hba.conf"),
            "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n",
        )
        .unwrap();
        let options = format!(
            "-c ssl=on -c fsync=off -c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={}",
            path(&data)
        );
        run(
            "pg_ctl",
            &[
                "start",
                "-w",
                "-s",
                "-D",
                path(&data),
                "-l",
                path(&data.join("log")),
                "-o",
                &options,
            ],
        );
        let socket = format!(
            "postgresql:///postgres?host={}&port={port}&user=postgres",
            path(&data)
        );
        let mut client = Client::connect(&socket, NoTls).unwrap();
        client
            .batch_execute(
                "CREATE ROLE writer LOGIN PASSWORD 's3cret'; CREATE SCHEMA jobstats;
                 CREATE TABLE jobstats.feed (cluster text, server text, \"time\" timestamptz, body_zstd bytea,
                     duration interval, shipper text);
                 GRANT USAGE ON SCHEMA jobstats TO writer; GRANT INSERT ON jobstats.feed TO writer",
            )
            .unwrap();
        Some(Self {
            directory,
            port,
            authority,
            certificate,
            client,
        })
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
    ) -> common::Ended {
        let lctl = Fake::new(&format!("printf '{}'", TEXT.escape_default()));
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

/// Runs a program of PostgreSQL as a user that may.
fn run(program: &str, arguments: &[&str]) {
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
        .current_dir("/")
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{}", program.display());
}
