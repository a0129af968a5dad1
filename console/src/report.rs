//! Reports: pages about a file system in a window, about a job, a user or a target, and about several jobs side by side.

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{Dimension, Filters, Group, RateRow, Targets, exactly};
use jobstats_core::quantity::{Quantity, Readable};

use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::live::users::called;
use crate::show::chart::line::Point;
use crate::show::html::{Block, Cell, Page, Section};
use crate::values::number::Number;
use crate::values::text::shown;
use crate::values::when::Clock;

use load::Load;
use place::Place;

mod advice;
mod balance;
mod burst;
mod changes;
pub mod compare;
mod density;
mod leaders;
mod load;
mod operations;
mod place;
mod sizes;
mod standout;
pub mod subject;
mod trust;

/// The seconds of a week.
const WEEK: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The question that a report answers.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The file system.
    pub filesystem: String,
    /// The cluster, if the name of the file system alone is not enough.
    pub cluster: Option<String>,
    /// The window.
    pub window: (Timestamp, Timestamp),
    /// The names of its targets.
    pub targets: Vec<String>,
    /// The operation that measures the load: `service_time` or, if no server reports times, `metadata`.
    pub measure: &'static str,
}

impl Scope {
    /// Finds a file system; without a name the only one that there is.
    ///
    /// # Errors
    ///
    /// Fails if there is no such file system, or if several have the name.
    pub fn find(
        store: &mut Store,
        name: Option<&str>,
        cluster: Option<&str>,
        window: (Timestamp, Timestamp),
    ) -> Result<Self, Error> {
        let targets = store.ask(&Targets::default())?.rows;
        let mut known: Vec<_> = targets
            .iter()
            .filter_map(|row| Some((row.filesystem.clone()?, row.cluster.clone())))
            .collect();
        known.sort();
        known.dedup();
        let is_asked = |it: &&(String, String)| {
            name.is_none_or(|name| it.0 == name) && cluster.is_none_or(|cluster| it.1 == cluster)
        };
        let matching: Vec<_> = known.iter().filter(is_asked).collect();
        match matching.as_slice() {
            [(filesystem, of)] => Ok(Self {
                filesystem: filesystem.clone(),
                cluster: cluster.map(str::to_owned),
                window,
                targets: targets
                    .iter()
                    .filter(|row| row.filesystem.as_ref() == Some(filesystem) && row.cluster == *of)
                    .map(|row| row.name.clone())
                    .collect(),
                measure: "service_time",
            }),
            [] => Err(unknown(name, cluster, &known)),
            several => Err(Error::Usage(format!(
                "there are several file systems, choose one: {}",
                list(several.iter().copied())
            ))),
        }
    }

    /// Returns whether the file system has a target, which is of this cluster.
    fn has(&self, target: &String, cluster: &str) -> bool {
        self.targets.contains(target) && self.cluster.as_ref().is_none_or(|it| it == cluster)
    }

    /// Returns the filters of all questions of the report.
    fn filters(&self) -> Filters {
        Filters {
            cluster: self.cluster.as_ref().map(|name| vec![exactly(name)]),
            filesystem: Some(vec![exactly(&self.filesystem)]),
            ..Filters::default()
        }
    }

    /// Returns the same window a week before.
    fn before(&self) -> (Timestamp, Timestamp) {
        let earlier = |time: Timestamp| time.checked_sub(WEEK).unwrap_or(Timestamp::MIN);
        (earlier(self.window.0), earlier(self.window.1))
    }

    /// Prints a rate of the measure.
    fn rate(&self, rate: Option<f64>) -> String {
        Number::of(rate, self.measure, Quantity::Rate).text()
    }

    /// Returns the cell of a rate of the measure.
    fn cell(&self, rate: Option<f64>) -> Cell {
        cell(rate, self.measure, Quantity::Rate)
    }

    /// Prints a power of ten of the measure, which is exact however small it is.
    fn power(&self, exponent: i32) -> String {
        let rate = 10_f64.powi(exponent);
        match self.measure {
            "service_time" if exponent >= 0 => format!("{rate:.0}"),
            "service_time" if exponent >= -3 => rate.to_string(),
            // There would be no room for so many zeros beside a picture.
            "service_time" => format!("10{}", superscript(exponent)),
            measure => Readable::new(rate, measure, Quantity::Rate)
                .map_or_else(|| rate.to_string(), |it| it.to_string()),
        }
    }

