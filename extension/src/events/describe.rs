//! `jobstats_explain()` describes an event in plain words: what happened, its culprits, and what to do next.

mod next;
mod words;

use jobstats_core::judgement::event::full;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;
use serde_json::{Value, json};

use crate::events::list::{read, reader_parameters};
use crate::pg::arguments::Arguments;
use crate::pg::error::{Error, escaped};
use crate::pg::jsonb::Jsonb;
use crate::pg::spi::{SqlResult, Statements, values};
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::store::rights::caller::Reader;
use words::{amount, percent, plural, rate, seconds, several, significant};

#[pg_extern(sql = false)]
fn jobstats_explain(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let id: Option<i64> = arguments.take()?;
    let id = id.ok_or(Error::Null("event_id"))?;
    let lines = read(|client, reader| {
        let event = Event::read(client, id, reader)?;
        let mut lines = event.lines();
        lines.push(evidence(client, id)?);
        lines.extend(next::steps(client, &event)?);
        Ok(lines)
    })?;
    for (number, line) in (1i32..).zip(lines) {
        rows.put(|| {
            [
                number.cell(),
                line.topic.cell(),
                line.text.cell(),
                Jsonb::of(&line.details).cell(),
            ]
        });
    }
    Ok(())
}

/// The answer to a role that may not see the users and jobs behind an event.
const UNSEEN: &str = "This role may not see the users and jobs behind it.";

/// A line of the answer.
pub struct Line {
    topic: &'static str,
    text: String,
    details: Value,
}

impl Line {
    fn new(topic: &'static str, text: String, details: Value) -> Self {
        Self {
            topic,
            text: escaped(&text).into_owned(),
            details,
        }
    }
}

/// Describes how much raw text of the event is retained.
fn evidence(client: &SpiClient<'_>, id: i64) -> Result<Line, Error> {
    let statement = include_str!("describe/evidence.sql");
    let row = client.query_only(statement, &values![id], "settings")?;
    let (texts, others): (i64, i64) = (row.get("texts")?, row.get("others")?);
    let (bytes, until): (i64, Option<String>) = (row.get("bytes")?, row.get("until")?);
    let kept = match &until {
        None => "No snapshots of these targets are retained.".to_owned(),
        Some(until) => format!(
            "Retained until {until}: {} ({}) of these targets.",
            plural(texts.unsigned_abs(), "snapshot"),
            words::size(bytes as f64)
        ),
    };
    let dropped = match others {
        0 => "",
        _ => {
            " Others were dropped: they had expired, or evidence had reached its limit of 5 % of the store."
        }
    };
    let text = format!("{kept}{dropped}");
    let details = json!({ "texts": texts, "bytes": bytes, "until": until, "dropped": others });
    Ok(Line::new("evidence", text, details))
}

/// Returns a string of a JSON object; empty if missing.
fn text<'v>(json: &'v Value, name: &str) -> &'v str {
    json[name].as_str().unwrap_or_default()
}

/// Returns a number in JSON; 0 if missing.
fn number(json: &Value) -> f64 {
    json.as_f64().unwrap_or(0.0)
}

/// An event, as far as the caller may know it.
pub struct Event {
    kind: String,
    filesystem: String,
    /// The time in words: `Since …` or `From … to …`.
    when: String,
    is_over: bool,
    targets: Vec<String>,
    servers: Vec<String>,
    value: Option<f64>,
    usual: Option<f64>,
    reason: Option<String>,
    details: Value,
    /// The culprits; null if the caller may not see them.
    culprits: Value,
    /// The load, without whose it was; null if culprits have not been searched for.
    load: Value,
    /// Other events of the file system at that time.
    others: Vec<String>,
    /// The last earlier event of the same kind and place that was judged; null if there is none.
    earlier: Value,
}

