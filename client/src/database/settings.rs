//! Settings of the database connection, from the command line, the environment and a file.

use std::collections::HashMap;
use std::env;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tokio_postgres::Config;
use tokio_postgres::config::{self, Host, TargetSessionAttrs};

use crate::files::variables::{self, Variables, VariablesError};

mod passfile;
#[cfg(test)]
mod tests;

/// The directory of the server's Unix socket if no host is given.
const DEFAULT_HOST: &str = "/var/run/postgresql";

/// The default port.
const DEFAULT_PORT: u16 = 5432;

/// The options that name the database and its TLS mode.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Database")]
#[group(id = "database")]
pub struct Options {
    /// Database URL without password: postgresql://USER@HOST:PORT/DATABASE?sslmode=… [default: JOBSTATS_DATABASE_URL]
    #[arg(long, value_name = "URL")]
    pub database_url: Option<String>,
    /// File of NAME=VALUE lines (JOBSTATS_DATABASE_URL, PGPASSWORD and other PG* variables), private to its owner
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// TLS mode and verification, as in libpq [default: verify-full; prefer, if the server is on this machine]
    #[arg(long, value_name = "MODE", value_enum)]
    pub sslmode: Option<SslMode>,
    /// CA certificates (PEM) to trust instead of the system's
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// Client certificate and its chain (PEM)
    #[arg(long, value_name = "FILE", requires = "client_key")]
    pub client_certificate: Option<PathBuf>,
    /// Private key of the client certificate (PEM), private to its owner
    #[arg(long, value_name = "FILE", requires = "client_certificate")]
    pub client_key: Option<PathBuf>,
}

/// The TLS modes of libpq.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SslMode {
    /// Do not use TLS
    Disable,
    /// Use TLS if the server offers it
    #[value(alias = "allow")]
    Prefer,
    /// Require TLS
    Require,
    /// Require TLS and a certificate from a trusted authority
    VerifyCa,
    /// Require TLS and a certificate for the host from a trusted authority
    VerifyFull,
}

impl From<SslMode> for config::SslMode {
    fn from(mode: SslMode) -> Self {
        match mode {
            SslMode::Disable => Self::Disable,
            SslMode::Prefer => Self::Prefer,
            SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => Self::Require,
        }
    }
}

/// An error in the settings. No message repeats a value, because the value may be a secret.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// `--database-url` holds a password, and every user of the machine sees the arguments of a process.
    #[error(
        "--database-url contains a password, which all users of this machine can see; set PGPASSWORD (or JOBSTATS_DATABASE_URL) in a \
         --config file of mode 600, or in the environment"
    )]
    PasswordInArguments,
    /// The URL cannot be parsed.
    #[error("{0} is not of the form postgresql://USER@HOST:PORT/DATABASE?sslmode=…")]
    Unreadable(&'static str),
    /// A variable or parameter has an invalid value.
    #[error("{0} has an invalid value")]
    Value(&'static str),
    /// Only one of the client certificate and its key is named.
    #[error("a client certificate needs its key: set both sslcert and sslkey, or neither")]
    HalfIdentity,
    /// The server has an address and no name, so that its certificate cannot be verified.
    #[error(
        "hostaddr without host: TLS verifies the host name; set host, or sslmode=disable on a trusted network"
    )]
    Nameless,
    /// No source names a database.
    #[error("no database given: use --database-url, --config or JOBSTATS_DATABASE_URL")]
    Nowhere,
    /// The file of variables cannot be used.
    #[error(transparent)]
    File(#[from] VariablesError),
}

/// The settings of a connection to the database.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The settings of the client library: everything but TLS.
    pub config: Config,
    /// The TLS mode.
    pub sslmode: SslMode,
    /// The file of trusted certificates. Without one, the modes that verify trust the system's authorities.
    pub ca_file: Option<PathBuf>,
    /// The files of the client certificate and of its key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// True if the URL sets `target_session_attrs`.
    states_session: bool,
}

impl Settings {
    /// Returns true if the database is on this machine: all hosts are sockets or loopback addresses.
    pub fn is_local(&self) -> bool {
        is_local(&self.config)
    }

