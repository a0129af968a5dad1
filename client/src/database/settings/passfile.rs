//! The password file of libpq: lines of `host:port:database:user:password`.

use tokio_postgres::Config;

use super::{DEFAULT_HOST, hosts};

#[cfg(test)]
mod tests;

/// Returns the password of a connection from a password file. The client library sends one password to all hosts, so the result is `None`
/// unless the file has the same password for all of them.
pub fn password(text: &str, config: &Config) -> Option<String> {
    let mut passwords = hosts(config).into_iter().map(|(host, port)| {
        // The file calls the default socket so.
        let host = if host == DEFAULT_HOST {
            "localhost"
        } else {
            &host
        };
        lookup(text, host, port, config)
    });
    let first = passwords.next()??;
    passwords
        .all(|other| other.as_ref() == Some(&first))
        .then_some(first)
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
