//! Rules of a site's own, about the largest subject of a file system.

use std::collections::{BTreeMap, HashMap};

use jobstats_core::base::instant::{MINUTE, Micros, Span};
use jobstats_core::judgement::event::{Episode, Reading, rule};
use pgrx::spi::SpiClient;
use serde_json::{Value, json};

use crate::events::baseline::days;
use crate::events::culprits::{Subject, object, rounded};
use crate::events::readings::FileSystem;
use crate::pg::error::Error;
use crate::pg::pause::PAUSE;
use crate::pg::spi::{Statements, values};
use crate::pg::time::timestamptz;

/// The steps in which rules are judged.
const STEP: Micros = 10 * MINUTE;

/// The largest subject of a step.
#[derive(Debug)]
struct Largest {
    span: Span,
    subject: Subject,
    rate: f64,
    /// The share of the total.
    share: f64,
}

/// A rule that is switched on, and what the largest subjects did.
#[derive(Debug)]
pub struct Rule {
    pub name: String,
    operation: String,
    by: String,
    threshold: Option<f64>,
    times_usual: Option<f64>,
    lasting: Micros,
    url: Option<String>,
    baseline: HashMap<(Micros, FileSystem), f64>,
    largest: BTreeMap<FileSystem, Vec<Largest>>,
}

impl Rule {
    /// Reads the enabled rules, and the usage in the whole steps of a span.
    pub fn read_all(client: &mut SpiClient<'_>, span: Span) -> Result<Vec<Self>, Error> {
        let rows = client.execute_rows(
            "SELECT r.name, r.operation, r.\"by\", r.threshold, r.times_usual, (extract(epoch FROM r.lasting) * 1000000)::bigint AS lasting, r.url \
             FROM jobstats.rules r WHERE r.enabled ORDER BY r.name",
            &[],
        )?;
        let rules = rows.map(|row| {
            Ok(Self {
                name: row.get("name")?,
                operation: row.get("operation")?,
                by: row.get("by")?,
                threshold: row.get("threshold")?,
                times_usual: row.get("times_usual")?,
                lasting: row.get("lasting")?,
                url: row.get("url")?,
                baseline: HashMap::new(),
                largest: BTreeMap::new(),
            })
        });
        let mut rules = rules.collect::<Result<Vec<_>, Error>>()?;
        let steps = [span.0, span.1].map(|it| it.div_euclid(STEP) * STEP);
        for rule in &mut rules {
            if rule.times_usual.is_some() {
                days(span).try_for_each(|day| rule.add_baseline(client, day))?;
            }
            if steps[0] < steps[1] {
                rule.add_largest(client, (steps[0], steps[1]))?;
            }
        }
        Ok(rules)
    }

    fn add_baseline(&mut self, client: &mut SpiClient<'_>, day: Micros) -> Result<(), Error> {
        let key = values![
            timestamptz(day)?,
            self.name.as_str(),
            self.operation.as_str(),
            self.by.as_str()
        ];
        client.execute(include_str!("rules/usual.sql"), &key)?;
        let rows = client.execute_rows(
            "SELECT u.cluster, u.filesystem, u.rate FROM jobstats.baseline_largest u \
             WHERE u.day = ($1 AT TIME ZONE 'UTC')::date AND u.operation = $3 AND u.\"by\" = $4 AND u.filesystem <> ''",
            &key,
        )?;
        for row in rows {
            let filesystem = (row.at(1)?, row.at(2)?);
            self.baseline.insert((day, filesystem), row.at(3)?);
        }
        Ok(())
    }

    fn add_largest(&mut self, client: &SpiClient<'_>, (since, until): Span) -> Result<(), Error> {
        let Self {
            name,
            operation,
            by,
            ..
        } = &*self;
        let rows = client.query(
            "SELECT l.* FROM jobstats_internal.largest_subjects($1, $2, $3, $4, $5, interval '10 minutes') l ORDER BY l.began",
            &values![name.as_str(), operation.as_str(), by.as_str(), timestamptz(since)?, timestamptz(until)?],
        )?;
        for row in PAUSE.among(rows) {
            let filesystem = (row.get("cluster")?, row.get("filesystem")?);
            let largest = Largest {
                span: (row.time("began")?, row.time("ended")?),
                subject: Subject::of(&row)?,
                rate: row.get("rate")?,
                share: row.get::<Option<f64>>("share")?.unwrap_or(0.0),
            };
            self.largest.entry(filesystem).or_default().push(largest);
        }
        Ok(())
    }

    /// Returns the rule for a file system, as it counts on a day.
    pub fn given(&self, filesystem: &FileSystem, day: Micros) -> rule::Rule {
        let baseline = self.baseline.get(&(day, filesystem.clone()));
        let of_baseline = self.times_usual.zip(baseline);
        let of_baseline = of_baseline.map(|(times, baseline)| times * baseline);
        let largest = self.largest.get(filesystem).into_iter().flatten();
        let readings = largest.map(|it| Reading {
            span: it.span,
            value: it.rate,
        });
        rule::Rule {
            limit: self.threshold.or(of_baseline).filter(|limit| *limit > 0.0),
            lasting: self.lasting,
            readings: readings.collect(),
        }
    }

    /// Returns the subject that did most until the rule was found to be broken, in the form of culprits.
    pub fn culprits(&self, filesystem: &FileSystem, episode: &Episode) -> Value {
        let all = self.largest.get(filesystem).into_iter().flatten();
        let mut sums: BTreeMap<&Subject, (f64, f64, f64)> = BTreeMap::new();
        for it in all.filter(|it| it.span.0 >= episode.began && it.span.1 <= episode.found) {
            let (rate, share, count) = sums.entry(&it.subject).or_default();
            *rate += it.rate;
            *share += it.share;
            *count += 1.0;
        }
        let sums = sums.into_iter();
        let most = sums.max_by(|(_, one), (_, other)| one.0.total_cmp(&other.0));
        let subjects = most.map(|(subject, (rate, share, count))| {
            let mut json = subject.json();
            json.extend(object([
                ("share", rounded(share / count).into()),
                ("after", rounded(rate / count).into()),
            ]));
            json
        });
        let by = if self.by == "user" { "uid" } else { &self.by };
        json!({ "by": by, "named": subjects.is_some(), "subjects": Vec::from_iter(subjects) })
    }

    /// Returns the rule as JSON.
    pub fn details(&self) -> Value {
        json!({ "rule": self.name, "operation": self.operation, "by": self.by, "times_usual": self.times_usual,
            "url": self.url })
    }
}
