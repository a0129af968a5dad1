//! The configuration file: a profile for each file system, with the commands that read its servers.

use std::collections::BTreeMap;
use std::env;
use std::io::{self, ErrorKind::InvalidData};
use std::path::{Path, PathBuf};

use clap::Args;
use jobstats_client::files::trust;
use jobstats_client::program::duration::Length;
use jobstats_client::program::exit::SETUP;
use jobstats_client::{FileError, Options};
use serde::Deserialize;

use super::error::Error;
use super::store::Store;
use crate::values::text::{joined, shown};
use crate::values::when::{self, Clock};

/// The configuration of this machine, for users without a personal one.
const SYSTEM: &str = "/etc/jobstats/console.toml";

/// The options of commands that show times of a store.
#[derive(Debug, Args)]
pub struct Common {
    /// Time zone of all input and output: local (TZ or the machine's), or a zone such as UTC, Europe/Helsinki or +02:00
    #[arg(long, value_name = "ZONE", default_value = "local", value_parser = when::zone)]
    pub zone: Clock,
    #[command(flatten)]
    pub database: Database,
}

impl Common {
    /// Connects to the store.
    pub fn store(&self) -> Result<Store, Error> {
        Ok(Store::open(&self.database.complete()?, &self.zone)?)
    }
}

/// The options that name a store.
#[derive(Debug, Args)]
pub struct Database {
    /// Profile that gives the database or, for top, the commands that read servers
    #[arg(long, short = 'P', value_name = "NAME")]
    pub profile: Option<String>,
    /// File of profiles [default: ~/.config/jobstats/console.toml, then /etc/jobstats/console.toml]
    #[arg(long, value_name = "FILE", requires = "profile")]
    pub profiles: Option<PathBuf>,
    /// The settings of libpq.
    #[command(flatten)]
    pub options: Options,
}

impl Database {
    /// Reads the profile, which is empty if no profile is named.
    pub fn profile(&self) -> Result<Profile, Error> {
        let name = self.profile.as_deref();
        let profile = name.map(|name| profile(self.profiles.as_deref(), name));
        Ok(profile.transpose()?.unwrap_or_default())
    }

    /// Returns the options, completed by the profile, which must name a store.
    pub fn complete(&self) -> Result<Options, Error> {
        let profile = self.profile()?;
        match &self.profile {
            Some(name) if !profile.names_store() => {
                let name = shown(name);
                let lacks = "has neither a database_url nor a config for a store";
                Err(Error::other(SETUP, format!("[profile.{name}] {lacks}")))
            }
            _ => Ok(profile.complete(self.options.clone())),
        }
    }
}

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Config {
    profile: BTreeMap<String, Profile>,
}

/// A profile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// The commands that print the statistics, by the name of the server.
    pub input: BTreeMap<String, String>,
    /// The database with the store, as a URL without a password.
    pub database_url: Option<String>,
    /// The file of variables that name the database, or have its password.
    pub config: Option<PathBuf>,
    /// The time between readings.
    pub interval: Option<Length>,
    /// The time limit of a command.
    pub timeout: Option<Length>,
    /// The command that prints the names of users, as `getent passwd` does.
    pub users: Option<String>,
    /// The formats of identifiers (`jobid_name` of the clients).
    pub formats: Vec<String>,
}

impl Profile {
    /// Returns whether the profile names a store.
    pub const fn names_store(&self) -> bool {
        self.database_url.is_some() || self.config.is_some()
    }

    /// Returns command line options, completed by the profile.
    pub fn complete(&self, mut options: Options) -> Options {
        let url = options.database_url.or_else(|| self.database_url.clone());
        options.database_url = url;
        options.config = options.config.or_else(|| self.config.clone());
        options
    }
}

/// Reads a profile, from this file or from the user's or the machine's.
pub fn profile(path: Option<&Path>, name: &str) -> Result<Profile, Error> {
    let path = path.map_or_else(find, |path| Ok(path.to_owned()))?;
    let text = trust::commands(&path)?;
    let config = toml::from_str(&text).map_err(|cause| io::Error::new(InvalidData, cause));
    let config = config.map_err(FileError::at(&path));
    let mut config: Config = config.map_err(|error| Error::other(SETUP, error))?;
    config.profile.remove(name).ok_or_else(|| {
        let known = joined(config.profile.keys().cloned());
        let known = known.unwrap_or_else(|| "none".to_owned());
        let path = path.display();
        let message = format!("{path} has no [profile.{name}]; profiles: {known}");
        Error::other(SETUP, message)
    })
}

fn find() -> Result<PathBuf, Error> {
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
    let own = env::var_os("XDG_CONFIG_HOME").filter(|home| !home.is_empty());
    let own = own.map(PathBuf::from).or_else(home).unwrap_or_default();
    let own = own.join("jobstats/console.toml");
    let system = PathBuf::from(SYSTEM);
    let found = [&own, &system].into_iter().find(|it| it.exists());
    found.cloned().ok_or_else(|| {
        let own = own.display();
        let message = format!("no configuration: neither {own} nor {SYSTEM} exists");
        Error::other(SETUP, message)
    })
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use super::*;

    const TEXT: &str = r#"
        [profile.puhti]
        interval = "5s"
        formats = ["%j:%u:%H"]

        [profile.puhti.input]
        oss1 = "ssh oss1 lctl get_param '*.*.job_stats'"
        mds1 = "ssh mds1 lctl get_param '*.*.job_stats'"
    "#;

    fn file(text: &str) -> tempfile::TempPath {
        let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        write(&file, text).unwrap();
        file
    }

    #[test]
    fn a_profile_has_a_command_for_each_server() {
        let file = file(TEXT);
        let profile = profile(Some(&file), "puhti").unwrap();
        assert_eq!(profile.input.keys().collect::<Vec<_>>(), ["mds1", "oss1"]);
        assert_eq!(
            (profile.interval, profile.timeout),
            (Some(Length(Duration::from_secs(5))), None)
        );
        assert_eq!(profile.formats, ["%j:%u:%H"]);
    }

    #[test]
    fn mistakes_are_told() {
        let error = |text: &str| {
            let file = file(text);
            profile(Some(&file), "mahti").unwrap_err().to_string()
        };
        assert!(
            error(TEXT).ends_with("has no [profile.mahti]; profiles: puhti"),
            "{}",
            error(TEXT)
        );
        assert!(error("").ends_with("profiles: none"));
        assert!(error("[profile.mahti]\ninterval = '0s'").contains("shorter"));
        assert!(error("[profile.mahti]\nintervall = '5s'").contains("intervall"));
        let open = file(TEXT);
        set_permissions(&open, Permissions::from_mode(0o666)).unwrap();
        assert!(matches!(
            profile(Some(&open), "puhti"),
            Err(Error::Trust(_))
        ));
        let missing = profile(Some(Path::new("/nonexistent")), "puhti");
        assert!(matches!(missing, Err(Error::Trust(_))));
    }
}
