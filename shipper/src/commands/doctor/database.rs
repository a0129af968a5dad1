//! The steps of `doctor` in the database.

use std::net::ToSocketAddrs;
use std::ops::RangeInclusive;
use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use jobstats_client::database::failure::one_line;
use jobstats_client::{Kind, Settings, SslMode};
use tokio_postgres::SimpleQueryMessage;

use crate::commands::doctor::Finding;
use crate::commands::status::Verdict;
use crate::frame::Reading;
use crate::send::{Database, SendError, Timeouts, Transport, is_rejection};
use crate::state::StateFile;

/// The difference of the clocks that is worth a warning.
const WORTH_A_WARNING: SignedDuration = SignedDuration::from_secs(5);

/// The tolerance for a text ahead of the database's clock, unless `max_ahead` was changed.
const MAX_AHEAD: SignedDuration = SignedDuration::from_mins(5);

/// Queries only public information, in a form that transaction poolers pass on.
const FACTS: &str = "
    SELECT pg_catalog.current_setting('server_version') AS version, current_user AS role,
        (pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.*) 1e6)::bigint AS clock,
        (SELECT s.ssl FROM pg_catalog.pg_stat_ssl s WHERE s.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()) AS tls,
        (SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname OPERATOR(pg_catalog.=) 'jobstats') AS extension,
        f.oid IS NOT NULL AS has_feed,
        pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(f.oid, 'INSERT') AS may_insert
    FROM (VALUES (1)) AS one
    LEFT JOIN pg_catalog.pg_namespace n ON n.nspname OPERATOR(pg_catalog.=) 'jobstats'
    LEFT JOIN pg_catalog.pg_class f ON f.relnamespace OPERATOR(pg_catalog.=) n.oid AND f.relname OPERATOR(pg_catalog.=) 'feed'";

/// A database that is examined.
pub struct DatabaseCheck {
    sslmode: SslMode,
    is_local: bool,
    database: Database,
}

/// The answers of the database about itself and about the role.
struct Facts {
    version: String,
    role: String,
    tls: bool,
    extension: Option<String>,
    has_feed: bool,
    may_insert: bool,
    /// The amount by which this machine's clock is ahead.
    ahead: SignedDuration,
}

impl DatabaseCheck {
    /// Prepares TLS, without connecting.
    pub fn new(
        settings: Settings,
        timeouts: Timeouts,
        state: StateFile,
    ) -> Result<Self, SendError> {
        Ok(Self {
            sslmode: settings.sslmode,
            is_local: settings.is_local(),
            database: Database::new(settings, timeouts, state)?,
        })
    }

    /// Tries each step, the last of them with the texts of the reading.
    pub fn examine(&mut self, reading: Option<&Reading>, found: &mut dyn FnMut(Finding)) {
        let names = self.resolve();
        let is_resolved = names.iter().any(|name| name.verdict == Verdict::Ok);
        let is_local = names.is_empty();
        names.into_iter().for_each(&mut *found);
        if !is_resolved && !is_local {
            return;
        }
        if let Err(error) = self.database.connect() {
            let message = advised(&error, error.kind());
            return found(Finding::failed("connection", message));
        }
        match self.facts() {
            Ok(facts) => self.report(&facts, found),
            Err(error) => return found(Finding::failed("connection", error)),
        }
        match reading {
            Some(reading) => self.rehearse(reading, found),
            None => found(Finding::warning("delivery", "not tested: no data was read")),
        }
    }

    fn resolve(&self) -> Vec<Finding> {
        let hosts = self.database.hosts().into_iter();
        let named = hosts.filter(|(host, _)| !host.starts_with('/'));
        let finding = |(host, port): (String, u16)| match (host.as_str(), port).to_socket_addrs() {
            Ok(addresses) => {
                let addresses: Vec<_> = addresses.map(|address| address.ip().to_string()).collect();
                Finding::ok("name", format!("{host} is {}", addresses.join(", ")))
            }
            Err(error) => Finding::failed(
                "name",
                format!("{host}: {error}; check /etc/hosts and /etc/resolv.conf of this machine"),
            ),
        };
        named.map(finding).collect()
    }

