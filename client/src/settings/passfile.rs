//! The password file of libpq: lines of `host:port:database:user:password`.

use tokio_postgres::Config;
use tokio_postgres::config::Host;

#[cfg(test)]
mod tests;

/// The port of a server if none is given.
const DEFAULT_PORT: u16 = 5432;

/// Returns the password of a connection from the text of a password file. The client library sends one password to all
/// hosts of a connection, so there is none unless the file has the same password for all of them.
pub fn password(text: &str, config: &Config) -> Option<String> {
    let mut passwords = hosts(config)
        .into_iter()
        .map(|(host, port)| lookup(text, &host, port, config));
    let first = passwords.next()??;
    passwords
        .all(|other| other.as_ref() == Some(&first))
        .then_some(first)
}

/// Returns the hosts of a connection as the file names them, with their ports.
fn hosts(config: &Config) -> Vec<(String, u16)> {
    let named = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(path) if path.as_os_str() == super::DEFAULT_HOST => "localhost".to_owned(),
        Host::Unix(path) => path.display().to_string(),
    });
    let mut hosts: Vec<_> = named.collect();
    if hosts.is_empty() {
        let addresses = config.get_hostaddrs().iter();
        hosts.extend(addresses.map(ToString::to_string));
    }
    let ports = config.get_ports();
    let port = |index| match ports {
        [] => DEFAULT_PORT,
        [port] => *port,
        ports => ports.get(index).copied().unwrap_or(DEFAULT_PORT),
    };
    let numbered = hosts.into_iter().enumerate();
    numbered.map(|(index, host)| (host, port(index))).collect()
}

/// Returns the password of the first line that matches. Without a user only `*` matches the user.
fn lookup(text: &str, host: &str, port: u16, config: &Config) -> Option<String> {
    let user = config.get_user().unwrap_or("*");
    let database = config.get_dbname().unwrap_or(user);
    let wanted = [host, &port.to_string(), database, user];
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(fields)
        .find(|(pattern, _)| {
            let mut pairs = pattern.iter().zip(wanted);
            pairs.all(|(field, value)| field == "*" || field == value)
        })
        .map(|(_, password)| password)
}

/// Splits a line into the four fields that are matched, and the password. A backslash escapes the next character.
fn fields(line: &str) -> Option<([String; 4], String)> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields.last_mut()?.extend(characters.next()),
            other => fields.last_mut()?.push(other),
        }
    }
    let password = fields.pop()?;
    Some((fields.try_into().ok()?, password))
}