impl Event {
    /// Reads an event for a reader.
    pub fn read(client: &SpiClient<'_>, id: i64, reader: &Reader) -> Result<Self, Error> {
        let [uids, accounts, is_nameless] = reader_parameters(reader);
        let parameters = [id.into(), uids, accounts, is_nameless];
        let row = client.query_opt(include_str!("describe/event.sql"), &parameters)?;
        let row = row.ok_or_else(|| {
            Error::argument(
                format!("event {id} does not exist"),
                "To list events, run SELECT event_id FROM jobstats_events(now() - interval '1 year');",
            )
        })?;
        let value = |name| -> Result<Value, Error> {
            let text: Option<String> = row.get(name)?;
            let value = text.and_then(|text| serde_json::from_str(&text).ok());
            Ok(value.unwrap_or_default())
        };
        Ok(Self {
            kind: row.get("kind")?,
            filesystem: row.get("filesystem")?,
            when: row.get("when")?,
            is_over: row.get("is_over")?,
            targets: row.get("targets")?,
            servers: row.get("servers")?,
            value: row.get("value")?,
            usual: row.get("usual")?,
            reason: row.get("reason")?,
            details: value("details")?,
            culprits: value("culprits")?,
            load: value("load")?,
            others: row.get("others")?,
            earlier: value("earlier")?,
        })
    }

    /// Returns the kind and the place of the event.
    pub fn summary(&self) -> String {
        let kind = self.kind.replace('_', " ");
        let names = several(&match self.kind.as_str() {
            "rule" => self.texts("rules"),
            "waiting" if !self.is_only_probed() => self.servers.clone(),
            _ => self.targets.clone(),
        });
        escaped(&format!("{kind} on {}: {names}", self.filesystem)).into_owned()
    }

    /// Returns what the event is in a few sentences; with names, also whose work it was.
    pub fn description(&self, names: bool) -> String {
        let mut sentences = vec![self.what()];
        sentences.extend(self.busy().map(|it| it.text));
        if names && matches!(self.kind.as_str(), "waiting" | "rule") {
            sentences.extend(self.who().map(|it| it.text));
        }
        escaped(&sentences.join(" ")).into_owned()
    }

    fn lines(&self) -> Vec<Line> {
        let what = json!({ "value": self.value, "usual": self.usual });
        let mut lines = vec![Line::new("what", self.what(), what)];
        let further = [
            self.busy(),
            self.who(),
            self.how(),
            self.peers(),
            self.probe(),
        ];
        lines.extend(further.into_iter().flatten());
        let others = match self.others.as_slice() {
            [] => format!(
                "No other event on {} in that time or the hour before.",
                self.filesystem
            ),
            others => format!(
                "Also in that time or the hour before: {}.",
                others.join(", ")
            ),
        };
        let events = json!({ "events": self.others });
        lines.push(Line::new("excluded", others, events));
        lines.extend(self.earlier());
        lines.extend(self.reason.iter().map(|it| {
            let text = format!("No alert was sent. {it}");
            Line::new("notified", text, Value::Null)
        }));
        lines
    }

    fn what(&self) -> String {
        let (value, usual) = (self.value.unwrap_or(0.0), self.usual.unwrap_or(0.0));
        let (when, servers) = (&self.when, several(&self.servers));
        let place = match servers.is_empty() {
            true => several(&self.targets),
            false => format!("{} on {servers}", several(&self.targets)),
        };
        let since =
            |past: &str, present: &str| if self.is_over { past } else { present }.to_owned();
        match self.kind.as_str() {
            "waiting" if self.is_only_probed() => format!(
                "{when}, a probe of {} {} {} on average; {} is typical. No server queued requests that long.",
                several(&self.targets),
                since("took", "has taken"),
                seconds(value),
                seconds(usual)
            ),
            "waiting" => format!(
                "{when}, requests to {servers} ({}) {} {} on average for a server thread; {} is typical.",
                self.texts("services").join(", "),
                since("waited", "have waited"),
                seconds(value),
                seconds(usual)
            ),
            "slow_target" => format!(
                "{when}, calls to {place} {} {}; {} is typical of it or its peers.",
                since("took", "have taken"),
                seconds(value),
                seconds(usual)
            ),
            "stalled" => format!(
                "{when}, {place} {} no call. In the hour before, the rate was {}; its peers went on.",
                since("completed", "has completed"),
                rate(usual)
            ),
            "full" => self.filling(value, usual),
            "rule" => self.broken(value, usual),
            _ => format!("{when}, {}.", self.moved()),
        }
    }