    fn facts(&mut self) -> Result<Facts, String> {
        let asked = (Timestamp::now(), Instant::now());
        let answer = self.database.ask(FACTS);
        let answer = answer.map_err(|error| error.to_string())?;
        // The database looked at its clock at some time between these.
        let answered = asked.0.saturating_add(asked.1.elapsed());
        let here = asked.0..=answered.unwrap_or(asked.0);
        let row = answer.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let row = row.ok_or("the database returned no row")?;
        let text = |column: &str| one_line(row.get(column).unwrap_or_default());
        let clock: i64 = text("clock")
            .parse()
            .map_err(|_| "the time of the database is invalid")?;
        let there = Timestamp::from_microsecond(clock).map_err(|error| error.to_string())?;
        Ok(Facts {
            version: text("version"),
            role: text("role"),
            tls: text("tls") == "t",
            extension: row.get("extension").map(one_line),
            has_feed: text("has_feed") == "t",
            may_insert: text("may_insert") == "t",
            ahead: ahead(&here, there),
        })
    }

    fn report(&self, facts: &Facts, found: &mut dyn FnMut(Finding)) {
        let message = format!("{}, PostgreSQL {}", self.database.name(), facts.version);
        found(Finding::ok("connection", message));
        found(tls(self.is_local, facts.tls, self.sslmode));
        found(facts.clock());
        found(facts.store());
        if facts.has_feed {
            found(facts.role());
        }
    }

    /// Stores each text in a transaction that is rolled back.
    fn rehearse(&mut self, reading: &Reading, found: &mut dyn FnMut(Finding)) {
        let mut taken = 0;
        for text in &reading.index.texts {
            let name = text.shown_name();
            let notices = match self.database.rehearse(reading, text) {
                Ok(notices) => notices,
                Err(error) => {
                    let message = format!("{name}: {}", advised(&error, error.kind()));
                    found(Finding::failed("delivery", message));
                    match error.kind() {
                        Kind::Refused | Kind::Internal | Kind::Slow => continue,
                        _ => break,
                    }
                }
            };
            taken += usize::from(!notices.iter().any(is_rejection));
            for notice in &notices {
                let verdict = match is_rejection(notice) {
                    true => Verdict::Critical,
                    false => Verdict::Warning,
                };
                let message = format!("{name}: {}", notice.message);
                found(Finding::new(verdict, "delivery", message));
            }
        }
        if taken == reading.index.texts.len() {
            let targets = reading.targets();
            let sender = &reading.index;
            let server = match sender.cluster.as_str() {
                "" => sender.server.clone(),
                cluster => format!("{} of {cluster}", sender.server),
            };
            found(Finding::ok(
                "delivery",
                format!("the database accepts {targets} targets from {server} (dry run)"),
            ));
        }
    }
}

impl Facts {
    fn clock(&self) -> Finding {
        let step = "clock";
        let seconds = self.ahead.as_secs_f64();
        let relation = if seconds < 0.0 { "behind" } else { "ahead of" };
        let message = format!("{:.3} s {relation} the database's", seconds.abs());
        let remedy = "synchronize the clocks of both machines, such as with chrony";
        if self.ahead >= MAX_AHEAD {
            Finding::failed(step, format!("{message}: data will be rejected; {remedy}"))
        } else if self.ahead.abs() >= WORTH_A_WARNING {
            Finding::warning(step, format!("{message}; {remedy}"))
        } else {
            Finding::ok(step, message)
        }
    }

    fn store(&self) -> Finding {
        let step = "store";
        let (own, setup) = (env!("CARGO_PKG_VERSION"), "SELECT jobstats_setup();");
        match (&self.extension, self.has_feed) {
            (None, _) => Finding::failed(
                step,
                format!(
                    "the extension jobstats does not exist in this database; its owner must run CREATE EXTENSION jobstats; {setup}"
                ),
            ),
            (Some(version), false) => Finding::failed(
                step,
                format!(
                    "jobstats {version} has no store in this database; its owner must run {setup}"
                ),
            ),
            (Some(version), true) => Finding::ok(
                step,
                format!("jobstats {version}; this is jobstats-shipper {own}"),
            ),
        }
    }

    fn role(&self) -> Finding {
        let role = &self.role;
        match self.may_insert {
            true => Finding::ok("role", format!("{role} may insert into jobstats.feed")),
            false => Finding::failed(
                "role",
                format!(
                    "{role} may not insert into jobstats.feed; the store's owner must run SELECT jobstats_grant_writer('{role}');"
                ),
            ),
        }
    }
}

