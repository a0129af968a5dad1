//! `jobstats_job()` reports on one job as a whole.

use pgrx::AnyNumeric;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::jsonb::Jsonb;
use crate::pg::spi::{SqlResult, connect};
use crate::pg::time::timestamptz;
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::answer::read;
use crate::query::filters::Filters;
use crate::query::functions::job::accounting::{Accounting, interval};
use crate::query::functions::job::attributed::Attributed;
use crate::query::functions::job::energy::{Energy, exact};
use crate::query::functions::job::grouping::Grouping;
use crate::query::functions::job::named::Named;
use crate::query::functions::job::report::told;
use crate::query::functions::job::time::Asked;
use crate::query::functions::job::work::Work;
use crate::query::functions::job::{Subject, required};
use crate::query::labels::covered;
use crate::store;
use crate::store::rights::caller::Own;

#[pg_extern(sql = false)]
fn jobstats_job(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let job = arguments.take::<String>()?;
    answer(job, arguments, rows)
}

#[pg_extern(sql = false)]
fn jobstats_job_of_number(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let job = arguments.take::<i64>()?;
    answer(job.map(|job| job.to_string()), arguments, rows)
}

fn answer(job: Option<String>, mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let job = required(job)?;
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
    own: Option<&Own>,
    rows: &mut Rows,
) -> Result<(), Error> {
    let job = Named::find(client, number.to_owned(), scheduler, own)?;
    let Some(subject) = Subject::find(client, &job, &Asked::default())? else {
        return Ok(());
    };
    let schedulers = subject.accounting.as_ref().map(Accounting::schedulers);
    let mut schedulers = schedulers.unwrap_or_default().into_iter();
    match schedulers.len() {
        0 | 1 => write(client, &job, &subject, rows),
        _ => schedulers.try_for_each(|it| of_scheduler(client, number, Some(it), own, rows)),
    }
}

#[pg_extern(sql = false)]
fn jobstats_energy_of_job(job: &str, scheduler: &str) -> SqlResult<Option<AnyNumeric>> {
    Ok(connect(|client| {
        let scheduler = Some(scheduler.to_owned());
        let job = Named::find(client, job.to_owned(), scheduler, None)?;
        let subject = Subject::find(client, &job, &Asked::default())?;
        joules(client, &job, subject.and_then(|it| it.accounting).as_ref())
    })?)
}

fn joules(
    client: &SpiClient<'_>,
    job: &Named,
    accounting: Option<&Accounting>,
) -> Result<Option<AnyNumeric>, Error> {
    let Some(accounting) = accounting else {
        return Ok(None);
    };
    let energy = Energy::of_job(client, job, accounting, [None; 2])?;
    energy.and_then(|it| it.joules).map(exact).transpose()
}

/// The totals of a job.
#[derive(Default)]
struct Done {
    /// The totals of the operations that are summed, if they are known.
    totals: [Option<i128>; 4],
    nodes: Option<i64>,
    busiest_target: Option<String>,
    coverage: Option<f64>,
}

/// The operations that are summed.
const SUMMED: [&str; 4] = ["read_bytes", "write_bytes", "metadata", TIME];
const TIME: &str = "service_time";

/// Returns the work of a job; `None`, perhaps with a notice, if the job is unknown.
fn done(client: &SpiClient<'_>, job: &Named, subject: &Subject) -> Result<Option<Done>, Error> {
    let asked = Asked::default();
    let accounting = subject.accounting.as_ref();
    // The row names its scheduler.
    if let Some(accounting) = accounting.filter(|_| !job.is_shared) {
        accounting.note(job, &asked);
    }
    let by_target = Grouping::parse(None)?;
    let usage = subject.usage(client, job, asked, Filters::default(), &by_target)?;
    Ok(Some(match &usage {
        Some((usage, _)) => Done::of(&usage.work),
        None if accounting.is_none() => return Ok(None),
        // Of jobs that share a number, work is not known apart.
        None if job.is_shared || accounting.is_some_and(|it| it.started().is_none()) => {
            Done::default()
        }
        // The job did nothing.
        None => Done {
            totals: [Some(0); 4],
            ..Done::default()
        },
    }))
}

/// Returns the service time of other users that claim the number of the job, if any do.
fn claimed(
    client: &SpiClient<'_>,
    job: &Named,
    accounting: Option<&Accounting>,
) -> Result<Option<AnyNumeric>, Error> {
    let work = match accounting {
        Some(it) => Attributed::claimed(client, job, it, [None; 2])?,
        None => None,
    };
    work.map(|it| told(it.service_time(client)?, true))
        .transpose()
}

fn write(
    client: &SpiClient<'_>,
    job: &Named,
    subject: &Subject,
    rows: &mut Rows,
) -> Result<(), Error> {
    let Some(done) = done(client, job, subject)? else {
        return Ok(());
    };
    let accounting = subject.accounting.as_ref();
    let energy = joules(client, job, accounting)?;
    let claimed = claimed(client, job, accounting)?;
    let run = accounting.map(|it| it.together.clone()).unwrap_or_default();
    let [scheduler, label, user_name, account, partition, job_name] = run.texts;
    let [state, exit_code] = run.result;
    let times = [run.submitted, run.started, run.ended];
    let [submitted, started, ended] = times.map(|time| time.map(timestamptz).transpose());
    let (submitted, started, ended) = (submitted?, started?, ended?);
    let in_service = accounting
        .zip(done.totals[3])
        .and_then(|(it, time)| it.in_service(time));
    let sum = |place: usize| done.totals[place].map(|it| told(it, SUMMED[place] == TIME));
    let [read_bytes, write_bytes, metadata, service_time] =
        [0, 1, 2, 3].map(|it| sum(it).transpose());
    let (read_bytes, write_bytes) = (read_bytes?, write_bytes?);
    let (metadata, service_time) = (metadata?, service_time?);
    let labels = job.labels();
    rows.put(|| {
        [
            label.as_deref().unwrap_or(&job.number).cell(),
            job_name.cell(),
            user_name.cell(),
            account.cell(),
            state.cell(),
            started.cell(),
            ended.cell(),
            run.run_time.and_then(interval).cell(),
            run.nodes.or(done.nodes).cell(),
            read_bytes.cell(),
            write_bytes.cell(),
            metadata.cell(),
            service_time.cell(),
            energy.cell(),
            Jsonb::of(&labels).cell(),
            scheduler.cell(),
            label.cell(),
            accounting.and_then(Accounting::runs).cell(),
            partition.cell(),
            submitted.cell(),
            exit_code.cell(),
            run.cpus.cell(),
            in_service.cell(),
            done.busiest_target.cell(),
            claimed.cell(),
            done.coverage.map(covered).cell(),
        ]
    });
    Ok(())
}

impl Done {
    fn of(work: &Work<'_>) -> Self {
        let is_empty = work.amounts().iter().all(|it| it.active.is_none());
        let whole = work.whole.as_ref();
        Self {
            // Work without time is that of servers that report none.
            totals: SUMMED.map(|name| {
                let total = Some(work.total(&[name]));
                total.filter(|it| name != TIME || *it != 0 || is_empty)
            }),
            nodes: Some(whole.map_or(0, |it| it.nodes as i64)),
            busiest_target: whole.and_then(|it| it.busiest.clone()),
            coverage: whole
                .map(|it| it.observed.coverage)
                .filter(|it| it.is_finite()),
        }
    }
}
