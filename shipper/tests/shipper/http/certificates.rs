//! Certificates of servers and of clients, and proxies that the environment names.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use rcgen::{BasicConstraints, Certificate, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tempfile::TempDir;

use super::server::{ConnectProxy, Reply, Server};
use super::{arrived, path};
use crate::common::Ended;
use crate::common::machine::{COUNTING, Machine, texts};

/// An authority, a server's certificate for localhost, and a client's certificate, in files.
struct Certificates {
    directory: TempDir,
    authority: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

impl Certificates {
    fn new() -> Self {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority = parameters.self_signed(&key).unwrap();
        let directory = TempDir::new().unwrap();
        fs::write(directory.path().join("ca.pem"), authority.pem()).unwrap();
        let issuer = Issuer::new(parameters, key);
        Self {
            directory,
            authority,
            issuer,
        }
    }

    fn file(&self, name: &str) -> String {
        path(&self.directory.path().join(name)).to_owned()
    }

    fn certificate(&self, name: &str) -> (Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new([name.to_owned()]).unwrap();
        (certificate.signed_by(&key, &self.issuer).unwrap(), key)
    }

    /// Writes the files of a client.
    fn client(&self, name: &str) -> [String; 2] {
        let (certificate, key) = self.certificate(name);
        let files = [
            self.file(&format!("{name}.pem")),
            self.file(&format!("{name}.key")),
        ];
        fs::write(&files[0], certificate.pem()).unwrap();
        fs::write(&files[1], key.serialize_pem()).unwrap();
        fs::set_permissions(&files[1], Permissions::from_mode(0o600)).unwrap();
        files
    }

    /// A server that wants the certificate of a client, or does not.
    fn server(&self, wants_client: bool) -> Server {
        let (certificate, key) = self.certificate("localhost");
        let provider = Arc::new(ring::default_provider());
        let mut trusted = RootCertStore::empty();
        trusted.add(self.authority.der().clone()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let config = match wants_client {
            true => {
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(trusted), provider);
                config.with_client_cert_verifier(verifier.build().unwrap())
            }
            false => config.with_no_client_auth(),
        };
        let chain = vec![CertificateDer::from(certificate.der().to_vec())];
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        Server::with_tls(config.with_single_cert(chain, key).unwrap(), |_| {
            Reply::created()
        })
    }
}

#[test]
fn the_certificate_of_the_server_is_verified() {
    let certificates = Certificates::new();
    let server = certificates.server(false);
    let machine = Machine::new(COUNTING);
    let ca = certificates.file("ca.pem");
    machine
        .run_once(&server.url())
        .is(78, &["UnknownIssuer", "1 scrape queued"]);
    let other = Certificates::new();
    let stranger = other.file("ca.pem");
    machine
        .once(&server.url())
        .args(&["--ca-file", &stranger])
        .run()
        .is(78, &["TLS: ", "2 scrapes queued"]);
    let address = server.url().replace("localhost", "127.0.0.1");
    machine
        .once(&address)
        .args(&["--ca-file", &ca])
        .run()
        .is(78, &["not valid for name"]);
    assert!(server.requests().is_empty());
    machine
        .once(&server.url())
        .args(&["--ca-file", &ca])
        .run()
        .succeeds_silently();
    assert_eq!(arrived(&server, 0), texts(1..=4));
}

#[test]
fn a_client_certificate_is_shown_to_a_server_that_wants_one() {
    let certificates = Certificates::new();
    let server = certificates.server(true);
    let ca = certificates.file("ca.pem");
    let machine = Machine::new(COUNTING);
    let once = || machine.once(&server.url()).args(&["--ca-file", &ca]);
    once()
        .run()
        .is(78, &["CertificateRequired", "1 scrape queued"]);
    let [certificate, key] = certificates.client("mds1");
    let [_, other_key] = certificates.client("other");
    let with = |key: &str| {
        once()
            .args(&["--client-certificate", &certificate, "--client-key", key])
            .run()
    };
    with(&other_key).is(78, &["TLS: "]);
    with(&certificate).is(78, &["chmod 600"]);
    assert!(server.requests().is_empty());
    let other = Certificates::new();
    let [strange, its_key] = other.client("mds1");
    once()
        .args(&["--client-certificate", &strange, "--client-key", &its_key])
        .run()
        .is(78, &["TLS: received fatal alert", "scrapes queued"]);
    with(&key).succeeds_silently();
    assert_eq!(arrived(&server, 0), texts(1..=5));
    once()
        .args(&["--client-certificate", &certificate])
        .run()
        .is(64, &["--client-key"]);
}

#[test]
fn the_environment_names_the_proxy() {
    let certificates = Certificates::new();
    let server = certificates.server(false);
    let machine = Machine::new(COUNTING);
    let ca = certificates.file("ca.pem");
    let once = |variables: &[(&str, String)]| -> Ended {
        let shipper = machine.once(&server.url()).args(&["--ca-file", &ca]);
        variables
            .iter()
            .fold(shipper, |shipper, (name, value)| shipper.env(name, value))
            .run()
    };
    let proxy = ConnectProxy::new(None);
    let address = format!("http://user:s3cret@{}", proxy.address);
    once(&[("HTTPS_PROXY", address.clone())]).succeeds_silently();
    let asked = proxy.asked();
    assert_eq!((asked.len(), asked[0].method.as_str()), (1, "CONNECT"));
    assert_eq!(asked[0].path, server.url().replace("https://", ""));
    assert_eq!(
        asked[0].header("proxy-authorization"),
        Some("Basic dXNlcjpzM2NyZXQ=")
    );
    assert_eq!(arrived(&server, 0), texts([1]));
    once(&[
        ("HTTPS_PROXY", address.clone()),
        ("NO_PROXY", "db1,localhost".to_owned()),
    ])
    .succeeds_silently();
    once(&[("HTTP_PROXY", address)]).succeeds_silently();
    assert_eq!(proxy.asked().len(), 1);

    let refusing = ConnectProxy::new(Some(502));
    once(&[("https_proxy", format!("http://{}", refusing.address))])
        .is(69, &["no connection", "502", "1 scrape queued"]);
    let ended = once(&[("ALL_PROXY", "socks5://user:s3cret@127.0.0.1:1".to_owned())]);
    assert!(
        !ended
            .is(78, &["ALL_PROXY", "http://HOST:PORT"])
            .said
            .contains("s3cret")
    );
    once(&[]).succeeds_silently();
    assert_eq!(arrived(&server, 0), texts(1..=6));
}