    /// Returns the words for the measure.
    fn words(&self) -> &'static str {
        match self.measure {
            "service_time" => "requests in service",
            "bytes" => "bytes read and written",
            _ => "metadata requests",
        }
    }

    /// Returns the title of an axis of the measure.
    fn title(&self) -> String {
        let mut title = self.words().to_owned();
        title[..1].make_ascii_uppercase();
        if self.measure != "service_time" {
            title.push_str(" per second");
        }
        title
    }

    /// Returns the scopes whose measures tell the load of all targets: without times, metadata is that of MDTs, and bytes are
    /// that of OSTs.
    fn all(&self) -> Vec<Self> {
        let mut all = vec![self.clone()];
        if self.measure != "service_time" {
            all.push(Self {
                measure: "bytes",
                ..self.clone()
            });
        }
        all
    }
}

/// Prints an exponent.
fn superscript(exponent: i32) -> String {
    let raised = |digit| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        // The other digits are in a row.
        digit => char::from_u32(0x2070 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
    };
    exponent.to_string().chars().map(raised).collect()
}

fn unknown(name: Option<&str>, cluster: Option<&str>, known: &[(String, String)]) -> Error {
    let of = cluster.map_or_else(String::new, |cluster| {
        format!(" of cluster {}", shown(cluster))
    });
    let (kind, name) = match name {
        Some(name) => ("file system", shown(name) + &of),
        None => ("any", format!("file system{of}")),
    };
    let note = match known {
        [] => "the store has no targets yet".to_owned(),
        known => format!("known: {}", list(known.iter())),
    };
    Error::Unknown {
        kind,
        name,
        notes: vec![note],
    }
}

/// Lists file systems, each with the option that chooses its cluster.
fn list<'k>(known: impl Iterator<Item = &'k (String, String)>) -> String {
    let names = known.map(|(filesystem, cluster)| match cluster.as_str() {
        "" => shown(filesystem),
        cluster => format!("{} (--cluster {})", shown(filesystem), shown(cluster)),
    });
    names.collect::<Vec<_>>().join(", ")
}

/// Makes the report about a file system.
///
/// # Errors
///
/// Fails if the store does.
pub fn filesystem(store: &mut Store, mut scope: Scope, clock: &Clock) -> Result<Page, Error> {
    let load = load::ask(store, &mut scope)?;
    if load.mean.is_none() {
        return empty(store, &scope, &load, clock);
    }
    let health = trust::Health::ask(store, &scope)?;
    let mut spans = standout::ask(store, &scope, &load, clock)?;
    let places = scope
        .all()
        .into_iter()
        .map(|scope| Place::ask(store, scope));
    let places = places.collect::<Result<Vec<_>, _>>()?;
    spans.add(burst::ask(store, &places, &spans, clock)?);
    let mut first = Vec::new();
    first.extend(health.silence(&scope, &load, clock));
    first.push(load.figure(&scope, &spans, clock));
    first.extend(spans.blocks());
    if !load.notes.is_empty() {
        first.push(Block::List(
            load.notes.iter().map(|note| shown(note)).collect(),
        ));
    }
    for scope in scope.all() {
        first.extend(leaders::ask(store, &scope, !load.before.is_empty())?);
    }
    let lead = standout::lead(store, &scope, &load, &spans, clock)?;
    Ok(page(
        &scope,
        clock,
        lead,
        sections(store, &scope, &load, first, &places, &health, clock)?,
    ))
}

/// Returns the sections of a page, of which the blocks of the first are given.
fn sections(
    store: &mut Store,
    scope: &Scope,
    load: &Load,
    first: Vec<Block>,
    places: &[Place],
    health: &trust::Health,
    clock: &Clock,
) -> Result<Vec<Section>, Error> {
    let advice = advice::ask(store, scope)?;
    let advice = (!advice.is_empty()).then(|| section("advice", "Advice", advice));
    let mut sections = vec![section("load", "Load, and who made it", first)];
    sections.extend(advice);
    sections.extend([
        section(
            "targets",
            "Where and when",
            places.iter().map(|place| place.figure(clock)).collect(),
        ),
        section(
            "users",
            "Users by rate",
            vec![density::ask(store, scope, load, clock)?],
        ),
        section("changes", "What changed", changes::ask(store, scope)?),
        section(
            "health",
            "Health of the monitoring",
            health.blocks(load, clock),
        ),
        section(
            "operations",
            "Operations by target",
            operations::ask(store, scope, clock)?,
        ),
        section(
            "sizes",
            "Sizes of reads and writes",
            sizes::ask(store, scope.window, &scope.filters())?,
        ),
        section("balance", "Balance of targets", balance::ask(store, scope)?),
        section(
            "quality",
            "Quality of the data",
            trust::quality(store, scope, clock)?,
        ),
    ]);
    Ok(sections)
}

