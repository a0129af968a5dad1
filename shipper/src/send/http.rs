//! Stores texts through PostgREST, for servers that reach the database only over HTTP, for example through a web proxy.

use std::env;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use jobstats_client::Kind;
use jobstats_client::database::tls::{self, Identity, TlsError};
use jobstats_client::files::trust::{self, TrustError};
use jobstats_client::spool::Text;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use ureq::http::Uri;
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};
use ureq::{Agent, Proxy, ProxyProtocol, SendBody, Timeout};

use super::{Answer, SendError, Timeouts, Transport};
use crate::frame::Reading;

mod answer;
mod body;
mod options;

pub use answer::Refusal;
use body::{Body, COLUMNS};
pub use options::HttpOptions;

/// The largest size of a request with several texts. It bounds the memory of the other side, and the bytes that are sent in
/// vain if one of the texts is refused.
const TOGETHER: u64 = 4 << 20;

/// The largest part of an answer that is read.
const MOST_ANSWER: u64 = 64 << 10;

/// The size of the buffers of a connection.
const BUFFER: usize = 64 << 10;

/// The variables that may name the proxy. The first that is set counts.
const PROXIES: [&str; 4] = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

/// An error that kept texts from being stored.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error(transparent)]
    TokenFile(#[from] TrustError),
    #[error("{} has no token: expected one line of printable characters", .0.display())]
    Token(PathBuf),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("{0} in the environment does not have the form http://HOST:PORT")]
    Proxy(&'static str),
    /// The server's certificate is not trusted, or the server does not trust ours.
    #[error("TLS: {0}")]
    Untrusted(rustls::Error),
    #[error("no connection: {0}")]
    Unreachable(ureq::Error),
    #[error("the connection broke before the answer was complete: {0}")]
    Broken(ureq::Error),
    #[error("no answer within the time limit (--statement-timeout)")]
    Late,
    /// The answer is that the texts were not stored.
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl HttpError {
    pub fn kind(&self) -> Kind {
        match self {
            Self::TokenFile(_)
            | Self::Token(_)
            | Self::Tls(_)
            | Self::Proxy(_)
            | Self::Untrusted(_) => Kind::Setup,
            Self::Unreachable(_) | Self::Broken(_) => Kind::Lost,
            Self::Late => Kind::Silent,
            Self::Refused(refusal) => refusal.kind(),
            Self::Io(_) => Kind::Local,
        }
    }

    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// Returns true if the size of the request may be the reason.
    pub fn may_be_of_size(&self) -> bool {
        let is_of_size = |answer: &Refusal| answer.is_too_large() || answer.kind() == Kind::Silent;
        matches!(self, Self::Broken(_) | Self::Late) || self.refusal().is_some_and(is_of_size)
    }
}

impl From<ureq::Error> for HttpError {
    fn from(error: ureq::Error) -> Self {
        match error {
            ureq::Error::Io(error) => match error.downcast::<rustls::Error>() {
                Ok(error) => Self::Untrusted(error),
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    Self::Unreachable(error.into())
                }
                Err(error) => Self::Broken(error.into()),
            },
            ureq::Error::Rustls(error) => Self::Untrusted(error),
            ureq::Error::Timeout(timeout @ (Timeout::Resolve | Timeout::Connect)) => {
                Self::Unreachable(ureq::Error::Timeout(timeout))
            }
            ureq::Error::Timeout(_) => Self::Late,
            ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed
            | ureq::Error::ConnectProxyFailed(_) => Self::Unreachable(error),
            _ => Self::Broken(error),
        }
    }
}

/// The address of PostgREST, and how to get in.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// The URL, with a slash at its end.
    pub url: Uri,
    /// The file of the token (JWT).
    pub token_file: Option<PathBuf>,
    /// The file of trusted certificates that replaces the system's.
    pub ca_file: Option<PathBuf>,
    /// The files of the client certificate and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

pub struct Http {
    settings: HttpSettings,
    timeouts: Timeouts,
    /// The connections, with the certificates that were read when they were made.
    agent: Option<Agent>,
}

impl Http {
    /// Checks files and environment, without connecting.
    pub fn new(settings: HttpSettings, timeouts: Timeouts) -> Result<Self, HttpError> {
        // The library uses the process-wide cryptography provider; calling this again changes nothing.
        let _ = CryptoProvider::install_default(ring::default_provider());
        settings.token()?;
        let agent = settings.agent(timeouts)?;
        Ok(Self {
            settings,
            timeouts,
            agent: Some(agent),
        })
    }

    /// Sends a request that stores nothing. Its answer shows whether the address, the token and the privileges of its role are right.
    pub fn rehearse(&mut self) -> Result<(), HttpError> {
        self.post(&mut Body::nothing())
    }

