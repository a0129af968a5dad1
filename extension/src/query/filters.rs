//! Filters, which select targets, servers and entries by their dimensions.

use pgrx::datum::DatumWithOid;
use serde_json::Value;

use crate::pg::argument::as_like;
use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::jsonb::Jsonb;
use crate::query::dimension::{DIMENSIONS, Dimension, Level, Table, ValueType};
use crate::query::params::Params;
use crate::store::rights::caller::{Own, seen_entries};

/// The largest size of the argument `exclude` in bytes of text: enough for some thousand names.
const EXCLUDE_LIMIT: usize = 64 << 10;

/// The values of a filter, any of which may match.
#[derive(Clone)]
enum Values {
    /// Patterns of names.
    Patterns(Vec<Option<String>>),
    Numbers(Vec<Option<i64>>),
}

impl Values {
    fn parameter(&self) -> DatumWithOid<'static> {
        match self {
            Self::Patterns(patterns) => as_like(patterns).into(),
            Self::Numbers(numbers) => numbers.clone().into(),
        }
    }
}

/// Selects rows by one dimension.
#[derive(Clone)]
struct Filter {
    dimension: &'static Dimension,
    values: Values,
    /// Set if matching rows are left out, instead of all others.
    excludes: bool,
}

impl Filter {
    /// Returns the condition with a leading AND. A dimension that is NULL matches nothing. The position of the filter tells
    /// its parameter from that of another filter of the same dimension. Jobs in `labelled` match, too.
    fn condition(
        &self,
        position: usize,
        table: Table,
        labelled: Option<&[i64]>,
        params: &Params,
    ) -> String {
        let dimension = self.dimension;
        let operator = match dimension.value_type {
            ValueType::Text => "LIKE",
            ValueType::Number => "=",
        };
        let column = dimension.column(table);
        let name = format!("filter {position} by {}", dimension.name);
        let values = params.bind(&name, || self.values.parameter());
        let mut matches = format!("{column} {operator} ANY ({values})");
        if let Some(jobs) = labelled {
            let jobs = params.bind(&format!("{name} by label"), || jobs.to_vec());
            matches = format!("({matches} OR job.job_no = ANY ({jobs}))");
        }
        if self.excludes {
            format!(" AND ({matches}) IS NOT TRUE")
        } else {
            format!(" AND {matches}")
        }
    }
}

/// The position of a filter, and the jobs that it matches by their labels.
pub type Labelled = (usize, Vec<i64>);

/// The filters that are set.
#[derive(Clone, Default)]
pub struct Filters {
    chosen: Vec<Filter>,
    /// The work that a reader may see, where the answer is about entries and the reader may not see all.
    own: Option<Own>,
    /// Set if the reader sees no names.
    nameless: bool,
}

impl Filters {
    /// Takes the filters from the arguments of a function, which has one for each dimension.
    pub fn take(arguments: &mut Arguments<'_>) -> Result<Self, Error> {
        let mut filters = Self::default();
        for dimension in DIMENSIONS {
            let values = match dimension.value_type {
                ValueType::Text => arguments.take()?.map(Values::Patterns),
                ValueType::Number => arguments.take()?.map(Values::Numbers),
            };
            filters.chosen.extend(values.map(|values| Filter {
                dimension,
                values,
                excludes: false,
            }));
        }
        Ok(filters)
    }

    /// Adds the argument `exclude`, an object that gives dimensions lists of values. Rows that match any of them are left
    /// out.
    ///
    /// # Errors
    /// - [`Error::Unknown`] if a name is not that of a dimension.
    /// - [`Error::argument`] if the argument is anything else than an object of lists of patterns or of whole numbers.
    pub fn excluding(mut self, exclude: Option<Jsonb<'_>>) -> Result<Self, Error> {
        let Some(exclude) = exclude else {
            return Ok(self);
        };
        let lists = match exclude.read(EXCLUDE_LIMIT) {
            Some(Value::Object(lists)) => lists,
            Some(_) => return Err(bad_exclude("exclude must be an object".to_owned())),
            None => {
                return Err(bad_exclude(
                    "exclude is nested too deeply, has a number that is too large, or is longer than 64 kB"
                        .to_owned(),
                ));
            }
        };
        for (name, list) in lists {
            let dimension = Dimension::named(&name)?;
            self.chosen.push(Filter {
                dimension,
                values: excluded(dimension, &list)?,
                excludes: true,
            });
        }
        Ok(self)
    }

