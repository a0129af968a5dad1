//! The options of the way over HTTP.

use std::path::PathBuf;

use clap::Args;
use jobstats_client::database::settings::is_this_machine;
use ureq::http::Uri;

use crate::send::http::HttpSettings;

#[cfg(test)]
mod tests;

/// The options of the way over HTTP.
#[derive(Debug, Args)]
#[command(next_help_heading = "HTTP")]
#[group(skip)]
pub struct HttpOptions {
    /// Send to PostgREST at this URL instead of connecting to the database
    #[arg(long, value_name = "https://…", value_parser = url, conflicts_with_all = ["database_url", "sslmode"])]
    pub to: Option<Uri>,
    /// File with the token (JWT), private to its owner; read again for each request
    #[arg(long, value_name = "FILE", requires = "to")]
    pub token_file: Option<PathBuf>,
}

impl HttpOptions {
    /// Returns the settings, if there is a URL. It shares the TLS files with the database.
    pub fn settings(self, database: &jobstats_client::Options) -> Option<HttpSettings> {
        let (certificate, key) = (&database.client_certificate, &database.client_key);
        Some(HttpSettings {
            url: self.to?,
            token_file: self.token_file,
            ca_file: database.ca_file.clone(),
            identity: certificate.clone().zip(key.clone()),
        })
    }
}

/// Parses a URL and lets it end with a slash. Without TLS, others could read the token.
fn url(text: &str) -> Result<Uri, String> {
    let slash = if text.ends_with('/') { "" } else { "/" };
    let url: Uri = format!("{text}{slash}")
        .parse()
        .map_err(|_| "is not a URL")?;
    let (Some(authority), Some(host)) = (url.authority(), url.host()) else {
        return Err("has no host".to_owned());
    };
    if authority.as_str().contains('@') {
        let remedy = "has a password, which all users of this machine can see; use --token-file";
        return Err(remedy.to_owned());
    }
    if text.contains(['?', '#']) {
        return Err("has a query or fragment".to_owned());
    }
    match url.scheme_str() {
        Some("https") => Ok(url),
        Some("http") if is_this_machine(host.trim_matches(['[', ']'])) => Ok(url),
        _ => Err("does not begin with https://".to_owned()),
    }
}