    fn post(&mut self, body: &mut Body<'_>) -> Result<(), HttpError> {
        let agent = match &self.agent {
            Some(agent) => agent,
            None => self.agent.insert(self.settings.agent(self.timeouts)?),
        };
        let url = format!("{}feed?columns={COLUMNS}", self.settings.url);
        let mut request = agent
            .post(url)
            .header("Content-Type", "application/json")
            .header("Content-Length", body.length)
            .header("Content-Profile", "jobstats")
            .header("Prefer", "return=minimal");
        if let Some(token) = self.settings.token()? {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let mut answer = request.send(SendBody::from_reader(body))?;
        let mut text = Vec::new();
        let mut reader = answer.body_mut().as_reader().take(MOST_ANSWER);
        reader.read_to_end(&mut text).map_err(ureq::Error::from)?;
        Ok(answer::check(
            answer.status().as_u16(),
            answer.headers(),
            &text,
        )?)
    }
}

impl Transport for Http {
    fn together(&self, texts: &[&Text]) -> usize {
        let mut size = 0;
        let fits = |text: &&&Text| {
            size += 2 * text.packed_bytes();
            size <= TOGETHER
        };
        texts.iter().take_while(fits).count()
    }

    /// PostgREST stores all texts of a request or no text. It drops warnings, so a rejected text counts as stored.
    fn store(&mut self, reading: &Reading, texts: &[&Text]) -> Result<Answer, SendError> {
        let mut body = Body::new(reading, texts);
        let posted = self.post(&mut body);
        match (posted, body.failure) {
            (Ok(()), _) => Ok(Answer::Stored),
            (Err(_), Some(error)) => Err(HttpError::from(error).into()),
            (Err(error), None) => Err(error.into()),
        }
    }

    fn name(&self) -> String {
        self.settings.url.to_string()
    }

    fn close(&mut self) {
        self.agent = None;
    }
}

impl HttpSettings {
    /// Reads the token, which may have been renewed.
    fn token(&self) -> Result<Option<String>, HttpError> {
        let Some(path) = &self.token_file else {
            return Ok(None);
        };
        let text = trust::secret(path)?;
        let token = text.trim();
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(HttpError::Token(path.clone()));
        }
        Ok(Some(token.to_owned()))
    }

    /// Reads certificates and environment.
    fn agent(&self, timeouts: Timeouts) -> Result<Agent, HttpError> {
        let config = Agent::config_builder()
            .tls_config(self.tls()?)
            .proxy(self.proxy()?)
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_resolve(Some(timeouts.connect))
            .timeout_connect(Some(timeouts.connect))
            .timeout_global(Some(timeouts.statement))
            .user_agent(crate::send::row::SHIPPER.replace(' ', "/"))
            .accept("application/json")
            .input_buffer_size(BUFFER)
            .output_buffer_size(BUFFER)
            .build();
        Ok(config.new_agent())
    }

    fn tls(&self) -> Result<TlsConfig, HttpError> {
        let mut config = TlsConfig::builder();
        if self.is_encrypted() {
            let authorities = tls::authorities(self.ca_file.as_deref())?;
            let authorities = Arc::new(owned(&authorities));
            config = config.root_certs(RootCerts::Specific(authorities));
        }
        if let Some((certificates, key)) = &self.identity {
            let identity = Identity::read(certificates, key)?;
            config = config.client_cert(Some(client_certificate(&identity)?));
        }
        Ok(config.build())
    }

    fn is_encrypted(&self) -> bool {
        self.url.scheme_str() == Some("https")
    }

    /// Returns the proxy of the environment, unless `NO_PROXY` names the host or the host is this machine.
    fn proxy(&self) -> Result<Option<Proxy>, HttpError> {
        let named = PROXIES.into_iter().find_map(|name| {
            let value = env::var(name).ok().filter(|value| !value.is_empty())?;
            Some((name, value))
        });
        let Some((name, value)) = named.filter(|_| self.is_encrypted()) else {
            return Ok(None);
        };
        if Proxy::try_from_env().is_some_and(|proxy| proxy.is_no_proxy(&self.url)) {
            return Ok(None);
        }
        let is_usable =
            |proxy: &Proxy| matches!(proxy.protocol(), ProxyProtocol::Http | ProxyProtocol::Https);
        let proxy = Proxy::new(&value).ok().filter(is_usable);
        proxy.map(Some).ok_or(HttpError::Proxy(name))
    }
}

fn client_certificate(identity: &Identity) -> Result<ClientCert, HttpError> {
    let key = PrivateKey::from_pem(identity.key.as_bytes())?;
    Ok(ClientCert::new_with_certs(
        &owned(&identity.certificates),
        key,
    ))
}

fn owned(certificates: &[CertificateDer<'_>]) -> Vec<Certificate<'static>> {
    let certificates = certificates.iter();
    certificates
        .map(|one| Certificate::from_der(one).to_owned())
        .collect()
}
