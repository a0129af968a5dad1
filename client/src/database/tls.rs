//! TLS with the modes of libpq.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{
    WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore,
    SignatureScheme,
};
use rustls_native_certs::load_native_certs;

use crate::database::settings::SslMode;
use crate::files::trust::{self, TrustError};

/// An error that prevents TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file of certificates or a key cannot be read.
    #[error("{}: {cause}", path.display())]
    Pem {
        /// The path of the file.
        path: PathBuf,
        /// The error in the file.
        cause: pem::Error,
    },
    /// The file of certificates, or the system, has no usable certificate.
    #[error("no usable CA certificate in {0}; give a file with --ca-file")]
    NoCertificate(String),
    /// The file of the key cannot be used.
    #[error(transparent)]
    Key(#[from] TrustError),
    /// The TLS library failed.
    #[error("TLS: {0}")]
    Library(#[from] rustls::Error),
}

/// Returns the TLS configuration of a mode, with the files of a client certificate and of its key if there are any.
pub fn client_config(
    mode: SslMode,
    ca_file: Option<&Path>,
    identity: Option<&(PathBuf, PathBuf)>,
) -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier {
        trusted: trusted(mode, ca_file)?,
        check_name: mode == SslMode::VerifyFull,
        algorithms: provider.signature_verification_algorithms,
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let Some((certificate, key)) = identity else {
        return Ok(builder.with_no_client_auth());
    };
    let identity = Identity::read(certificate, key)?;
    let der = identity.der().map_err(broken(key))?;
    Ok(builder.with_client_auth_cert(identity.certificates, der)?)
}

/// Returns the remedy of a failure of TLS, if it is known.
pub fn remedy(error: &rustls::Error) -> Option<&'static str> {
    if let rustls::Error::AlertReceived(alert) = error {
        return is_about_client(*alert).then_some(
            "the server rejects the client certificate: it must be valid and signed by an authority in the server's ssl_ca_file",
        );
    }
    let rustls::Error::InvalidCertificate(cause) = error else {
        return None;
    };
    Some(match cause {
        _ if is_about_time(error) => {
            "renew the database's certificate, or correct the clock of this machine"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "use the host name in the certificate, or sslmode=verify-ca, which does not check it"
        }
        _ => {
            "give the certificate of its authority with --ca-file or sslrootcert; sslmode=require encrypts without verifying the server"
        }
    })
}

/// Returns true for an alert about the client certificate.
fn is_about_client(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::BadCertificate
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateRequired
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::UnsupportedCertificate
    )
}

/// Returns the trusted certificates, or `None` if the mode accepts any. A CA file makes `prefer` and `require` verify
/// too, as in libpq.
fn trusted(mode: SslMode, ca_file: Option<&Path>) -> Result<Option<TrustedCertificates>, TlsError> {
    let verifies = ca_file.is_some() || matches!(mode, SslMode::VerifyCa | SslMode::VerifyFull);
    let trusted = verifies.then(|| TrustedCertificates::read(ca_file));
    trusted.transpose()
}

#[derive(Debug)]
struct TrustedCertificates {
    authorities: RootCertStore,
    certificates: Vec<CertificateDer<'static>>,
}

/// Reads trusted CA certificates from a file or from the system.
pub fn authorities(ca_file: Option<&Path>) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    Ok(TrustedCertificates::read(ca_file)?.certificates)
}

/// A client certificate with the authorities between it and the root, and its key.
pub struct Identity {
    /// The certificate chain, starting with the client's.
    pub certificates: Vec<CertificateDer<'static>>,
    /// The key (PEM).
    pub key: String,
}

impl Identity {
    /// Reads the files (PEM) of a client certificate and its key.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read, if the key is accessible to others, or if the key does not match the certificate.
    pub fn read(certificates: &Path, key: &Path) -> Result<Self, TlsError> {
        let identity = Self {
            key: trust::secret(key)?,
            certificates: read_certificates(certificates)?,
        };
        let der = identity.der().map_err(broken(key))?;
        CertifiedKey::from_der(
            identity.certificates.clone(),
            der,
            &ring::default_provider(),
        )?;
        Ok(identity)
    }

    fn der(&self) -> Result<PrivateKeyDer<'static>, pem::Error> {
        PrivateKeyDer::from_pem_slice(self.key.as_bytes())
    }
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(broken(path))
}

fn broken(path: &Path) -> impl FnOnce(pem::Error) -> TlsError {
    |cause| TlsError::Pem {
        path: path.to_owned(),
        cause,
    }
}

impl TrustedCertificates {
    fn read(ca_file: Option<&Path>) -> Result<Self, TlsError> {
        let (certificates, source) = match ca_file {
            Some(path) => (read_certificates(path)?, path.display().to_string()),
            None => (load_native_certs().certs, "this system".to_owned()),
        };
        let mut authorities = RootCertStore::empty();
        authorities.add_parsable_certificates(certificates.iter().cloned());
        if authorities.is_empty() {
            return Err(TlsError::NoCertificate(source));
        }
        Ok(Self {
            authorities,
            certificates,
        })
    }

    /// Verifies a server's certificate. A certificate that is itself in the CA file is accepted while it is valid:
    /// `openssl req -x509` marks its certificates as authorities, and the library would refuse such a certificate for a
    /// server.
    fn verify(
        &self,
        certificate: &CertificateDer<'_>,
        parsed: &ParsedCertificate<'_>,
        between: &[CertificateDer<'_>],
        now: UnixTime,
        algorithms: WebPkiSupportedAlgorithms,
    ) -> Result<(), rustls::Error> {
        let verified = verify_server_cert_signed_by_trust_anchor(
            parsed,
            &self.authorities,
            between,
            now,
            algorithms.all,
        );
        let is_trusted = self
            .certificates
            .iter()
            .any(|trusted| trusted == certificate);
        match verified {
            // The library looks at the time before it looks for an authority.
            Err(error) if is_trusted && !is_about_time(&error) => Ok(()),
            verified => verified,
        }
    }
}

fn is_about_time(error: &rustls::Error) -> bool {
    use CertificateError::{Expired, ExpiredContext, NotValidYet, NotValidYetContext};
    matches!(
        error,
        rustls::Error::InvalidCertificate(
            Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. }
        )
    )
}

#[derive(Debug)]
struct Verifier {
    trusted: Option<TrustedCertificates>,
    check_name: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        server: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(trusted) = &self.trusted {
            let parsed = ParsedCertificate::try_from(certificate)?;
            trusted.verify(certificate, &parsed, between, now, self.algorithms)?;
            if self.check_name {
                verify_server_name(&parsed, server)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
