//! Filters, which select targets, servers and entries by their dimensions.

use jobstats_core::base::pattern::{Pattern, exactly};
use jobstats_core::usage::dimension::PROJECT;
use jobstats_core::usage::filter::{FilterError, Matcher, meant};
use jobstats_core::usage::{Condition, Conditions};
use pgrx::spi::SpiClient;
use serde_json::Value;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::{Statements, connect_as_of_call, values};
use crate::query::dimension::{Dimension, Level, Table, ValueType, expression};
use crate::query::params::Params;
use crate::store::rights::caller::{
    OWN_FIRST, OwnUsage, after_own, as_any_reader, seen, seen_entries,
};
use crate::text::filter;

/// Selects rows by one dimension.
#[derive(Clone)]
struct Filter {
    dimension: &'static Dimension,
    wanted: Matcher,
    /// Set if matching rows are left out, instead of all others.
    excludes: bool,
    /// The jobs that match by their labels.
    jobs: Vec<i64>,
}

impl Filter {
    /// Reads the filter by the dimension of this name; `None` if it selects everything.
    fn new(name: &str, value: &Value, excludes: bool) -> Option<Self> {
        let dimension = Dimension::of_space(name)?;
        Some(Self {
            dimension,
            wanted: Matcher::of(dimension, value)?,
            excludes,
            jobs: Vec::new(),
        })
    }

    /// Returns the condition with a leading AND.
    fn condition(&self, table: Table, params: &Params) -> String {
        let dimension = self.dimension;
        let column = expression(dimension, table);
        let text = match (dimension.value_type, dimension.any_case) {
            (ValueType::Number, _) => format!("{column}::text"),
            (ValueType::Text, true) => format!("lower({column})"),
            (ValueType::Text, false) => column.clone(),
        };
        let mut matches = match &self.wanted.numbers {
            Some(numbers) => format!("{column} = ANY ({})", params.add(numbers.clone())),
            None => {
                let patterns = self.wanted.patterns.iter();
                let like = patterns.map(|it| Pattern::new(&self.wanted.compared(it)).like());
                let values = params.add(like.collect::<Vec<String>>());
                format!("{text} LIKE ANY ({values})")
            }
        };
        if self.wanted.none {
            matches = format!("({matches} OR {column} IS NULL)");
        }
        if !self.jobs.is_empty() {
            let jobs = params.add(self.jobs.clone());
            matches = format!("({matches} OR job.job_no = ANY ({jobs}))");
        }
        match self.excludes {
            true => format!(" AND ({matches}) IS NOT TRUE"),
            false => format!(" AND {matches}"),
        }
    }
}

/// The dimensions of targets.
pub const OF_TARGETS: [&str; 4] = ["cluster", "filesystem", "kind", "target"];

/// The filters that are set.
#[derive(Clone, Default)]
pub struct Filters {
    chosen: Vec<Filter>,
    /// The work that a reader may see, where the answer is about entries and the reader may not see all.
    pub own: Option<OwnUsage>,
}

/// The name of the only targets whose names fit a pattern, unless a target has exactly this name.
const ONLY_TARGET: &str = "SELECT CASE WHEN NOT bool_or(target.name = $1) AND count(DISTINCT target.name) = 1 THEN min(target.name) END \
    FROM jobstats.targets target WHERE target.name = $1 OR target.name LIKE $2";

/// Returns the pattern that a name of a target or a job is short for; `None` if it is a name itself, or may stand for several.
pub fn meaning(
    client: &SpiClient<'_>,
    own: Option<&OwnUsage>,
    key: &str,
    name: &str,
    meant: &str,
) -> Result<Option<String>, Error> {
    if key == "target" {
        let parameters = values![name, Pattern::new(meant).like()];
        let found: Option<String> = client.query_value(ONLY_TARGET, &parameters)?;
        return Ok(found.map(|it| exactly(&it)));
    }
    let statement = format!(
        "SELECT ARRAY(SELECT given.name FROM unnest($3) given (name) \
         WHERE EXISTS (SELECT FROM {} entry WHERE entry.job = given.name) \
         OR EXISTS (SELECT FROM {} run WHERE run.job = given.name OR run.label = given.name))",
        seen_entries(own, OWN_FIRST),
        seen("jobs", own, OWN_FIRST)
    );
    let given = after_own(own, values![vec![name, meant]]);
    let known: Vec<String> = client.query_value(&statement, &given)?;
    Ok((known == [meant]).then(|| meant.to_owned()))
}

