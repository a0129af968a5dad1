//! Chooses the job that is meant by a number.

use jobstats_client::answers::Window;

use super::job::{self, Candidate};
use super::{Asked, Subject};
use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::values::text;
use crate::values::when::Clock;

/// Returns the job that is meant by its number and, where it is given, its scheduler. This fails if the job is unknown, or if
/// several schedulers have one of this number and none is given.
pub fn chosen(
    store: &mut Store,
    job: &str,
    scheduler: Option<&str>,
    window: Window,
    clock: &Clock,
) -> Result<Subject, Error> {
    let runs = job::runs(store, job, window)?;
    let candidates = job::candidates(store, job, &runs)?;
    let list = || candidates.values().map(|it| described(it, clock)).collect();
    let choice = match scheduler {
        None if candidates.len() < 2 => None,
        None => {
            return Err(Error::Several {
                job: text::shown(job),
                candidates: list(),
            });
        }
        Some(scheduler) => match candidates.get(scheduler) {
            Some(candidate) => Some(candidate).filter(|_| candidates.len() > 1),
            None => {
                return Err(Error::Unknown {
                    kind: "job",
                    name: text::shown(&format!("{job} of scheduler {scheduler}")),
                    notes: list(),
                });
            }
        },
    };
    known("job", job, job::ask(store, job, window, choice, runs)?)
}

/// Returns the option that chooses a job, with the properties that tell it from others.
fn described(candidate: &Candidate, clock: &Clock) -> String {
    let started = candidate.started;
    let started = started.map(|time| format!("began {}", clock.minute(time)));
    let texts = candidate.texts.iter().flatten().chain(&started);
    let texts: Vec<_> = texts.map(|text| text::shown(text)).collect();
    let scheduler = text::shown(&candidate.scheduler);
    format!("--scheduler {scheduler}: {}", texts.join(", "))
}

/// Returns a subject, or the error that the store knows nothing of it.
pub fn known(kind: &'static str, name: &str, asked: Asked) -> Result<Subject, Error> {
    asked.map_err(|notes| Error::Unknown {
        kind,
        name: text::shown(name),
        notes,
    })
}