    fn moved(&self) -> String {
        let moves = self.details["moves"].as_array().into_iter().flatten();
        let mut parts: Vec<String> = moves
            .map(|it| {
                let [target, from, to] = ["target", "from", "to"].map(|name| text(it, name));
                format!("{target} moved from {from} to {to}")
            })
            .collect();
        let recovered = self.texts("recovered");
        if !recovered.is_empty() {
            let targets = several(&recovered);
            parts.push(format!(
                "{targets} went through recovery (then or in the hour after)"
            ));
        }
        several(&parts)
    }

    fn filling(&self, value: f64, usual: f64) -> String {
        let grows = match value < full::FULL {
            true => " At this rate it will be full within a day.",
            false => "",
        };
        format!(
            "{}, {} of the {} of {} is used; a day before it was at most {}.{grows}",
            self.when,
            percent(value),
            self.texts("of").join(" and "),
            several(&self.targets),
            percent(usual)
        )
    }

    fn broken(&self, value: f64, limit: f64) -> String {
        let text = |name: &str| text(&self.details, name);
        let operation = text("operation");
        let times = self.details["times_usual"].as_f64();
        let times = times.map_or(String::new(), |it| {
            format!(", {} times the baseline", significant(it))
        });
        let more = match text("url") {
            "" => String::new(),
            url => format!(" See {url}."),
        };
        format!(
            "{}, the rule \"{}\" {} broken: one {} reached {} of {operation} on {}. The limit is {}{times}.{more}",
            self.when,
            text("rule"),
            if self.is_over { "was" } else { "has been" },
            text("by"),
            words::of(value, operation),
            self.filesystem,
            words::of(limit, operation)
        )
    }

    /// Returns what the last event of this kind and place was judged to be.
    fn earlier(&self) -> Option<Line> {
        let earlier = &self.earlier;
        let verdict = match earlier["verdict"].as_str()? {
            "false" => "a false alarm",
            "known" => "real, but already known",
            _ => "real",
        };
        let note = earlier["note"].as_str().filter(|note| !note.is_empty());
        let note = note.map_or(String::new(), |note| format!(": {note}"));
        let text = format!(
            "The last judged event of this kind here ({}) was {verdict}{note}.",
            text(earlier, "began")
        );
        Some(Line::new("earlier", text, earlier.clone()))
    }

    /// Returns whether probes alone show the event, and no service of a server.
    fn is_only_probed(&self) -> bool {
        self.kind == "waiting" && self.texts("services").is_empty()
    }

    fn probe(&self) -> Option<Line> {
        let probe = self.details.get("probe")?;
        let text = format!(
            "In the hour when it began, a probe of {} took {} on average; {} is typical.",
            probe["target"].as_str()?,
            seconds(probe["seconds"].as_f64()?),
            seconds(probe["usual"].as_f64()?)
        );
        Some(Line::new("probe", text, probe.clone()))
    }

    /// Returns the texts of a list in the details.
    fn texts(&self, name: &str) -> Vec<String> {
        let list = self.details[name].as_array().into_iter().flatten();
        list.filter_map(|it| Some(it.as_str()?.to_owned()))
            .collect()
    }

    fn busy(&self) -> Option<Line> {
        let sums = self.load.get("load")?;
        let both = |name: &str, shown: fn(f64) -> String| {
            let [before, after] = [0, 1].map(|side| number(&sums[name][side]));
            let is_any = before != 0.0 || after != 0.0;
            is_any.then(|| format!("{name} {} instead of {}", shown(after), shown(before)))
        };
        let numbers = [both("calls", rate), both("bytes", amount)];
        let numbers: Vec<String> = numbers.into_iter().flatten().collect();
        let numbers = numbers.join(", ");
        let text = match self.load["times"].as_f64() {
            None => format!("There was no earlier load to compare with: {numbers}."),
            Some(times) if times >= 1.25 => {
                format!(
                    "The load was {} times its baseline: {numbers}.",
                    significant(times)
                )
            }
            Some(_) => format!(
                "The load was typical ({numbers}): the servers or their disks were slower, not busier."
            ),
        };
        Some(Line::new("load", text, sums.clone()))
    }