    /// Adds the filter of the dimension of this name for a single pattern.
    pub fn only(self, name: &str, pattern: String) -> Self {
        self.any_of(name, Some(vec![Some(pattern)]))
    }

    /// Adds the filter of the dimension of this name, if there are patterns for it.
    pub fn any_of(mut self, name: &str, patterns: Option<Vec<Option<String>>>) -> Self {
        let found = Dimension::find(name).zip(patterns.map(Values::Patterns));
        self.chosen.extend(found.map(|(dimension, values)| Filter {
            dimension,
            values,
            excludes: false,
        }));
        self
    }

    /// Returns the filters by dimensions of a level.
    pub fn of_level(mut self, level: Level) -> Self {
        self.chosen.retain(|filter| filter.dimension.level == level);
        self.own = self.own.filter(|_| level == Level::Entry);
        self
    }

    /// Adds that only this work is seen.
    pub fn seeing(self, own: &Own) -> Self {
        Self {
            own: Some(own.clone()),
            ..self
        }
    }

    /// Adds that no names are seen.
    pub fn without_names(self) -> Self {
        Self {
            nameless: true,
            ..self
        }
    }

    /// Returns whether the reader sees no names.
    pub const fn hides_names(&self) -> bool {
        self.nameless
    }

    /// Returns the work that the reader sees, if the reader does not see all.
    pub const fn own(&self) -> Option<&Own> {
        self.own.as_ref()
    }

    /// Returns whether the reader sees a part of the work alone.
    pub const fn hides_others(&self) -> bool {
        self.own.is_some()
    }

    /// Returns the values of the filter of the dimension of this name as texts, if it is set.
    pub fn values(&self, name: &str) -> Option<Vec<String>> {
        let of_name = |it: &&Filter| it.dimension.name == name && !it.excludes;
        Some(match &self.chosen.iter().find(of_name)?.values {
            Values::Patterns(patterns) => patterns.iter().flatten().cloned().collect(),
            Values::Numbers(numbers) => numbers.iter().flatten().map(i64::to_string).collect(),
        })
    }

    /// Returns the patterns of each filter of jobs, with its position.
    pub fn of_jobs(&self) -> impl Iterator<Item = (usize, Vec<String>)> {
        let of_jobs = self.chosen.iter().enumerate();
        of_jobs.filter_map(|(position, it)| match &it.values {
            Values::Patterns(patterns) if it.dimension.name == "job" => {
                Some((position, patterns.iter().flatten().cloned().collect()))
            }
            _ => None,
        })
    }

    /// Returns the conditions on the dimensions of a level, each with a leading AND. `table` is what the statement calls the
    /// table of the level, or rows that have owners in place of entries.
    pub fn conditions(&self, level: Level, table: impl Into<Table>, params: &Params) -> String {
        let table = table.into();
        let conditions = self.conditions_on(|it| it.dimension.level == level, table, params);
        match level {
            Level::Entry => self.after_own(conditions) + &self.is_own(table, params),
            Level::Target | Level::Server => conditions,
        }
    }

    /// Returns the conditions on rows `entry`, each with a leading AND.
    pub fn conditions_on_entries(
        &self,
        entry: Table,
        labelled: &[Labelled],
        params: &Params,
    ) -> String {
        let filters = self.chosen.iter().enumerate();
        let filters = filters.filter(|(_, it)| it.dimension.level == Level::Entry);
        let condition = |(position, filter): (usize, &Filter)| {
            let found = labelled.iter().find(|(of, _)| *of == position);
            filter.condition(position, entry, found.map(|(_, jobs)| &**jobs), params)
        };
        self.after_own(filters.map(condition).collect()) + &self.is_own(entry, params)
    }

    /// Returns the conditions that can be tested on rows by owner before they are joined with names, each with a leading AND.
    pub fn conditions_on_owners(&self, table: Table, params: &Params) -> String {
        let conditions = self.conditions_on(|it| it.dimension.is_of_owner(), table, params);
        self.after_own(conditions) + &self.is_own(table, params)
    }

    /// Returns conditions in a form in which PostgreSQL neither searches by them nor leaves out rows before it joins them, where the reader sees
    /// their own work alone: what it counts would tell which rows of others they meet.
    fn after_own(&self, conditions: String) -> String {
        match self.own.is_some() && !conditions.is_empty() {
            true => format!(" AND CASE WHEN true{conditions} THEN true END"),
            false => conditions,
        }
    }

