//! The additional parameters in the call of lctl, as patterns. Only the database knows their meaning.

use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use jobstats_client::program::duration;

use crate::system::lock::Lock;
use crate::system::message::warn;

#[cfg(test)]
mod tests;

/// The parameters of each reading: counters of targets, services and nodemaps, queues, space, health, recovery, and the readers of changelogs.
const USUAL: &str = "mdt.*.md_stats,obdfilter.*.stats,mds.MDS.*.stats,ost.OSS.*.stats,*.*.*.nrs_policies,\
    *.*.*.nrs_tbf_rule,osd-*.*.kbytestotal,osd-*.*.kbytesavail,osd-*.*.kbytesfree,osd-*.*.filestotal,osd-*.*.filesfree,\
    health_check,*.*.recovery_status,mdd.*.changelog_users,nodemap.*.md_stats,nodemap.*.dt_stats";

/// The files of the space that users, groups and projects use. They have two lines for each of these, so they are read less often.
const USED: [&str; 3] = ["acct_user", "acct_group", "acct_project"];

/// The heading of these options in the help.
const HEADING: &str = "Additional parameters";

/// The line of the lock file that has the time of the last reading with the used space. `pace` has the first line.
const LINE: usize = 1;

/// The options for additional parameters.
#[derive(Debug, Clone, Default, Args)]
pub struct Parameters {
    /// Parameters to read before job_stats in the same lctl call, as lctl patterns without braces, or none [default: the list in docs/shipper.md]
    #[arg(long, help_heading = HEADING, value_name = "PATTERN,…", value_delimiter = ',', default_value = USUAL, hide_default_value = true)]
    pub parameters: Vec<String>,
    /// Interval, counted from 1970, for reading the space used by users, groups and projects, or never; its first scrape reads it
    #[arg(long, help_heading = HEADING, value_name = "DURATION", value_parser = every, default_value = "1h")]
    pub used_every: Duration,
    /// NIDs of metadata servers, to count their own requests on object storage servers
    #[arg(long, help_heading = HEADING, value_name = "NID,…", value_delimiter = ',')]
    pub mds_nids: Vec<String>,
}

impl Parameters {
    /// Returns the patterns of a reading that begins now. Without a lock, which remembers the last time, it has the used space.
    pub fn patterns(&self, lock: Option<&Lock>) -> Vec<String> {
        // A parameter that is read twice would count twice.
        let is_other = |pattern: &&String| *pattern != "none" && !pattern.contains(".job_");
        let mut patterns: Vec<_> = self.parameters.iter().filter(is_other).cloned().collect();
        for nid in &self.mds_nids {
            patterns.extend(["stats", "uuid"].map(|it| format!("obdfilter.*.exports.{nid}.{it}")));
        }
        if self.has_used(lock, Timestamp::now()) {
            patterns.extend(USED.map(|file| format!("osd-*.*.quota_slave.{file}")));
        }
        patterns
    }

    /// Returns true if this reading has the used space. It then counts as read, even if lctl does not get to its end: the next reading
    /// would fail for the same reason.
    fn has_used(&self, lock: Option<&Lock>, now: Timestamp) -> bool {
        let every = self.used_every.as_nanos() as i128;
        let Some(lock) = lock.filter(|_| every > 0) else {
            return every > 0;
        };
        let interval = |time: Timestamp| time.as_nanosecond().div_euclid(every);
        let last = lock.line(LINE).ok().and_then(|line| line.parse().ok());
        if last.map(interval) == Some(interval(now)) {
            return false;
        }
        if let Err(error) = lock.set_line(LINE, &now.to_string()) {
            warn(format_args!("the lock file: {error}"));
        }
        true
    }
}

/// Parses a duration. Zero means never.
fn every(text: &str) -> Result<Duration, String> {
    match text {
        "never" | "0" => Ok(Duration::ZERO),
        _ => duration::parse(text),
    }
}
