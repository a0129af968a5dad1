//! Rows of `jobstats.jobs` as arrays of their columns.

use jobstats_core::accounting::merge::Form;
use jobstats_core::base::instant::Micros;
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};

use super::Submission;
use crate::pg::error::Error;
use crate::pg::time::timestamptz;

type Times = Vec<Option<TimestampWithTimeZone>>;
type Texts<'b> = Vec<Option<&'b str>>;

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

/// Returns the columns of rows as arguments of a statement, in the order of [`Form`].
pub fn arguments<'b>(rows: &'b [(&'b Submission, Form)]) -> Result<Vec<DatumWithOid<'b>>, Error> {
    let texts = |value: fn(&Form) -> &Option<String>| -> DatumWithOid<'b> {
        let texts = rows.iter().map(|(_, form)| value(form).as_deref());
        texts.collect::<Texts<'b>>().into()
    };
    let numbers = |value: fn(&Form) -> Option<u32>| -> DatumWithOid<'b> {
        let numbers = rows.iter().map(|(_, form)| value(form).map(i64::from));
        numbers.collect::<Vec<_>>().into()
    };
    let times = |value: fn(&Form) -> Option<Micros>| -> Result<DatumWithOid<'b>, Error> {
        let times = rows.iter().map(|(_, form)| time(value(form)));
        Ok(times.collect::<Result<Times, _>>()?.into())
    };
    let mut arguments = keys(rows.iter().map(|(submission, _)| *submission))?;
    arguments.extend([
        times(|form| form.started)?,
        times(|form| form.ended)?,
        numbers(|form| form.uid),
        texts(|form| &form.user_name),
        numbers(|form| form.gid),
        texts(|form| &form.group_name),
        texts(|form| &form.account),
        texts(|form| &form.partition),
        texts(|form| &form.qos),
        texts(|form| &form.job_name),
        texts(|form| &form.state),
        numbers(|form| form.nodes),
        texts(|form| &form.node_list),
        numbers(|form| form.cpus),
        texts(|form| &form.exit_code),
        texts(|form| &form.parent),
        jsons(rows, extra)?,
        times(|form| Some(form.updated))?,
        jsons(rows, |form| Ok(form.provenance.to_json()))?,
    ]);
    Ok(arguments)
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
