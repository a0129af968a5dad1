//! Reads gauges of parameters other than `job_stats`: space, health, recovery, readers of changelogs, queued requests and their rules;
//! and the counters of nodemaps.
//!
//! | name | of | labels | value |
//! |---|---|---|---|
//! | `kbytestotal`, `kbytesavail`, `kbytesfree` | target | | KiB |
//! | `filestotal`, `filesfree` | target | | inodes |
//! | `unhealthy` | server | | 0, or the number of unhealthy devices, at least 1 |
//! | `recovering` | target | | 1 or 0 |
//! | `recovery_left` | target | | seconds, while it recovers |
//! | `changelog_behind` | target | `reader` | records |
//! | `changelog_idle` | target | `reader` | seconds since the reader's last use |
//! | `requests_queued`, `requests_active` | server | `service`, `policy` | requests, whatever their priority |
//! | `tbf_rate`, `tbf_clients` | server | `service`, `rule` | requests per second; clients or jobs that the rule holds |
//! | `nodemap_requests`, `nodemap_bytes` | server | `nodemap`, `stats`, `operation` | counters: requests; bytes, where they are counted |

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, TryReserveError};

use crate::base::escape::escape;
use crate::base::pause::Pause;
use crate::base::target::TargetName;
use crate::base::try_vec::push;
use crate::text::additional_parameters::{Other, Parameter, Problems, Reason, is_plain, number};
use crate::text::field::{split_once, words};
use crate::text::stats;

/// The names of the samples from lctl. No other source has these.
pub const NAMES: [&str; 16] = [
    "kbytestotal",
    "kbytesavail",
    "kbytesfree",
    "filestotal",
    "filesfree",
    "unhealthy",
    "recovering",
    "recovery_left",
    "changelog_behind",
    "changelog_idle",
    "requests_queued",
    "requests_active",
    "tbf_rate",
    "tbf_clients",
    "nodemap_requests",
    "nodemap_bytes",
];

/// The largest number of samples of a text.
const SAMPLES_MAX: usize = 10_000;

/// The largest number of policies or rules of a service.
const POLICIES_MAX: usize = 64;

/// The largest number of bytes of the name of a reader, a policy or a rule.
const NAME_MAX: usize = 64;

/// A gauge at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample<'o> {
    /// The target; `None` for a gauge of the server.
    pub target: Option<TargetName<'o>>,
    /// The name of the gauge.
    pub name: &'static str,
    /// The names and values of the labels. A target or server has one sample of a gauge for each value of the labels.
    pub labels: Vec<(&'static str, Cow<'o, str>)>,
    /// True if the value only grows, and begins again at zero.
    pub is_counter: bool,
    /// The value, which is not negative.
    pub value: i64,
}

/// Reads the samples of a text. A cut value is discarded.
///
/// # Errors
/// [`TryReserveError`] if there is not enough memory.
pub fn read<'o>(
    others: &'o [Other<'_>],
    problems: &mut Problems<'o>,
    pause: Pause<'_>,
) -> Result<Vec<Sample<'o>>, TryReserveError> {
    let mut samples = Vec::new();
    for other in pause.among(others) {
        let mut value = Value {
            other,
            samples: &mut samples,
            problems,
            pause,
        };
        match other.parameter {
            Parameter::Space(_, name) => value.if_whole(|it| it.space(name)),
            Parameter::Health => value.if_whole(Value::health),
            Parameter::Recovery(_) => value.if_whole(Value::recovery),
            Parameter::Changelog(_) => value.if_whole(Value::changelog),
            Parameter::Policies(service) => value.if_whole(|it| it.policies(service)),
            Parameter::Rules(service) => value.if_whole(|it| it.rules(service)),
            Parameter::Nodemap(name, file) => value.if_whole(|it| it.nodemap(name, file)),
            _ => Ok(()),
        }?;
    }
    Ok(samples)
}

/// The value of a parameter.
struct Value<'o, 'v> {
    other: &'o Other<'o>,
    samples: &'v mut Vec<Sample<'o>>,
    problems: &'v mut Problems<'o>,
    pause: Pause<'v>,
}

impl<'o, 'v> Value<'o, 'v> {
    fn if_whole(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<(), TryReserveError>,
    ) -> Result<(), TryReserveError> {
        match self.other.cut() {
            Some(cut) => self.report(cut, Reason::CutLine),
            None => read(self),
        }
    }

    fn lines(&self) -> impl Iterator<Item = (u32, &'o [u8])> + use<'o, 'v> {
        self.other.lines(self.pause)
    }

