//! Groups of subjects and targets with the same values of dimensions.

mod adder;

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use self::adder::{Adder, Item};
use super::cells::{Cells, Place, Subject, SubjectKind};
use super::condition::Conditions;
use super::measure::{CALLS_FOR_MEAN, Measure};
use super::measure_plan::MeasurePlan;
use super::owners::{Entry, Owners};
use super::rates::quotient;
use super::scope::{Observed, Scope};
use super::{UsageError, require_room};
use crate::base::instant::Span;
use crate::usage::dimension::{Dimension, Level, ValueType};

/// The values of the dimensions of a group, in the order of the answer.
pub type Values = Vec<Option<String>>;

/// The rates of groups, by measure.
pub type RatesOfGroups = HashMap<GroupKey, Vec<Vec<f64>>>;

/// The number of a group that has no dimensions of entries.
const NO_ENTRIES: u32 = u32::MAX;

/// The numbers of a group of targets and of a group of entries.
pub type GroupKey = (u32, u32);

/// The values of the dimensions of entries.
type Named = Rc<[Option<Box<str>>]>;

/// The memory that a group takes, and each of its values.
pub(super) const GROUP_BYTES: usize = 64;
pub(super) const VALUE_BYTES: usize = 48;

/// The memory that a subject takes while it is named.
const OF_SUBJECT_BYTES: usize = 128;

/// The memory that a line takes, without its amounts, and a value of its group.
const LINE_BYTES: usize = 1 << 10;
const VALUE_OF_LINE_BYTES: usize = 96;

/// Changes how a value is shown, if it returns another.
pub type Shown = Box<dyn Fn(&'static Dimension, &str) -> Option<String>>;

/// The groups of entries in cells.
pub struct Groups<'a> {
    by: &'a [&'static Dimension],
    conditions: &'a Conditions,
    /// Changes values before they are compared and shown, where the reader sees no names.
    shown: Option<Shown>,
    /// The subjects in order of their ids, each with its days and its position among all.
    subjects: Vec<((SubjectKind, i64), u32, u32)>,
    /// By the position of a subject: its group, if it is not left out, and the number of its node.
    of_subject: Vec<(Option<u32>, Option<u32>)>,
    named: Vec<Named>,
    numbers: HashMap<Named, u32>,
    nodes: HashMap<String, u32>,
    limit: usize,
}

/// An amount of a measure, in parts of its [unit](Measure::unit).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Amount {
    /// The total; `None` if it is not known.
    pub total: Option<i128>,
    /// The sum over targets of total ÷ seconds observed, in whole units.
    pub rate: Option<f64>,
    /// The number of calls.
    pub calls: Option<i128>,
    /// The bytes or time of them, in parts of [its unit](Measure::unit_of_spent).
    pub spent: Option<i128>,
    /// The times between which there was such usage, where measures have their own.
    pub active: Option<Span>,
    /// The number of nodes with such usage, in the same way.
    pub nodes: usize,
}

/// The work of a group in a step.
#[derive(Debug, Clone)]
pub struct Line {
    /// The step, counted from 0.
    pub step: usize,
    /// The key of its group.
    pub group: GroupKey,
    /// An amount for each measure.
    pub amounts: Vec<Amount>,
    /// The times between which there was activity, if there was any.
    pub active: Option<Span>,
    /// The number of nodes.
    pub nodes: usize,
    /// The name of the target that was used most.
    pub busiest: Option<String>,
    /// For how long its targets were observed.
    pub observed: Observed,
}

impl Amount {
    /// Returns the bytes or seconds per call; `None` if there are too few calls.
    pub fn per_call(&self, measure: &Measure) -> Option<f64> {
        let calls = self.calls.filter(|it| *it >= CALLS_FOR_MEAN)?;
        quotient(self.spent?, calls, measure.unit_of_spent())
    }
}

impl Line {
    /// Returns the total of the first measure.
    pub fn total(&self) -> Option<i128> {
        self.amounts.first()?.total
    }
}

