//! `jobstats_job()` reports on one job as a whole.

use jobstats_core::base::instant::Micros;
use pgrx::AnyNumeric;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::jsonb::Jsonb;
use crate::pg::spi::SqlResult;
use crate::pg::time::timestamptz;
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::answer::read;
use crate::query::dimension::By;
use crate::query::filters::Filters;
use crate::query::functions::job::accounting::interval;
use crate::query::functions::job::attributed::UsageOfOthers;
use crate::query::functions::job::report::in_answer_unit;
use crate::query::functions::job::time::RequestedTime;
use crate::query::functions::job::work::Work;
use crate::query::functions::job::{Subject, energy, required};
use crate::query::labels::covered;
use crate::store;
use crate::store::rights::caller::OwnUsage;

#[pg_extern(sql = false)]
fn jobstats_job(arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    answer::<String>(arguments, rows)
}

#[pg_extern(sql = false)]
fn jobstats_job_of_number(arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    answer::<i64>(arguments, rows)
}

fn answer<T: FromDatum + IntoDatum + ToString>(
    mut arguments: Arguments<'_>,
    mut rows: Rows,
) -> SqlResult<()> {
    let job = required(arguments.take::<T>()?)?;
    let scheduler = arguments.take::<String>()?;
    read(|client, own| {
        store::require(client)?;
        of_scheduler(client, &job, scheduler, own, &mut rows)
    })
}

/// Writes the row of the job of this scheduler, or of each scheduler that has the job.
fn of_scheduler(
    client: &SpiClient<'_>,
    number: &str,
    scheduler: Option<String>,
    own: Option<&OwnUsage>,
    rows: &mut Rows,
) -> Result<(), Error> {
    let given = RequestedTime::default();
    let Some(subject) = Subject::find(client, number.to_owned(), scheduler, own, &given)? else {
        return Ok(());
    };
    subject.job.note_unmatched(client)?;
    let mut schedulers = subject.accounting.schedulers().into_iter();
    match schedulers.len() {
        0 | 1 => write(client, &subject, &given, rows),
        _ => schedulers.try_for_each(|it| of_scheduler(client, number, Some(it), own, rows)),
    }
}

/// The operation whose sum is a time.
const TIME: &str = "service_time";

impl Subject {
    /// Returns the sum of an operation, of the work that was found, if it is known.
    fn total(&self, work: Option<&Work<'_>>, operation: &str) -> Option<i128> {
        let Some(work) = work else {
            // Jobs that share a number cannot be separated; a second job that has begun has no usage.
            let has_begun = self.accounting.started().is_some();
            return (has_begun && !self.job.is_shared).then_some(0);
        };
        // Work without time is of servers that report no times.
        let is_any = || work.amounts().iter().any(|it| it.active.is_some());
        let total = work.total(&[operation]);
        Some(total).filter(|it| operation != TIME || *it != 0 || !is_any())
    }
}

/// Writes the row of a job. Raises a notice if the job is unknown.
fn write(
    client: &SpiClient<'_>,
    subject: &Subject,
    given: &RequestedTime,
    rows: &mut Rows,
) -> Result<(), Error> {
    // The row names its scheduler.
    if !subject.job.is_shared {
        subject.accounting.note(&subject.job, given);
    }
    let found = subject.usage(client, given, Filters::default(), &By::these(&[]))?;
    if found.is_none() && !subject.accounting.is_known {
        return Ok(());
    }
    let energy = energy::joules(client, subject)?;
    let claimed = UsageOfOthers::claimed(client, subject, given.limits)?;
    let claimed = claimed.map(|it| in_answer_unit(it.service_time(client)?, true));
    let work = found.as_ref().map(|it| &it.0);
    put(subject, work, energy, claimed.transpose()?, rows)
}

fn put(
    subject: &Subject,
    work: Option<&Work<'_>>,
    energy: Option<AnyNumeric>,
    claimed: Option<AnyNumeric>,
    rows: &mut Rows,
) -> Result<(), Error> {
    let (job, accounting) = (&subject.job, &subject.accounting);
    let whole = work.and_then(|it| it.whole.as_ref());
    let active_nodes = work.map(|_| whole.map_or(0, |it| it.nodes as i64));
    let coverage = whole.map(|it| it.observed.coverage);
    let run = accounting.together.clone();
    let [scheduler, label, user_name, account, partition, name] = run.texts;
    let [state, exit_code] = run.result;
    let time = |it: Option<Micros>| it.map(timestamptz).transpose();
    let (submitted, started, ended) = (time(run.submitted)?, time(run.started)?, time(run.ended)?);
    let sum = |operation: &str| {
        let total = subject.total(work, operation);
        total
            .map(|it| in_answer_unit(it, operation == TIME))
            .transpose()
    };
    let (read_bytes, write_bytes) = (sum("read_bytes")?, sum("write_bytes")?);
    let (metadata, service_time) = (sum("metadata")?, sum(TIME)?);
    let time = subject.total(work, TIME);
    let in_service = time.and_then(|it| accounting.in_service(it));
    rows.put(|| {
        [
            label.as_deref().unwrap_or(&job.number).cell(),
            name.cell(),
            user_name.cell(),
            account.cell(),
            state.cell(),
            started.cell(),
            ended.cell(),
            run.run_time.and_then(interval).cell(),
            run.nodes.or(active_nodes).cell(),
            read_bytes.cell(),
            write_bytes.cell(),
            metadata.cell(),
            service_time.cell(),
            energy.cell(),
            Jsonb::of(&job.labels()).cell(),
            scheduler.cell(),
            label.cell(),
            accounting.runs().cell(),
            partition.cell(),
            submitted.cell(),
            exit_code.cell(),
            run.cpus.cell(),
            in_service.cell(),
            whole.and_then(|it| it.busiest.clone()).cell(),
            claimed.cell(),
            coverage.filter(|it| it.is_finite()).map(covered).cell(),
        ]
    });
    Ok(())
}
