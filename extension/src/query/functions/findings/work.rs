//! Finds what servers saw of each group.

use std::collections::{BTreeMap, HashMap};

use jobstats_core::base::instant::{DAY, HOUR, Micros, Span};
use jobstats_core::base::pattern::exactly;
use jobstats_core::base::target::TargetKind;
use jobstats_core::judgement::finding::{Calls, Moved, Rule, SizeCounts, Work, is_enough};
use jobstats_core::usage::{Measure, Measures};
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::receive::Type;
use crate::pg::spi::{Statements, values};
use crate::pg::time::timestamptz;
use crate::query::dimension::{By, Level};
use crate::query::engine::{Request, Usage};
use crate::query::entries::few;
use crate::query::filters::Filters;
use crate::query::labels::{Group, held};
use crate::query::plan::Plan;
use crate::query::question::{AnswerShape, Period, Question};
use crate::query::read::{self, HAS_HISTOGRAM};

/// The measures that work is made of, besides the number of all calls.
const MEASURES: [&str; 17] = [
    "service_time",
    "read_bytes",
    "read",
    "read_time",
    "write_bytes",
    "write",
    "write_time",
    "open",
    "open_time",
    "mknod",
    "mknod_time",
    "unlink",
    "unlink_time",
    "getattr",
    "getattr_time",
    "sync",
    "sync_time",
];

/// Returns the question for the usage of groups by target.
pub fn question(period: Period, by: &By, filters: Filters) -> Result<Question, Error> {
    let names = by.iter().map(|it| it.name);
    let names: Vec<&str> = names
        .chain(["cluster", "filesystem", "kind", "target"])
        .collect();
    let mut measures = Measures::named(MEASURES, None)?;
    measures.list.push(Measure::requests());
    Ok(Question {
        period,
        by: By::these(&names),
        measures,
        filters,
        wanted: AnswerShape::Work,
    })
}

/// The longest window in which the sizes of all reads and writes are read. Only increments have them, two million a day in a large
/// cluster. A day may have 25 hours. In a longer one the sizes of some jobs are read.
const LONGEST: Micros = DAY + HOUR;

/// Returns the work of each group in the window of a plan, or of these entries, whose jobs' sizes of reads and writes maintenance has
/// summed up.
pub fn find(
    client: &SpiClient<'_>,
    question: &Question,
    plan: &Plan,
    by: &By,
    entries: Option<&[i64]>,
) -> Result<Vec<(Group, Work)>, Error> {
    let chosen = match entries {
        Some(entries) => Some(entries.to_vec()),
        None => few(client, plan)?,
    };
    let length = plan.window.until() - plan.window.since();
    let reads_all = chosen.is_some() || length <= LONGEST;
    let request = Request::of(question, plan, chosen.clone());
    let mut groups = add_up(question, by, &request.read()?, osts(plan))?;
    let sizes = match entries {
        Some(entries) => summed_sizes(entries)?,
        None if !has_sizes(client, plan)? => return Ok(groups),
        None if reads_all => {
            let question = sizes_of(&question.filters, by);
            let plan = plan.again(client, &question)?;
            find_sizes(&question, &plan, chosen)?
        }
        None => sizes_of_some(client, &question.filters, plan, by, &groups)?,
    };
    for (group, work) in &mut groups {
        let [reads, writes] = sizes.get(group).copied().unwrap_or_default();
        for (moved, known) in [(&mut work.read, reads), (&mut work.write, writes)] {
            // A file system may have servers of several versions. Values known for most calls represent all.
            moved.sized = known.filter(|sized| sized.all >= moved.calls.count / 2.0);
        }
    }
    Ok(groups)
}

/// The work of a group, target by target.
#[derive(Default)]
struct Sums {
    active: Option<Span>,
    /// By measure: the total of all targets.
    all: Vec<Option<i128>>,
    /// The totals of MDTs.
    on_mdts: Vec<Option<i128>>,
    /// Set if the time of some calls is not known.
    lacks_times: bool,
    /// The OST with most bytes: its bytes, its time, and the number of OSTs in use of its file system.
    most: (i128, Option<i128>, usize),
}