    fn report(&mut self, line: (u32, &'o [u8]), reason: Reason) -> Result<(), TryReserveError> {
        self.problems.report(self.other, line, reason)
    }

    fn add(
        &mut self,
        name: &'static str,
        value: i64,
        labels: &[(&'static str, Cow<'o, str>)],
    ) -> Result<(), TryReserveError> {
        debug_assert!(NAMES.contains(&name));
        if self.samples.len() == SAMPLES_MAX {
            return self.report((self.other.line, b""), Reason::TooManyLines);
        }
        push(
            self.samples,
            Sample {
                target: self.other.parameter.target(),
                name,
                labels: labels.to_vec(),
                is_counter: name.starts_with("nodemap_"),
                value,
            },
        )
    }

    /// Reads a single number. A symbolic link can make `lctl` print it again.
    fn space(&mut self, space: &'static str) -> Result<(), TryReserveError> {
        let Some(line) = self.lines().next() else {
            return Ok(());
        };
        match number(line.1) {
            Ok(value) => self.add(space, value, &[]),
            Err(reason) => self.report(line, reason),
        }
    }

    /// Reads `healthy` or `NOT HEALTHY`, before which the devices may be named that are not.
    fn health(&mut self) -> Result<(), TryReserveError> {
        let (mut devices, mut is_healthy) = (0, None);
        for line in self.lines() {
            match line.1 {
                b"healthy" => is_healthy = is_healthy.or(Some(true)),
                b"NOT HEALTHY" | b"LBUG" => is_healthy = Some(false),
                device if device.ends_with(b" reported unhealthy") => devices += 1,
                _ => self.report(line, Reason::UnreadableLine)?,
            }
        }
        match is_healthy {
            None if devices == 0 => Ok(()),
            Some(true) => self.add("unhealthy", devices, &[]),
            _ => self.add("unhealthy", devices.max(1), &[]),
        }
    }

    /// Reads the lines `status: RECOVERING` and `time_remaining: 84`.
    fn recovery(&mut self) -> Result<(), TryReserveError> {
        let (mut recovering, mut left) = (None, None);
        for line in self.lines() {
            match fields(line.1) {
                Some((b"status", b"RECOVERING" | b"WAITING" | b"WAITING_FOR_CLIENTS")) => {
                    recovering = Some(1);
                }
                Some((b"status", b"COMPLETE" | b"INACTIVE")) => recovering = Some(0),
                Some((b"time_remaining", seconds)) => match number(seconds) {
                    Ok(seconds) => left = Some(seconds),
                    Err(reason) => self.report(line, reason)?,
                },
                None | Some((b"status", _)) => self.report(line, Reason::UnreadableLine)?,
                Some(_) => {}
            }
        }
        let left = left.filter(|_| recovering == Some(1));
        for (name, value) in [("recovering", recovering), ("recovery_left", left)] {
            if let Some(value) = value {
                self.add(name, value, &[])?;
            }
        }
        Ok(())
    }

    /// Reads `current_index: 7` and a line `cl1-audit 5 (600)` for each reader.
    fn changelog(&mut self) -> Result<(), TryReserveError> {
        let (mut current, mut readers) = (None, BTreeSet::new());
        for line in self.lines() {
            let read = match (fields(line.1), current) {
                (Some((b"current index" | b"current_index", index)), _) => {
                    number(index).map(|index| current = Some(index))
                }
                _ if line.1.starts_with(b"ID ") => Ok(()),
                (_, None) => Err(Reason::UnreadableLine),
                (_, Some(current)) => match reader(current, line.1) {
                    Ok((name, behind, idle)) if readers.insert(name) => {
                        let labels = [("reader", escape(name))];
                        self.add("changelog_behind", behind, &labels)?;
                        let idle = idle.map(|idle| self.add("changelog_idle", idle, &labels));
                        idle.transpose()?;
                        Ok(())
                    }
                    other => other.map(|_| ()),
                },
            };
            if let Err(reason) = read {
                self.report(line, reason)?;
            }
        }
        Ok(())
    }

    /// Reads blocks that begin with `- name: fifo`, of each priority. A policy that lacks a number is of no use.
    fn policies(&mut self, service: &'o str) -> Result<(), TryReserveError> {
        let mut policies = Vec::<Policy<'_>>::new();
        for line in self.lines() {
            let is_full = policies.len() == POLICIES_MAX;
            match (fields(line.1), policies.last_mut()) {
                (Some((b"regular_requests" | b"high_priority_requests", b"")), _) => {}
                (Some((b"- name", _)), _) if is_full => {
                    return self.report(line, Reason::TooManyLines);
                }
                (Some((b"- name", name)), _) => policies.push(Policy {
                    name: &name[..name.len().min(NAME_MAX)],
                    line,
                    is_stopped: false,
                    requests: [None; 2],
                }),
                (Some((b"state", state)), Some(policy)) => policy.is_stopped = state == b"stopped",
                (Some((key @ (b"queued" | b"active"), requests)), Some(policy)) => {
                    match number(requests) {
                        Ok(number) => policy.requests[usize::from(key == b"active")] = Some(number),
                        Err(reason) => self.report(line, reason)?,
                    }
                }
                (Some(_), Some(_)) => {}
                _ => self.report(line, Reason::UnreadableLine)?,
            }
        }
        let mut requests = BTreeMap::<_, [i64; 2]>::new();
        for policy in policies.iter().filter(|policy| !policy.is_stopped) {
            let [Some(queued), Some(active)] = policy.requests else {
                self.report(policy.line, Reason::UnreadableLine)?;
                continue;
            };
            let sums = requests.entry(policy.name).or_default();
            *sums = [
                sums[0].saturating_add(queued),
                sums[1].saturating_add(active),
            ];
        }
        for (policy, [queued, active]) in requests {
            let labels = [
                ("service", Cow::Borrowed(service)),
                ("policy", escape(policy)),
            ];
            self.add("requests_queued", queued, &labels)?;
            self.add("requests_active", active, &labels)?;
        }
        Ok(())
    }

    /// Reads lines `NAME {EXPRESSION} RATE, ref CLIENTS` of each part of the processors. A client stays a while after its last request.
    fn rules(&mut self, service: &'o str) -> Result<(), TryReserveError> {
        let mut rules = BTreeMap::<_, [i64; 2]>::new();
        for line in self.lines() {
            let is_heading = line.1.starts_with(b"CPT ")
                || matches!(fields(line.1), Some((key, b"")) if key.ends_with(b"_requests"));
            if is_heading {
                continue;
            }
            match rule(line.1) {
                Ok((name, _)) if rules.len() == POLICIES_MAX && !rules.contains_key(name) => {
                    self.report(line, Reason::TooManyLines)?;
                }
                Ok((name, [rate, clients])) => {
                    let known = rules.entry(name).or_default();
                    *known = [known[0].max(rate), known[1].saturating_add(clients)];
                }
                Err(reason) => self.report(line, reason)?,
            }
        }
        for (rule, values) in rules {
            let labels = [("service", Cow::Borrowed(service)), ("rule", escape(rule))];
            for (name, value) in ["tbf_rate", "tbf_clients"].into_iter().zip(values) {
                self.add(name, value, &labels)?;
            }
        }
        Ok(())
    }

    /// Reads counters. A missing line is zero, so that a counter begins again.
    fn nodemap(&mut self, nodemap: &'o str, file: &'o str) -> Result<(), TryReserveError> {
        let stats = stats::read(self.other, self.problems, self.pause)?;
        for counter in stats.counters {
            let labels = [
                ("nodemap", Cow::Borrowed(nodemap)),
                ("stats", Cow::Borrowed(file)),
                ("operation", Cow::Borrowed(counter.name)),
            ];
            self.add("nodemap_requests", counter.count, &labels)?;
            if let (b"bytes", Some([.., sum])) = (counter.unit.as_bytes(), counter.values) {
                self.add("nodemap_bytes", sum, &labels)?;
            }
        }
        Ok(())
    }
}

/// Splits a line `key: value`.
fn fields(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (key, value) = split_once(line, b':')?;
    Some((key.trim_ascii(), value.trim_ascii()))
}

/// Reads the line of a reader, of a changelog whose newest record has the index `current`: the name, the number of records
/// that it is behind, and the seconds since it was used.
fn reader(current: i64, line: &[u8]) -> Result<(&[u8], i64, Option<i64>), Reason> {
    let mut words = words(line);
    let name = words
        .next()
        .filter(|name| name.starts_with(b"cl") && name.len() <= NAME_MAX)
        // Health puts the name into a command, which an administrator may paste.
        .filter(|name| is_plain(name));
    let (name, index) = name.zip(words.next()).ok_or(Reason::UnreadableLine)?;
    let idle = words.next().and_then(|word| word.strip_prefix(b"("));
    let idle = idle.map(|idle| number(idle.strip_suffix(b")").unwrap_or(idle)));
    // The reader can go on while the text is printed.
    let behind = current.saturating_sub(number(index)?).max(0);
    Ok((name, behind, idle.transpose()?))
}

/// Reads the line of a rule: its name, the requests per second that it allows, and the number of clients that it holds. The text
/// between them comes from an administrator.
fn rule(line: &[u8]) -> Result<(&[u8], [i64; 2]), Reason> {
    let at = memchr::memmem::rfind(line, b", ref ").ok_or(Reason::UnreadableLine)?;
    let (before, clients) = (&line[..at], &line[at + b", ref ".len()..]);
    // Lustre 2.6 prints ", active" behind it.
    let clients = clients.split(|byte| *byte == b',').next();
    let (first, last) = memchr::memchr(b' ', before)
        .zip(memchr::memrchr(b' ', before))
        .filter(|(first, last)| first < last && *first <= NAME_MAX)
        .ok_or(Reason::UnreadableLine)?;
    let rate = number(&before[last + 1..])?;
    Ok((
        &before[..first],
        [rate, number(clients.unwrap_or_default())?],
    ))
}

/// A policy of a service for choosing the next request.
struct Policy<'o> {
    name: &'o [u8],
    line: (u32, &'o [u8]),
    is_stopped: bool,
    /// The queued requests, and the active ones.
    requests: [Option<i64>; 2],
}