    /// Returns the table of entries as the reader sees it.
    pub fn seen_entries(&self, params: &Params) -> String {
        let own = self.own.as_ref();
        let parameters = own.map(|own| bind_own(own, params)).unwrap_or_default();
        seen_entries(own, parameters.each_ref().map(String::as_str))
    }

    /// Returns the condition that a row is the reader's own, with a leading AND, unless the reader sees all.
    fn is_own(&self, table: Table, params: &Params) -> String {
        let Some(own) = &self.own else {
            return String::new();
        };
        let column = |name: &str| Dimension::find(name).map(|it| it.column(table));
        let [uid, account] = ["uid", "account"].map(|name| column(name).unwrap_or_default());
        format!(" AND {}", is_own(own, &uid, &account, params))
    }

    /// Returns the conditions that names of users must meet, each with a leading AND; `None` if there are none, or only
    /// such as a user without a name meets.
    pub fn conditions_on_name(&self, params: &Params) -> Option<String> {
        let selects_names = |it: &Filter| it.dimension.is_name() && !it.excludes;
        let conditions = self.conditions_on(selects_names, "".into(), params);
        (!conditions.is_empty()).then(|| self.after_own(conditions))
    }

    fn conditions_on(
        &self,
        which: impl Fn(&Filter) -> bool,
        table: Table,
        params: &Params,
    ) -> String {
        let filters = self.chosen.iter().enumerate();
        let filters = filters.filter(|(_, it)| which(it));
        filters
            .map(|(position, it)| it.condition(position, table, None, params))
            .collect()
    }

    /// Returns whether a dimension of this level is filtered.
    pub fn has(&self, level: Level) -> bool {
        self.chosen().any(|it| it.level == level)
    }

    /// Returns the dimensions that are filtered.
    pub fn chosen(&self) -> impl Iterator<Item = &'static Dimension> {
        let chosen = self.chosen.iter().map(|filter| filter.dimension);
        chosen.chain(self.own.iter().flat_map(own_dimensions))
    }
}

/// Returns the condition that these values of a row, its `uid` and its account, are the reader's.
pub fn is_own(own: &Own, uid: &str, account: &str, params: &Params) -> String {
    let [uids, accounts] = bind_own(own, params);
    match own.accounts.is_empty() {
        true => format!("{uid} = ANY ({uids})"),
        false => format!("({uid} = ANY ({uids}) OR {account} = ANY ({accounts}))"),
    }
}

/// Binds the uids and the accounts of own work. Without accounts, there is no such parameter.
pub fn bind_own(own: &Own, params: &Params) -> [String; 2] {
    let accounts = match own.accounts.is_empty() {
        true => String::new(),
        false => params.bind("own accounts", || own.accounts.clone()),
    };
    [params.bind("own uids", || own.uids.clone()), accounts]
}

/// Returns the dimensions that say whether work is the reader's own.
fn own_dimensions(own: &Own) -> impl Iterator<Item = &'static Dimension> {
    let account = (!own.accounts.is_empty()).then_some("account");
    let names = std::iter::once("uid").chain(account);
    names.filter_map(Dimension::find)
}

/// Reads the values that the argument `exclude` gives a dimension.
fn excluded(dimension: &Dimension, list: &Value) -> Result<Values, Error> {
    let (values, wanted) = match dimension.value_type {
        ValueType::Text => {
            let pattern = |value: &Value| value.as_str().map(str::to_owned);
            (elements(list, pattern).map(Values::Patterns), "patterns")
        }
        ValueType::Number => (
            elements(list, Value::as_i64).map(Values::Numbers),
            "whole numbers",
        ),
    };
    let name = dimension.name;
    values.ok_or_else(|| bad_exclude(format!("exclude must give {name} a list of {wanted}")))
}

/// Reads the elements of a list; `None` if it is not a list, or if an element is neither null nor readable.
fn elements<T>(list: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<Option<T>>> {
    let element = |value: &Value| match value {
        Value::Null => Some(None),
        value => read(value).map(Some),
    };
    list.as_array()?.iter().map(element).collect()
}

fn bad_exclude(problem: String) -> Error {
    Error::argument(
        problem,
        r#"Give dimensions lists of what to leave out, as in '{"uid": [0], "node": ["login*"]}'."#,
    )
}