/// Adds the work of each group up over targets.
fn add_up(
    question: &Question,
    by: &By,
    usage: &Usage<'_>,
    osts: HashMap<FileSystem, usize>,
) -> Result<Vec<(Group, Work)>, Error> {
    let measures = question.measures.list.iter();
    let place = |name: &str| measures.clone().position(|it| it.name == name).unwrap_or(0);
    let [requests, time, read, write] =
        ["requests", "service_time", "read_bytes", "write_bytes"].map(place);
    let own = by.list().len();
    let dimension = |name: &str| question.by.iter().position(|it| it.name == name);
    let of_target = ["cluster", "filesystem", "kind"].map(|it| dimension(it).unwrap_or(0));
    let mut groups: BTreeMap<Group, Sums> = BTreeMap::new();
    usage.each(question.has_idle_targets(), |line| {
        let mut group = usage.values(&line);
        let [cluster, filesystem, kind] = of_target.map(|it| group[it].clone());
        group.truncate(own);
        let sums = held(&mut groups, group)?;
        let totals: Vec<Option<i128>> = line.amounts.iter().map(|it| it.total).collect();
        if let Some(active) = line.active {
            let known = sums.active.unwrap_or(active);
            sums.active = Some((known.0.min(active.0), known.1.max(active.1)));
        }
        sums.lacks_times |= totals[requests] > Some(0) && totals[time].is_none();
        add(&mut sums.all, &totals);
        match kind.as_deref() {
            Some("OST") => {
                let bytes = totals[read].unwrap_or(0) + totals[write].unwrap_or(0);
                let targets = osts.get(&(cluster, filesystem)).copied().unwrap_or(0);
                sums.most = sums.most.max((bytes, totals[time], targets));
            }
            _ => add(&mut sums.on_mdts, &totals),
        }
        Ok(())
    })?;
    // File systems and clusters have targets of both kinds.
    let mut dimensions = by.iter().chain(question.filters.chosen());
    let is_of_some_targets = dimensions
        .any(|it| it.level != Level::Entry && !["cluster", "filesystem"].contains(&it.name));
    let works = groups.into_iter();
    let works = works.map(|(group, sums)| (group, sums.work(question, is_of_some_targets)));
    Ok(works.collect())
}

fn add(sums: &mut Vec<Option<i128>>, totals: &[Option<i128>]) {
    sums.resize(totals.len(), None);
    for (sum, total) in sums.iter_mut().zip(totals) {
        if let Some(total) = total {
            *sum = Some(sum.unwrap_or(0) + total);
        }
    }
}

/// The cluster and the name of a file system.
type FileSystem = (Option<String>, Option<String>);

/// The number of OSTs in use of each cluster and file system.
fn osts(plan: &Plan) -> HashMap<FileSystem, usize> {
    let mut osts = HashMap::new();
    let in_use = plan.state.targets.iter().filter(|it| it.retired.is_none());
    for target in in_use.filter(|it| it.kind == TargetKind::Ost) {
        let file_system = (Some(target.cluster.clone()), target.filesystem.clone());
        *osts.entry(file_system).or_default() += 1;
    }
    osts
}

impl Sums {
    fn work(&self, question: &Question, is_of_some_targets: bool) -> Work {
        let measures = &question.measures.list;
        let of = |sums: &[Option<i128>], name: &str| {
            let place = measures.iter().position(|it| it.name == name)?;
            let total = sums.get(place).copied().flatten()?;
            Some(total as f64 / measures[place].unit() as f64)
        };
        let number = |name: &str| of(&self.all, name).unwrap_or(0.0);
        let calls_in = |sums: &[Option<i128>], name: &str| Calls {
            count: of(sums, name).unwrap_or(0.0),
            time: of(sums, &format!("{name}_time")),
        };
        let calls = |name: &str| calls_in(&self.all, name);
        let moved = |name: &str| Moved {
            bytes: number(&format!("{name}_bytes")),
            calls: calls(name),
            sized: None,
        };
        let time = of(&self.all, "service_time").filter(|_| !self.lacks_times);
        let (bytes, time_of_most, targets) = self.most;
        Work {
            is_of_some_targets,
            seconds: self.active.map_or(0.0, |it| (it.1 - it.0) as f64 / 1e6),
            all: Calls {
                count: number("requests"),
                time,
            },
            // Groups without metadata requests cost MDTs no time.
            on_mdts: of(&self.on_mdts, "service_time").or(time.map(|_| 0.0)),
            read: moved("read"),
            write: moved("write"),
            on_one_target: (bytes as f64, time_of_most.map(|it| it as f64 / 1e6)),
            targets: targets as f64,
            opens: calls("open"),
            creates: calls("mknod"),
            unlinks: calls("unlink"),
            getattrs: calls_in(&self.on_mdts, "getattr"),
            syncs: calls("sync"),
        }
    }
}

/// The numbers of reads, and of writes, of known size.
type Sizes = HashMap<Group, [Option<SizeCounts>; 2]>;