impl Filters {
    /// Takes the arguments `filter` and `exclude` of a function.
    ///
    /// # Errors
    /// [`FilterError`]
    pub fn take(arguments: &mut Arguments<'_>) -> Result<Self, Error> {
        let filters = Self::take_with_projects(arguments)?;
        let has_projects = filters.chosen().any(|it| *it == PROJECT);
        match has_projects {
            true => Err(FilterError::Key(PROJECT.name.to_owned()).into()),
            false => Ok(filters),
        }
    }

    /// Takes them where projects have a key, too.
    ///
    /// # Errors
    /// [`FilterError`]
    pub fn take_with_projects(arguments: &mut Arguments<'_>) -> Result<Self, Error> {
        let mut filters = Self::default();
        for excludes in [false, true] {
            let keys = arguments.take_filter()?.map(filter::keys).transpose()?;
            for (key, value) in keys.unwrap_or_default() {
                let filter = Filter::new(&key, &value, excludes);
                filters.chosen.extend(filter);
            }
        }
        filters.resolved()
    }

    /// Puts full names in place of short ones, if they are unambiguous.
    pub fn resolved(mut self) -> Result<Self, Error> {
        let names = self.chosen.iter_mut().flat_map(|filter| {
            let key = filter.dimension.name;
            let patterns = filter.wanted.patterns.iter_mut();
            patterns.filter_map(move |it| Some((key, meant(key, it)?, it)))
        });
        let short: Vec<_> = names.collect();
        if short.is_empty() {
            return Ok(self);
        }
        as_any_reader(|reader| {
            connect_as_of_call(|client| {
                for (key, meant, name) in short {
                    if let Some(found) = meaning(client, reader.own(), key, name, &meant)? {
                        *name = found;
                    }
                }
                Ok(())
            })
        })?;
        Ok(self)
    }

    /// Requires that all filters have these keys.
    ///
    /// # Errors
    /// [`Error::argument`]
    pub fn require_keys(&self, keys: &[&str]) -> Result<(), Error> {
        let is_other = |it: &&Dimension| !keys.contains(&it.name) && **it != PROJECT;
        match self.chosen().find(is_other) {
            None => Ok(()),
            Some(other) => Err(Error::argument(
                format!("cannot filter by {} here", other.name),
                format!("Valid keys are {}.", keys.join(", ")),
            )),
        }
    }

    /// Adds the filter of the dimension of this name for a name.
    pub fn only(self, name: &str, value: &str) -> Self {
        self.any_of(name, Some(vec![exactly(value)]))
    }

    /// Adds the filter of the dimension of this name, if there are patterns for it.
    pub fn any_of(mut self, name: &str, patterns: Option<Vec<String>>) -> Self {
        if let Some(patterns) = patterns {
            let filter = Filter::new(name, &Value::from(patterns), false);
            self.chosen.extend(filter);
        }
        self
    }

    /// Returns the filters by dimensions of a level.
    pub fn of_level(mut self, level: Level) -> Self {
        self.chosen.retain(|filter| filter.dimension.level == level);
        self.own = self.own.filter(|_| level == Level::Entry);
        self
    }

    /// Returns the values that the filter of the dimension of this name wants, if there is one.
    pub fn wanted(&self, name: &str) -> Option<&Matcher> {
        let is_wanted = |it: &&Filter| it.dimension.name == name && !it.excludes;
        self.chosen.iter().find(is_wanted).map(|it| &it.wanted)
    }

    /// Returns the conditions on users, jobs and entries.
    pub fn on_entries(&self) -> Conditions {
        Conditions {
            list: self.on(Level::Entry),
            own: self.own.clone(),
        }
    }

    /// Returns the conditions on the dimensions of a level.
    pub fn on(&self, level: Level) -> Vec<Condition> {
        let of_level = self.chosen.iter().filter(|it| it.dimension.level == level);
        let conditions = of_level.map(|it| {
            let jobs = it.jobs.iter().copied();
            Condition::new(it.dimension, it.wanted.clone(), jobs, it.excludes)
        });
        conditions.collect()
    }

    /// Returns the patterns of each filter of jobs, and the jobs that match by their labels.
    pub fn of_jobs(&mut self) -> impl Iterator<Item = (&[String], &mut Vec<i64>)> {
        let filters = self.chosen.iter_mut();
        let of_jobs = filters.filter(|it| it.dimension.name == "job");
        of_jobs.map(|it| (it.wanted.patterns.as_slice(), &mut it.jobs))
    }

    /// Returns the conditions on the dimensions of a level, each with a leading AND. `table` is what the statement calls the
    /// table of the level, or rows that have owners in place of entries.
    pub fn conditions(&self, level: Level, table: impl Into<Table>, params: &Params) -> String {
        let table = table.into();
        let of_level = self.chosen.iter().filter(|it| it.dimension.level == level);
        of_level.map(|it| it.condition(table, params)).collect()
    }

