//! Rows of `jobstats.jobs` as arrays of their columns.

use jobstats_core::accounting::merge::{Form, Value};
use jobstats_core::base::instant::Micros;
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};

use super::Submission;
use crate::pg::error::Error;
use crate::pg::template::sql;
use crate::pg::time::timestamptz;
use crate::store::columns::list;

type Times = Vec<Option<TimestampWithTimeZone>>;

/// Returns the columns of submissions as arguments of a statement.
pub fn keys<'b>(
    submissions: impl Iterator<Item = &'b Submission>,
) -> Result<Vec<DatumWithOid<'b>>, Error> {
    let keys = submissions.map(|it| {
        let submitted = time(it.submitted)?;
        Ok((&*it.scheduler, &*it.job, &*it.label, submitted))
    });
    let keys = keys.collect::<Result<(Vec<_>, Vec<_>, Vec<_>, Times), Error>>()?;
    Ok(vec![
        keys.0.into(),
        keys.1.into(),
        keys.2.into(),
        keys.3.into(),
    ])
}

/// The place of the first column of [`Form`] in stored rows.
pub const FIRST: usize = 2;

/// The places of `extra`, `updated` and `provenance`.
pub const AFTER: [usize; 3] = [
    FIRST + Form::COLUMNS.len(),
    FIRST + Form::COLUMNS.len() + 1,
    FIRST + Form::COLUMNS.len() + 2,
];

/// Returns the statement that reads the rows of submissions.
pub fn read() -> String {
    let columns = names("j.{name}");
    sql!("../read.sql", columns = columns)
}

/// Returns the statement that writes rows.
pub fn write() -> String {
    let types = Form::COLUMNS.iter().map(|column| match column.value {
        Value::Time(..) => "timestamptz",
        Value::Number(..) => "bigint",
        Value::Text(..) => "text",
    });
    let arrays = (9..).zip(types);
    let arrays: Vec<String> = arrays.map(|(n, it)| format!("${n}::{it}[]")).collect();
    sql!(
        "../write.sql",
        names = names("{name}"),
        values = names("f.{name}"),
        arrays = arrays.join(", "),
        updates = names("{name} = excluded.{name}"),
    )
}

fn names(pattern: &str) -> String {
    let columns: Vec<_> = Form::COLUMNS.iter().map(|it| (it.name, "")).collect();
    list(&columns, pattern)
}

/// Returns the arguments of [`write()`]: the source, and the columns of rows.
pub fn arguments<'b>(
    rows: &'b [(&'b Submission, Form)],
    source: &'b str,
) -> Result<Vec<DatumWithOid<'b>>, Error> {
    let forms = || rows.iter().map(|(_, form)| form);
    let mut arguments = vec![source.into()];
    arguments.extend(keys(rows.iter().map(|(submission, _)| *submission))?);
    arguments.extend([
        jsons(rows, extra)?,
        times(forms().map(|form| Some(form.updated)))?,
        jsons(rows, |form| Ok(form.provenance.to_json()))?,
    ]);
    for column in Form::COLUMNS {
        arguments.push(match column.value {
            Value::Time(value, _) => times(forms().map(|form| *value(form)))?,
            Value::Number(value, _) => {
                let numbers = forms().map(|form| value(form).map(i64::from));
                numbers.collect::<Vec<_>>().into()
            }
            Value::Text(value, _) => {
                let texts = forms().map(|form| value(form).as_deref());
                texts.collect::<Vec<Option<&'b str>>>().into()
            }
        });
    }
    Ok(arguments)
}

fn times(times: impl Iterator<Item = Option<Micros>>) -> Result<DatumWithOid<'static>, Error> {
    Ok(times.map(time).collect::<Result<Times, _>>()?.into())
}

/// Returns a column of JSON.
fn jsons(
    rows: &[(&Submission, Form)],
    json: fn(&Form) -> Result<Option<String>, Error>,
) -> Result<DatumWithOid<'static>, Error> {
    let texts = rows.iter().map(|(_, form)| json(form));
    Ok(texts.collect::<Result<Vec<_>, _>>()?.into())
}

fn extra(form: &Form) -> Result<Option<String>, Error> {
    let json = (!form.extra.is_empty()).then(|| serde_json::to_string(&form.extra));
    json.transpose().map_err(Error::damaged_row("jobs"))
}

fn time(time: Option<Micros>) -> Result<Option<TimestampWithTimeZone>, Error> {
    time.map(timestamptz).transpose()
}