/// Returns the page of a window in which nothing was observed.
fn empty(store: &mut Store, scope: &Scope, load: &Load, clock: &Clock) -> Result<Page, Error> {
    let mut lead = "Nothing was observed in this window.".to_owned();
    for note in &load.notes {
        lead.push(' ');
        lead.push_str(&shown(note));
    }
    let health = section(
        "health",
        "Health of the monitoring",
        trust::Health::ask(store, scope)?.blocks(load, clock),
    );
    Ok(page(scope, clock, lead, vec![health]))
}

fn section(id: &'static str, heading: &str, blocks: Vec<Block>) -> Section {
    Section {
        id,
        heading: heading.to_owned(),
        blocks,
    }
}

fn page(scope: &Scope, clock: &Clock, lead: String, sections: Vec<Section>) -> Page {
    let (filesystem, window) = (shown(&scope.filesystem), clock.window(scope.window));
    Page {
        title: format!("{filesystem}: {window}"),
        kind: "Lustre file system".to_owned(),
        heading: format!("{filesystem}, {window}"),
        lead,
        about: about(scope, clock),
        sections,
    }
}

fn about(scope: &Scope, clock: &Clock) -> Vec<String> {
    let mdts = scope.targets.iter().filter(|name| name.contains("-MDT"));
    let mdts = mdts.count();
    let mut about = vec![
        format!("All times are {}", clock.name()),
        format!("{mdts} MDTs, {} OSTs", scope.targets.len() - mdts),
    ];
    about.extend(made(clock));
    about
}

/// Says when and by what a page was made.
fn made(clock: &Clock) -> Vec<String> {
    let made = clock.minute(Timestamp::now());
    vec![format!(
        "Made {made} by jobstats-console {}",
        env!("CARGO_PKG_VERSION")
    )]
}

/// Returns the name of a user, as far as it is known.
fn user(group: &Group) -> String {
    let name = called(group.user_name.as_deref(), group.uid);
    name.map_or_else(|| "(no user)".to_owned(), |name| shown(&name))
}

/// Returns the cell of a number in a table.
fn cell(value: Option<f64>, operation: &str, quantity: Quantity) -> Cell {
    Cell::number(Number::fixed(value, operation, quantity).text())
}

/// Returns the filters for the user of a row.
fn of_user(filters: &Filters, group: &Group) -> Option<Filters> {
    let filters = filters.clone();
    match (&group.user_name, group.uid) {
        (Some(name), _) => Some(Filters {
            user_name: Some(vec![exactly(name)]),
            ..filters
        }),
        (None, Some(uid)) => Some(Filters {
            uid: Some(vec![uid]),
            ..filters
        }),
        (None, None) => None,
    }
}

/// The dimensions of a user.
fn by_user() -> Vec<Dimension> {
    vec![Dimension::Uid, Dimension::UserName]
}

/// Says how a rate compares with that of the week before.
fn change(now: Option<f64>, before: Option<f64>) -> String {
    match (now, before) {
        (Some(now), Some(before)) if before > 0.0 => {
            let ratio = now / before;
            match ratio {
                _ if ratio >= 1000.0 => "× 1000+".to_owned(),
                _ if ratio >= 10.0 => format!("× {ratio:.0}"),
                _ if ratio >= 2.0 => format!("× {ratio:.1}"),
                _ if (ratio - 1.0).abs() < 0.005 => "±0 %".to_owned(),
                _ => format!(
                    "{}{:.0} %",
                    if ratio >= 1.0 { "+" } else { "−" },
                    100.0 * (ratio - 1.0).abs()
                ),
            }
        }
        (Some(now), _) if now > 0.0 => "new".to_owned(),
        _ => "–".to_owned(),
    }
}

/// Returns the time so many seconds later.
fn after(time: Timestamp, seconds: f64) -> Timestamp {
    let length = SignedDuration::try_from_secs_f64(seconds).unwrap_or_default();
    time.saturating_add(length).unwrap_or(time)
}

/// Returns the steps of rows that have one group.
fn points(rows: &[RateRow]) -> Vec<Point> {
    let point = |row: &RateRow| Point {
        time: row.time,
        seconds: row.seconds,
        rate: row.rate,
    };
    rows.iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_said_as_people_say_it() {
        let cases = [
            (Some(5.0), Some(2.0), "× 2.5"),
            (Some(50.0), Some(2.0), "× 25"),
            (Some(1.4), Some(1.0), "+40 %"),
            (Some(0.88), Some(1.0), "−12 %"),
            (Some(1.0), Some(1.0), "±0 %"),
            (Some(1.0), Some(0.0), "new"),
            (Some(1.0), None, "new"),
            (Some(0.0), None, "–"),
            (None, Some(1.0), "–"),
        ];
        for (now, before, expected) in cases {
            assert_eq!(change(now, before), expected);
        }
    }
}