fn tls(is_local: bool, is_on: bool, sslmode: SslMode) -> Finding {
    let step = "tls";
    match (is_local, is_on, sslmode) {
        (true, ..) => Finding::ok(step, "not needed: the database is on this machine"),
        (_, false, _) => Finding::warning(
            step,
            "not encrypted: others on the network can read the data; enable TLS in the server and set sslmode=verify-full",
        ),
        (_, true, SslMode::VerifyFull) => {
            Finding::ok(step, "encrypted, and the server's certificate is verified")
        }
        (_, true, _) => Finding::warning(
            step,
            "encrypted, but the server is not verified; use sslmode=verify-full, with --ca-file for a private CA",
        ),
    }
}

/// Returns how far a clock is ahead of another one that was read during this span. A slow answer does not count as a difference.
fn ahead(here: &RangeInclusive<Timestamp>, there: Timestamp) -> SignedDuration {
    there
        .clamp(*here.start(), *here.end())
        .duration_since(there)
}

/// Adds the remedy to a failure. A read-only server counts as unreachable, because another one may accept writes.
fn advised(error: &dyn std::error::Error, kind: Kind) -> String {
    let error = error.to_string();
    let is_standby = ["SQLSTATE 25006", "does not allow writes"]
        .iter()
        .any(|sign| error.contains(sign));
    let remedy = match kind {
        Kind::Lost if is_standby => {
            "the server is read-only, as a standby is; give the primary, or all servers as HOST,HOST"
        }
        Kind::Lost | Kind::Silent => {
            "check that the server runs and listens there, and that no firewall blocks it"
        }
        Kind::Denied => {
            "check the password, the server's pg_hba.conf, and the role's rights: jobstats_grant_writer()"
        }
        Kind::Setup => {
            "check the connection settings, the certificates, and that the store is set up: jobstats_setup()"
        }
        Kind::Exhausted => "check the server's disk and memory",
        Kind::Conflict | Kind::Slow => "check the server's load, and try again",
        Kind::Refused | Kind::Internal | Kind::Failed => "check the server's log",
        Kind::Local => "check the disk of this machine",
    };
    format!("{error}; {remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(ahead: i64) -> Facts {
        Facts {
            version: "15.20".to_owned(),
            role: "oss1".to_owned(),
            tls: true,
            extension: Some(env!("CARGO_PKG_VERSION").to_owned()),
            has_feed: true,
            may_insert: true,
            ahead: SignedDuration::from_millis(ahead),
        }
    }

    #[test]
    fn a_clock_that_is_ahead_is_worse_than_one_that_is_behind() {
        let verdict = |ahead| facts(ahead).clock().verdict;
        assert_eq!(verdict(20), Verdict::Ok);
        assert_eq!(verdict(5_000), Verdict::Warning);
        assert_eq!(verdict(300_000), Verdict::Critical);
        assert_eq!(verdict(-3_600_000), Verdict::Warning);
        let message = facts(-1_500).clock().message;
        assert_eq!(message, "1.500 s behind the database's");
    }

    #[test]
    fn a_slow_answer_is_no_difference_of_clocks() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let there = |second| ahead(&(at(100)..=at(130)), at(second)).as_secs();
        assert_eq!([99, 100, 120, 130, 140].map(there), [1, 0, 0, 0, -10]);
    }

    #[test]
    fn only_verified_tls_is_well() {
        let verdict = |is_local, is_on, sslmode| tls(is_local, is_on, sslmode).verdict;
        assert_eq!(verdict(false, true, SslMode::VerifyFull), Verdict::Ok);
        assert_eq!(verdict(false, true, SslMode::VerifyCa), Verdict::Warning);
        assert_eq!(verdict(false, true, SslMode::Require), Verdict::Warning);
        assert_eq!(verdict(false, false, SslMode::Prefer), Verdict::Warning);
        assert_eq!(verdict(true, false, SslMode::Disable), Verdict::Ok);
    }

    #[test]
    fn a_missing_extension_and_a_missing_store_have_their_remedies() {
        let store = |extension: Option<&str>, has_feed| {
            let extension = extension.map(str::to_owned);
            let facts = Facts {
                extension,
                has_feed,
                ..facts(0)
            };
            facts.store().message
        };
        assert!(store(None, false).contains("CREATE EXTENSION jobstats; SELECT jobstats_setup();"));
        let without_store = store(Some(env!("CARGO_PKG_VERSION")), false);
        assert!(without_store.ends_with("its owner must run SELECT jobstats_setup();"));
    }
}