    /// Returns the conditions on rows `entry`, each with a leading AND.
    pub fn conditions_on_entries(&self, entry: Table, params: &Params) -> String {
        let conditions = self.conditions(Level::Entry, entry, params);
        self.after_own(conditions) + &self.is_own(entry, params)
    }

    /// Returns the conditions on rows of jobs, each with a leading AND. A job is found by its label, too.
    pub fn conditions_on_jobs(&self, job: Table, params: &Params) -> String {
        let conditions = self.chosen.iter().map(|it| {
            let condition = it.condition(job, params);
            match it.dimension.name {
                "job" if !it.excludes => {
                    let condition = condition.trim_start_matches(" AND ");
                    let by_label = condition.replace("job.job", "job.label");
                    format!(" AND ({condition} OR {by_label})")
                }
                _ => condition,
            }
        });
        conditions.collect()
    }

    /// Returns conditions in a form in which PostgreSQL neither searches by them nor leaves out rows before it joins them, where the reader sees
    /// their own work alone: its counts would reveal rows of others.
    fn after_own(&self, conditions: String) -> String {
        match self.own.is_some() && !conditions.is_empty() {
            true => format!(" AND CASE WHEN true{conditions} THEN true END"),
            false => conditions,
        }
    }

    /// Returns the table of entries as the reader sees it.
    pub fn seen_entries(&self, params: &Params) -> String {
        let own = self.own.as_ref();
        let parameters = bind_own(own, params);
        seen_entries(own, parameters.each_ref().map(String::as_str))
    }

    /// Returns the condition that a row is the reader's own, with a leading AND, unless the reader sees all.
    fn is_own(&self, table: Table, params: &Params) -> String {
        let Some(own) = &self.own else {
            return String::new();
        };
        let column = |name: &str| Dimension::find(name).map(|it| expression(it, table));
        let [uid, account] = ["uid", "account"].map(|name| column(name).unwrap_or_default());
        format!(" AND {}", is_own(own, &uid, &account, params))
    }

    /// Returns the conditions on names of users, each with a leading AND; `None` without conditions, or if users without a name meet them.
    pub fn conditions_on_name(&self, params: &Params) -> Option<String> {
        // A user without a name is known by the number.
        let may_be_number =
            |it: &String| it.bytes().all(|byte| byte.is_ascii_digit() || byte == b'*');
        let selects_names = |it: &Filter| {
            let of_names = it.dimension.is_name() && !it.excludes && !it.wanted.none;
            of_names
                && (it.dimension.value_type == ValueType::Number
                    || !it.wanted.patterns.iter().any(may_be_number))
        };
        let filters = self.chosen.iter().filter(|it| selects_names(it));
        let conditions = filters.map(|it| it.condition("person".into(), params));
        let conditions: String = conditions.collect();
        (!conditions.is_empty()).then(|| self.after_own(conditions))
    }

    /// Returns whether a dimension of this level is filtered.
    pub fn has(&self, level: Level) -> bool {
        self.chosen().any(|it| it.level == level)
    }

    /// Returns the dimensions that are filtered.
    pub fn chosen(&self) -> impl Iterator<Item = &'static Dimension> + Clone {
        let chosen = self.chosen.iter().map(|filter| filter.dimension);
        chosen.chain(self.own.iter().flat_map(own_dimensions))
    }
}

/// Returns the condition that these values of a row, its `uid` and its account, are the reader's.
pub fn is_own(own: &OwnUsage, uid: &str, account: &str, params: &Params) -> String {
    let [uids, accounts] = bind_own(Some(own), params);
    match own.accounts.is_empty() {
        true => format!("{uid} = ANY ({uids})"),
        false => format!("({uid} = ANY ({uids}) OR {account} = ANY ({accounts}))"),
    }
}

/// Binds the uids and the accounts of own work. Without accounts, there is no such parameter, and neither for a reader of everything.
pub fn bind_own(own: Option<&OwnUsage>, params: &Params) -> [String; 2] {
    let Some(own) = own else {
        return Default::default();
    };
    let accounts = match own.accounts.is_empty() {
        true => String::new(),
        false => params.bind("own accounts", || own.accounts.clone()),
    };
    [params.bind("own uids", || own.uids.clone()), accounts]
}

/// Returns the dimensions that decide whether work is the reader's own.
fn own_dimensions(own: &OwnUsage) -> impl Iterator<Item = &'static Dimension> + Clone + use<> {
    let account = (!own.accounts.is_empty()).then_some("account");
    let names = std::iter::once("uid").chain(account);
    names.filter_map(Dimension::find)
}