    /// Selects a writable host among several, unless the URL sets `target_session_attrs`. A standby named first would otherwise accept
    /// every connection and reject every write.
    #[must_use]
    pub fn for_writing(mut self) -> Self {
        let config = &mut self.config;
        let hosts = config.get_hosts().len().max(config.get_hostaddrs().len());
        if hosts > 1 && !self.states_session {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        self
    }
}

impl Options {
    /// Merges the sources. The command line wins over the environment, and the environment over the file; the URL wins
    /// over the service that it or `PGSERVICE` names, and the service over single variables. The password file is read
    /// last, if no other source has a password.
    ///
    /// `application_name` is the name that the server shows for the connection if no source gives one.
    ///
    /// # Errors
    ///
    /// Fails if no source names a database, and if a source has a value that cannot be used.
    pub fn settings(&self, application_name: &str) -> Result<Settings, SettingsError> {
        let variables = Variables::new(|name| env::var(name).ok(), self.config.as_deref())?;
        self.settings_from(&variables, application_name)
    }

    fn settings_from(
        &self,
        variables: &Variables,
        application_name: &str,
    ) -> Result<Settings, SettingsError> {
        let stored = variables.get(variables::URL);
        let named = ["PGHOST", "PGDATABASE", "PGSERVICE"].map(|name| variables.get(name));
        let (source, url) = match (&self.database_url, stored) {
            (Some(url), _) => ("--database-url", url.as_str()),
            (None, Some(url)) => (variables::URL, url),
            (None, None) if named == [None; 3] => return Err(SettingsError::Nowhere),
            (None, None) => ("", ""),
        };
        let Url { rest, tls, service } = Url::split(url);
        let variables = &variables.with_service(service.as_deref())?;
        let mut config: Config = rest
            .parse()
            .map_err(|_| SettingsError::Unreadable(source))?;
        if self.database_url.is_some() && config.get_password().is_some() {
            return Err(SettingsError::PasswordInArguments);
        }
        fill(&mut config, variables)?;
        if config.get_application_name().is_none() {
            config.application_name(variables.get("PGAPPNAME").unwrap_or(application_name));
        }
        if config.get_password().is_none()
            && let Some(text) = variables.password_file()?
            && let Some(password) = passfile::password(&text, &config)
        {
            config.password(password);
        }
        let stated = |name| tls.get(name).map(String::as_str).or(variables.get(name));
        // A connection string of the other form, `host=… sslmode=…`, reaches the client library whole.
        let in_text = rest.contains("sslmode").then(|| config.get_ssl_mode());
        let file = |option: &Option<PathBuf>, name| option.clone().or(stated(name).map(Into::into));
        let ca_file = file(&self.ca_file, "PGSSLROOTCERT");
        let identity = match (
            file(&self.client_certificate, "PGSSLCERT"),
            file(&self.client_key, "PGSSLKEY"),
        ) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err(SettingsError::HalfIdentity),
        };
        Ok(Settings {
            sslmode: self.sslmode(&config, in_text, stated("PGSSLMODE"))?,
            config,
            ca_file,
            identity,
            states_session: rest.contains("target_session_attrs"),
        })
    }

    /// Returns the TLS mode of a connection. `in_text` is the mode in a connection string, `stated` that in the URL or in
    /// the variables.
    fn sslmode(
        &self,
        config: &Config,
        in_text: Option<config::SslMode>,
        stated: Option<&str>,
    ) -> Result<SslMode, SettingsError> {
        let is_socket = |host: &Host| matches!(host, Host::Unix(_));
        if config.get_hostaddrs().is_empty() && config.get_hosts().iter().all(is_socket) {
            // Unix sockets need no TLS.
            return Ok(SslMode::Disable);
        }
        match (self.sslmode, in_text, stated) {
            (Some(mode), ..) => Ok(mode),
            (None, Some(config::SslMode::Disable), _) => Ok(SslMode::Disable),
            (None, Some(config::SslMode::Require), _) => Ok(SslMode::Require),
            (None, Some(_), _) => Ok(SslMode::Prefer),
            (None, None, Some(mode)) => {
                SslMode::from_str(mode, false).map_err(|_| SettingsError::Value("sslmode"))
            }
            (None, None, None) => default_mode(config),
        }
    }
}