impl<'a> Groups<'a> {
    /// Starts with the subjects of cells, by these dimensions, under these conditions. All groups together take at most `limit` bytes.
    ///
    /// # Errors
    /// [`UsageError::NoRoom`]
    pub fn new(
        by: &'a [&'static Dimension],
        conditions: &'a Conditions,
        shown: Option<Shown>,
        cells: &Cells,
        limit: usize,
    ) -> Result<Self, UsageError> {
        require_room(cells.subjects.len() * OF_SUBJECT_BYTES)?;
        let subjects = cells.subjects.iter().zip(0..);
        let subjects = subjects.map(|(it, position)| ((it.kind, it.id), it.days, position));
        let mut subjects: Vec<_> = subjects.collect();
        subjects.sort_unstable();
        let of_all = |it: &Subject| (*it == Subject::ALL).then_some(NO_ENTRIES);
        let of_subject = cells.subjects.iter().map(|it| (of_all(it), None));
        let of_subject = of_subject.collect();
        Ok(Self {
            by,
            conditions,
            shown,
            of_subject,
            subjects,
            named: Vec::new(),
            numbers: HashMap::new(),
            nodes: HashMap::new(),
            limit,
        })
    }

    /// Returns the ids of the subjects of a kind, in order, each once.
    pub fn ids(&self, kind: SubjectKind) -> Vec<i64> {
        let of_kind = self.subjects.iter().filter(|it| it.0.0 == kind);
        let mut ids: Vec<i64> = of_kind.map(|it| it.0.1).collect();
        ids.dedup();
        ids
    }

    /// Gives all subjects of an entry or an owner their group, unless a condition leaves them out.
    ///
    /// # Errors
    /// [`UsageError::Memory`]
    pub fn put(
        &mut self,
        owners: &Owners,
        (kind, id): (SubjectKind, i64),
        entry: &Entry,
        node: Option<&str>,
    ) -> Result<(), UsageError> {
        let first = self.subjects.partition_point(|it| it.0 < (kind, id));
        for place in first..self.subjects.len() {
            let (key, days, position) = self.subjects[place];
            if key != (kind, id) {
                break;
            }
            let group = self.group(owners, entry, Subject { kind, days, id })?;
            let node = node.map(|node| {
                let next = self.nodes.len() as u32;
                *self.nodes.entry(node.to_owned()).or_insert(next)
            });
            self.of_subject[position as usize] = (group, node);
        }
        Ok(())
    }

    fn group(
        &mut self,
        owners: &Owners,
        entry: &Entry,
        subject: Subject,
    ) -> Result<Option<u32>, UsageError> {
        let owner = owners.owner(entry, subject);
        let value = |it: &'static Dimension| {
            let value = owner.value(it)?;
            let shown = self.shown.as_ref().and_then(|shown| shown(it, &value));
            Some(shown.unwrap_or_else(|| value.into_owned()))
        };
        let job = owner.job.and_then(|it| it.number);
        let mut conditions = self.conditions.list.iter();
        let own = self.conditions.own.as_ref();
        let is_own = |own: &super::OwnUsage| {
            let account = owner.job.and_then(|it| it.account.as_deref());
            own.has(owner.uid(), account)
        };
        if !own.is_none_or(is_own)
            || !conditions.all(|it| it.lets(value(it.dimension).as_deref(), job))
        {
            return Ok(None);
        }
        let of_entries = self.by.iter().filter(|it| it.level == Level::Entry);
        let values = of_entries.map(|it| value(it).map(String::into_boxed_str));
        let values: Named = values.collect();
        if values.is_empty() {
            return Ok(Some(NO_ENTRIES));
        }
        if let Some(&number) = self.numbers.get(&values) {
            return Ok(Some(number));
        }
        let number = self.named.len();
        let bytes = number * (GROUP_BYTES + VALUE_BYTES * values.len());
        if bytes >= self.limit {
            return Err(UsageError::Memory(self.limit));
        }
        if number.is_power_of_two() {
            require_room(2 * bytes)?;
        }
        let number = number as u32;
        self.named.push(values.clone());
        self.numbers.insert(values, number);
        Ok(Some(number))
    }

    /// Returns the values of a group, in the order of the dimensions.
    pub fn values(&self, scope: &Scope, group: GroupKey) -> Values {
        let values =
            (0..self.by.len()).map(|place| self.value(scope, group, place).map(str::to_owned));
        values.collect()
    }

    fn value<'v>(
        &'v self,
        scope: &'v Scope,
        (targets, entries): GroupKey,
        place: usize,
    ) -> Option<&'v str> {
        let is_of_entries = self.by[place].level == Level::Entry;
        let same_level = |it: &&&Dimension| (it.level == Level::Entry) == is_of_entries;
        let place = self.by[..place].iter().filter(same_level).count();
        match is_of_entries {
            true => self.named.get(entries as usize)?.get(place)?.as_deref(),
            false => scope.groups.get(targets as usize)?.get(place)?.as_deref(),
        }
    }

    /// Compares groups by their values, numbers as numbers; groups without a value come last.
    pub fn compare(&self, scope: &Scope, one: GroupKey, other: GroupKey) -> Ordering {
        if one == other {
            return Ordering::Equal;
        }
        let places = 0..self.by.len();
        let mut orders = places.map(|place| {
            let [one, other] = [one, other].map(|it| self.value(scope, it, place));
            match (one, other) {
                (Some(one), Some(other)) => compare(self.by[place], one, other),
                (one, other) => one.is_none().cmp(&other.is_none()),
            }
        });
        orders.find(|it| it.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// Gives each group in each step to `take`, in the order of steps. Without entries, or with `idle`, targets without usage are in it. There is
    /// room for all lines with the values of their groups, if `take` keeps them.
    ///
    /// # Errors
    /// Errors of `take`, [`UsageError::NoRoom`] and [`UsageError::Overflow`].
    pub fn lines<E: From<UsageError>>(
        &self,
        plan: &MeasurePlan<'_>,
        scope: &Scope,
        cells: &Cells,
        idle: bool,
        mut take: impl FnMut(Line) -> Result<(), E>,
    ) -> Result<(), E> {
        let line = plan.measures.len() * size_of::<Amount>() + self.by.len() * VALUE_OF_LINE_BYTES;
        require_room(self.most_lines(scope, cells) * (LINE_BYTES + line))?;
        let sums = Adder::new(plan, scope, cells);
        let (mut step, mut observed) = (u32::MAX, Vec::new());
        let items = self.items(scope, cells, idle)?;
        for items in items.chunk_by(|one, other| (one.step, one.group) == (other.step, other.group))
        {
            if items[0].step != step {
                step = items[0].step;
                observed = scope.observed(step as usize);
            }
            take(sums.line(items, observed[items[0].group.0 as usize])?)?;
        }
        Ok(())
    }

    /// Returns the rates of each group in the steps in which any of its targets was observed, by measure: 0 in those without such usage.
    /// A step is left out if all targets with the usage were unobserved.
    ///
    /// # Errors
    /// [`UsageError::Overflow`]
    pub fn rates_by_step(
        &self,
        plan: &MeasurePlan<'_>,
        scope: &Scope,
        cells: &Cells,
    ) -> Result<RatesOfGroups, UsageError> {
        let groups = self.most_lines(scope, cells);
        require_room(groups * (GROUP_BYTES + plan.measures.len() * size_of::<f64>()))?;
        let observed = (0..scope.steps()).map(|step| scope.observed(step));
        let observed: Vec<Vec<Observed>> = observed.collect();
        // A step that is left out has no number.
        let idle = |group: GroupKey| -> Vec<f64> {
            let rate = |it: &Vec<Observed>| match it[group.0 as usize].micros {
                0 => f64::NAN,
                _ => 0.0,
            };
            observed.iter().map(rate).collect()
        };
        let mut found = RatesOfGroups::new();
        self.lines(plan, scope, cells, false, |line| {
            let of_group = found.entry(line.group);
            let of_group = of_group.or_insert_with(|| vec![idle(line.group); plan.measures.len()]);
            let of_measures = of_group.iter_mut().zip(&line.amounts);
            for (rates, amount) in of_measures.filter(|it| it.1.active.is_some()) {
                rates[line.step] = amount.rate.unwrap_or(f64::NAN);
            }
            Ok::<_, UsageError>(())
        })?;
        for rates in found.values_mut().flatten() {
            rates.retain(|it| !it.is_nan());
        }
        Ok(found)
    }

    /// Returns the largest number of lines.
    fn most_lines(&self, scope: &Scope, cells: &Cells) -> usize {
        let groups = self.named.len().max(1) * scope.groups.len();
        let of_targets = scope.targets.len() * scope.steps();
        (cells.places.len() + of_targets).min(groups * scope.steps())
    }

    fn items(&self, scope: &Scope, cells: &Cells, idle: bool) -> Result<Vec<Item>, UsageError> {
        let count = cells.places.len() + scope.targets.len() * scope.steps();
        require_room(count * size_of::<Item>())?;
        let mut busy: HashSet<(u32, u32)> = HashSet::new();
        let mut items = Vec::with_capacity(count);
        let is_in = |step: u32, target: u32| scope.is_in(target as usize, step as usize);
        // In a scope of one step, the cells of all steps are added up.
        let last = scope.steps().saturating_sub(1) as u32;
        for (place, cell) in cells.iter() {
            let (step, target) = (place.step.min(last), place.target);
            if let Some(group) = self.of_place(scope, place)
                && is_in(step, target)
            {
                if idle {
                    busy.insert((step, target));
                }
                items.push(Item {
                    step,
                    group,
                    target,
                    cell: Some(cell),
                    node: self.of_subject[place.subject as usize].1,
                });
            }
        }
        let places = (0..scope.steps() as u32)
            .flat_map(|step| (0..).zip(&scope.targets).map(move |it| (step, it)));
        for (step, (target, it)) in places.filter(|_| idle) {
            if is_in(step, target) && !busy.contains(&(step, target)) {
                items.push(Item {
                    step,
                    group: (it.group, NO_ENTRIES),
                    target,
                    cell: None,
                    node: None,
                });
            }
        }
        items.sort_unstable_by_key(|it| (it.step, it.group, it.target));
        Ok(items)
    }

    /// Returns the group of a cell; `None` if a condition leaves it out.
    pub(super) fn of_place(&self, scope: &Scope, place: Place) -> Option<GroupKey> {
        let entries = self.of_subject[place.subject as usize].0?;
        Some((scope.targets[place.target as usize].group, entries))
    }
}

fn compare(dimension: &Dimension, one: &str, other: &str) -> Ordering {
    let number = |it: &str| {
        it.parse::<i64>()
            .ok()
            .filter(|_| dimension.value_type == ValueType::Number)
    };
    match number(one).zip(number(other)) {
        Some((one, other)) => one.cmp(&other),
        None => one.cmp(other),
    }
}
