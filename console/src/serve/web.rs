//! Identifies users behind an authenticating web server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use hyper::header::{HeaderMap, HeaderName};
use jobstats_client::files::trust;
use nix::unistd::User;
use ring::digest::{SHA256, digest};
use tokio::sync::Semaphore;

use super::turns::Permit;
use crate::ask::error::Error;

/// The header with the secret that the web server and the service share.
const SECRET: &str = "jobstats-secret";

/// The addresses of this machine for itself.
const LOCALHOST: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::LOCALHOST),
    IpAddr::V6(Ipv6Addr::LOCALHOST),
];

/// The connections of web servers that are held.
const CONNECTIONS: usize = 256;

/// The options for a web server.
#[derive(Debug, Args)]
#[command(next_help_heading = "Web server")]
pub struct Web {
    /// Address and port to listen on for a web server, such as 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS", requires = "secret_file")]
    pub listen: Option<SocketAddr>,
    /// File with the secret that the web server sends as the header Jobstats-Secret, private to its owner
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub secret_file: Option<PathBuf>,
    /// Header with the user name that the web server has authenticated
    #[arg(
        long,
        value_name = "NAME",
        default_value = "x-remote-user",
        requires = "listen"
    )]
    pub user_header: HeaderName,
    /// Address of the web server; others are rejected; may be repeated
    #[arg(long, value_name = "ADDRESS", default_values_t = LOCALHOST, requires = "listen")]
    pub web_server: Vec<IpAddr>,
}

/// A web server that is believed.
pub struct Proxy {
    secret: Vec<u8>,
    header: HeaderName,
    addresses: Vec<IpAddr>,
    places: Arc<Semaphore>,
}

impl Proxy {
    /// Returns the address to answer at and who is believed there; `None` if no web server is.
    pub fn new(options: &Web) -> Result<Option<(SocketAddr, Self)>, Error> {
        let (Some(listen), Some(file)) = (options.listen, &options.secret_file) else {
            return Ok(None);
        };
        if !listen.ip().is_loopback() {
            let message = format!("{listen} is not a loopback address such as 127.0.0.1");
            return Err(Error::Usage(message));
        }
        let secret = trust::secret(file)?;
        let secret = secret.trim().as_bytes().to_vec();
        if secret.len() < 16 {
            let message = format!("the secret in {} is shorter than 16 bytes", file.display());
            return Err(Error::Usage(message));
        }
        let proxy = Self {
            secret,
            header: options.user_header.clone(),
            addresses: options.web_server.clone(),
            places: Arc::new(Semaphore::new(CONNECTIONS)),
        };
        Ok(Some((listen, proxy)))
    }

    /// Accepts a connection from an address; `None` if it is not the web server, or if there are too many.
    pub fn connection(&self, from: IpAddr) -> Option<Permit> {
        let is_known = self
            .addresses
            .iter()
            .any(|it| it.to_canonical() == from.to_canonical());
        let places = is_known.then(|| Arc::clone(&self.places));
        places?.try_acquire_owned().ok()
    }

    /// Returns the number of the user whom a request names, or why it is not believed.
    pub fn user(&self, headers: &HeaderMap) -> Result<u32, &'static str> {
        let only = |name: &HeaderName| {
            let mut values = headers.get_all(name).iter();
            values.next().filter(|_| values.next().is_none())
        };
        let secret = only(&HeaderName::from_static(SECRET));
        let hash = |bytes: &[u8]| digest(&SHA256, bytes);
        // The hashes take as long to compare, whatever is sent.
        let own = hash(&self.secret);
        if secret.is_none_or(|it| hash(it.as_bytes()).as_ref() != own.as_ref()) {
            return Err("the secret of the web server is missing or wrong");
        }
        let name = only(&self.header).and_then(|name| name.to_str().ok());
        let user = name.map(User::from_name);
        let user = user.and_then(|user| user.ok().flatten());
        user.map(|user| user.uid.as_raw())
            .ok_or("the user named by the web server does not exist on this machine")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy() -> Proxy {
        Proxy {
            secret: b"0123456789abcdef".to_vec(),
            header: HeaderName::from_static("x-remote-user"),
            addresses: vec![IpAddr::V4(Ipv4Addr::LOCALHOST)],
            places: Arc::new(Semaphore::new(1)),
        }
    }

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn a_user_counts_only_with_the_secret_and_from_the_web_server() {
        let proxy = proxy();
        let secret = (SECRET, "0123456789abcdef");
        assert_eq!(
            proxy.user(&headers(&[secret, ("x-remote-user", "root")])),
            Ok(0)
        );
        for wrong in [
            headers(&[("x-remote-user", "root")]),
            headers(&[(SECRET, "0123456789abcdeF"), ("x-remote-user", "root")]),
            headers(&[(SECRET, ""), ("x-remote-user", "root")]),
            headers(&[secret, secret, ("x-remote-user", "root")]),
            headers(&[secret]),
            headers(&[secret, ("x-remote-user", "no such user")]),
            headers(&[
                secret,
                ("x-remote-user", "root"),
                ("x-remote-user", "daemon"),
            ]),
        ] {
            assert!(proxy.user(&wrong).is_err(), "{wrong:?}");
        }
        assert!(proxy.connection("127.0.0.2".parse().unwrap()).is_none());
        let held = proxy.connection("::ffff:127.0.0.1".parse().unwrap());
        assert!(held.is_some() && proxy.connection("127.0.0.1".parse().unwrap()).is_none());
    }
}