/// The sizes that maintenance has summed up for the jobs of entries.
const SUMMED_SIZES: &str = "SELECT sizes.reads, sizes.small_reads, sizes.writes, sizes.small_writes, sizes.job FROM jobstats.finding_sizes sizes \
    WHERE sizes.job IN (SELECT entry.job FROM jobstats.entries entry WHERE entry.entry_id = ANY ($1))";

/// Returns whether any target prints the sizes of reads and writes. Only the last hour of the window is read.
fn has_sizes(client: &SpiClient<'_>, plan: &Plan) -> Result<bool, Error> {
    let until = plan.window.until();
    // Nodes of a front can compare with an instant, and do not compute the greatest of two.
    let since = plan.window.since().max(until.saturating_sub(HOUR));
    let [since, until] = [since, until].map(timestamptz);
    let statement = format!(
        "SELECT EXISTS (SELECT FROM jobstats.increments usage WHERE usage.\"time\" > $1 AND usage.\"time\" <= $2 AND {HAS_HISTOGRAM})"
    );
    client.query_value(&statement, &values![since?, until?])
}

/// Returns the question for the sizes of reads and writes of groups.
fn sizes_of(filters: &Filters, by: &By) -> Question {
    Question {
        period: Period::default(),
        by: by.clone(),
        measures: Measures::listed(Measure::sized().to_vec()),
        filters: filters.clone(),
        wanted: AnswerShape::SizedCalls,
    }
}

/// Finds the sizes of reads and writes of all groups.
fn find_sizes(question: &Question, plan: &Plan, entries: Option<Vec<i64>>) -> Result<Sizes, Error> {
    let mut sizes = Sizes::new();
    let request = Request::of(question, plan, entries);
    let usage = request.read()?;
    usage.each(false, |line| {
        let calls = |n: usize| line.amounts[n].total.unwrap_or(0) as f64;
        let known = [0, 3].map(|n| {
            let [all, small, medium] = [n, n + 1, n + 2].map(calls);
            (all > 0.0).then_some(SizeCounts { all, small, medium })
        });
        sizes.insert(usage.values(&line), known);
        Ok(())
    })?;
    Ok(sizes)
}

/// The numbers of jobs whose sizes are read in long windows: as many of them as have few entries.
const SOME: [usize; 3] = [500, 100, 20];

/// Finds the sizes of reads and writes of jobs, so that a job has the same level in any window: of those first that are small by
/// their mean, then of those that cost most.
fn sizes_of_some(
    client: &SpiClient<'_>,
    filters: &Filters,
    plan: &Plan,
    by: &By,
    groups: &[(Group, Work)],
) -> Result<Sizes, Error> {
    let Some(place) = by.iter().position(|it| it.name == "job") else {
        return Ok(Sizes::new());
    };
    let small = [Rule::SmallReads, Rule::SmallWrites, Rule::SmallFiles];
    let cost = |work: &Work| {
        let is_small = small.iter().any(|it| it.value(work) > Some(0.0));
        let [read, write] =
            [work.read.calls, work.write.calls].map(|it| it.time.unwrap_or(it.count));
        (is_small, read + write)
    };
    let judged = groups.iter().filter(|(_, work)| is_enough(work));
    let jobs = judged.filter_map(|(group, work)| Some((cost(work), group[place].as_deref()?)));
    let mut jobs: Vec<_> = jobs.collect();
    jobs.sort_by(|(one, _), (other, _)| other.0.cmp(&one.0).then(other.1.total_cmp(&one.1)));
    for most in SOME.into_iter().filter(|_| !jobs.is_empty()) {
        let names = jobs.iter().take(most).map(|(_, job)| exactly(job));
        let of_jobs = filters.clone().any_of("job", Some(names.collect()));
        let question = sizes_of(&of_jobs, by);
        let plan = plan.again(client, &question)?;
        if let Some(entries) = few(client, &plan)? {
            return find_sizes(&question, &plan, Some(entries));
        }
    }
    Ok(Sizes::new())
}

/// Reads the sizes that maintenance has summed up for the jobs of these entries.
fn summed_sizes(entries: &[i64]) -> Result<Sizes, Error> {
    let [float, text] = [Type::Float, Type::Text];
    let types = [float, float, float, float, text];
    let found = read::rows(SUMMED_SIZES, &values![entries.to_vec()], &types, |row| {
        // Values need no more than the small ones.
        let sized = |column| {
            let (all, small) = row.float(column).zip(row.float(column + 1))?;
            let medium = small;
            Some(SizeCounts { all, small, medium })
        };
        Some((vec![row.text(4)], [sized(0), sized(2)]))
    })?;
    Ok(found.into_iter().collect())
}