/// Returns the default TLS mode. Another machine could impersonate the database and steal the password, so its certificate is verified.
/// Connections within this machine need no certificate.
fn default_mode(config: &Config) -> Result<SslMode, SettingsError> {
    match (is_local(config), config.get_hosts()) {
        // The TLS library needs the name of a host.
        (true, []) => Ok(SslMode::Disable),
        (true, _) => Ok(SslMode::Prefer),
        (false, []) => Err(SettingsError::Nameless),
        (false, _) => Ok(SslMode::VerifyFull),
    }
}

/// Returns true if a host is this machine: `localhost`, or a loopback address.
pub fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// Returns the hosts of a connection with their ports. A Unix socket is the directory in which it is.
pub(crate) fn hosts(config: &Config) -> Vec<(String, u16)> {
    let named = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(directory) => directory.display().to_string(),
    });
    let mut hosts: Vec<String> = named.collect();
    if hosts.is_empty() {
        let addresses = config.get_hostaddrs().iter();
        hosts.extend(addresses.map(ToString::to_string));
    }
    let ports = config.get_ports();
    let port = |index| *ports.get(index).or(ports.first()).unwrap_or(&DEFAULT_PORT);
    let numbered = hosts.into_iter().enumerate();
    numbered.map(|(index, host)| (host, port(index))).collect()
}

/// Returns true if all hosts are this machine.
fn is_local(config: &Config) -> bool {
    let is_here = |host: &Host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => is_this_machine(name),
    };
    let addresses = config.get_hostaddrs();
    if addresses.is_empty() {
        config.get_hosts().iter().all(is_here)
    } else {
        addresses.iter().all(IpAddr::is_loopback)
    }
}

/// A URL, split from the parameters that the client library does not know.
struct Url {
    rest: String,
    tls: HashMap<&'static str, String>,
    service: Option<String>,
}

impl Url {
    fn split(url: &str) -> Self {
        let mut split = Self {
            rest: url.to_owned(),
            tls: HashMap::new(),
            service: None,
        };
        let Some((base, query)) = url.rsplit_once('?') else {
            return split;
        };
        let mut kept = Vec::new();
        for parameter in query.split('&') {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match variables::of_key(name) {
                Some(variable) if name.starts_with("ssl") => {
                    split.tls.insert(variable, value.replace("%2F", "/"));
                }
                _ if name == "service" => split.service = Some(value.to_owned()),
                // The client library takes a list of hosts here for one host.
                _ if name == "host" => {
                    let list = value.replace("%2C", ",").replace("%2c", ",");
                    kept.extend(list.split(',').map(|host| format!("host={host}")));
                }
                _ => kept.push(parameter.to_owned()),
            }
        }
        split.rest = format!("{base}?{}", kept.join("&"));
        split
    }
}

/// Fills in settings that the URL leaves open from the variables.
fn fill(config: &mut Config, variables: &Variables) -> Result<(), SettingsError> {
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        for host in variables.get("PGHOST").unwrap_or(DEFAULT_HOST).split(',') {
            config.host(host);
        }
    }
    if config.get_ports().is_empty() {
        let ports = variables.get("PGPORT").into_iter();
        for port in ports.flat_map(|ports| ports.split(',')) {
            config.port(port.parse().map_err(|_| SettingsError::Value("PGPORT"))?);
        }
    }
    if let (None, Some(user)) = (config.get_user(), variables.get("PGUSER")) {
        config.user(user);
    }
    if let (None, Some(password)) = (config.get_password(), variables.get("PGPASSWORD")) {
        config.password(password);
    }
    if let (None, Some(database)) = (config.get_dbname(), variables.get("PGDATABASE")) {
        config.dbname(database);
    }
    if let (None, Some(options)) = (config.get_options(), variables.get("PGOPTIONS")) {
        config.options(options);
    }
    Ok(())
}