    fn who(&self) -> Option<Line> {
        let details = self.culprits.clone();
        let slow = self.texts("slow");
        let text = if self.kind == "failover" {
            return None;
        } else if self.kind == "full" {
            "Snapshots do not show who owns the files.".to_owned()
        } else if self.kind == "rule" {
            self.largest()
        } else if self.kind != "waiting" {
            "No culprit is named: the heaviest user of such a target also waits the longest."
                .to_owned()
        } else if !slow.is_empty() {
            format!(
                "No culprit is named, because {} took longer than usual per call.",
                several(&slow)
            )
        } else if self.is_only_probed() {
            "No culprit is named: servers did not queue requests.".to_owned()
        } else if self.load.is_null() {
            "The culprit has not been determined yet.".to_owned()
        } else if self.culprits.is_null() {
            UNSEEN.to_owned()
        } else {
            self.subjects()
        };
        Some(Line::new("who", text, details))
    }

    /// Returns who broke a rule, in words.
    fn largest(&self) -> String {
        let by = text(&self.culprits, "by");
        let largest = &self.culprits["subjects"][0];
        let Some(name) = words::subject(largest, by) else {
            return UNSEEN.to_owned();
        };
        let user = words::subject(largest, "uid").filter(|_| by == "job");
        format!(
            "{}{} had a share of {}.",
            words::capital(&name),
            user.map_or(String::new(), |user| format!(" of {user}")),
            percent(number(&largest["share"]))
        )
    }

    /// Returns who made the load rise, in words.
    fn subjects(&self) -> String {
        let subjects = self.culprits["subjects"].as_array();
        let subjects = subjects.map_or(&[][..], Vec::as_slice);
        let by = text(&self.culprits, "by");
        let share = |it: &Value| percent(number(&it["share"]));
        let Some(first) = subjects.first() else {
            return "No user did more than usual.".to_owned();
        };
        if self.culprits["named"] == true {
            let mut rest = Vec::new();
            for (dimension, how) in [("job", "in"), ("account", "for"), ("uid", "by")] {
                let subject = words::subject(first, dimension).filter(|_| dimension != by);
                rest.extend(subject.map(|it| format!(" {how} {it}")));
            }
            return format!(
                "{} caused {} of the rise in server time{}{}.",
                words::capital(&words::subject(first, by).unwrap_or_default()),
                share(first),
                if rest.is_empty() { "" } else { ", mostly" },
                rest.concat()
            );
        }
        let largest = subjects.iter();
        let largest =
            largest.filter_map(|it| Some(format!("{} ({})", words::subject(it, by)?, share(it))));
        format!(
            "No user, account or job caused enough of the rise in server time to be named. Largest shares: {}.",
            largest.collect::<Vec<_>>().join(", ")
        )
    }

    fn how(&self) -> Option<Line> {
        let first = self.culprits["subjects"].get(0)?;
        let operation = first["operation"].as_str()?;
        let calls = |side: usize| rate(number(&first["calls"][side]));
        let bytes = first["bytes_per_call"].as_f64();
        let each = bytes.map_or(String::new(), |it| format!(" of {} each", words::size(it)));
        let text = format!(
            "Mostly {operation}: {}{each}; {} before.",
            calls(1),
            calls(0)
        );
        let details =
            json!({ "operation": operation, "calls": first["calls"], "bytes_per_call": bytes });
        Some(Line::new("how", text, details))
    }

    fn peers(&self) -> Option<Line> {
        let peers = self.details.get("peers")?.as_u64()?;
        let wait = &self.details["wait_of_peers"];
        let servers = plural(peers, "server");
        let text = match (self.kind.as_str(), wait.as_f64()) {
            ("waiting", _) if peers == 0 => format!(
                "No other server of {} has the service {} to compare with.",
                self.filesystem,
                text(&self.details, "service")
            ),
            ("waiting", Some(wait)) => {
                format!("On the other {servers}, requests waited {}.", seconds(wait))
            }
            ("waiting", None) => format!("The other {servers} had no requests."),
            _ => format!("The other {} were not slow.", plural(peers, "OST")),
        };
        let details = json!({ "peers": peers, "wait": wait });
        Some(Line::new("peers", text, details))
    }
}
