//! Finds whose load made requests wait.

/// The part of the rise from which on a subject is named.
pub const NAMED: f64 = 0.4;
/// The times of the load before that must be reached, so that load, and not slowness, made requests wait.
pub const RISEN: f64 = 1.25;

/// An amount at this time of other days, in the time just before an event, and in it, all of equally long times.
pub type Amounts = [f64; 3];

/// The work of a subject on the servers that let requests wait.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Load {
    /// The seconds that servers spent.
    pub time: Amounts,
    /// The calls.
    pub calls: Amounts,
    /// The bytes.
    pub bytes: Amounts,
}

/// The answer to who made a load rise.
#[derive(Debug, Clone, PartialEq)]
pub struct Culprit {
    /// The subject that made most of the rise, if that is enough to name it.
    pub named: Option<usize>,
    /// Subjects by their part of the rise in the servers' time, largest first, with that part; only those who rose.
    pub shares: Vec<(usize, f64)>,
    /// The load in the event ÷ the load of other days: the larger one of calls and bytes; `None` without a load.
    pub times: Option<f64>,
}

/// Finds who made the load rise. A subject is named if it made enough of the rise in the servers' time, and as much of the rise in calls or in
/// bytes, while these rose as a whole: where servers are slow at their usual load, whoever works most also waits most, and is not to blame. All
/// this must hold against other days and against the time just before: a subject with the same load for hours did not start the waiting.
pub fn find_culprit(subjects: &[Load]) -> Culprit {
    let rises = [0, 1].map(|before| Rise::of(subjects, before));
    let share = |subject: usize| rises[0].time[subject].min(rises[1].time[subject]);
    let mut shares: Vec<_> = (0..subjects.len()).map(|it| (it, share(it))).collect();
    shares.retain(|(_, share)| *share > 0.0);
    shares.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    let is_cause = |subject: usize| rises.iter().all(|rise| rise.is_due_to(subject));
    let named = shares
        .first()
        .filter(|(it, share)| *share >= NAMED && is_cause(*it));
    Culprit {
        named: named.map(|(subject, _)| *subject),
        shares,
        times: rises[0]
            .loads
            .iter()
            .filter_map(|(times, _)| *times)
            .reduce(f64::max),
    }
}

/// Tries the dimensions in order, such as users, accounts and jobs, until one names a culprit. Otherwise the first answer counts.
/// `ask` returns the culprit and further data of an answer.
pub fn search<D, T, E>(
    dimensions: impl IntoIterator<Item = D>,
    mut ask: impl FnMut(D) -> Result<(T, Culprit), E>,
) -> Result<Option<(T, Culprit)>, E> {
    let mut first = None;
    for dimension in dimensions {
        let answer = ask(dimension)?;
        if answer.1.named.is_some() {
            return Ok(Some(answer));
        }
        first = first.or(Some(answer));
    }
    Ok(first)
}

/// The rise from one time before to the event.
struct Rise {
    /// The part that each subject has in the servers' time.
    time: Vec<f64>,
    /// For calls and for bytes, how many times as much there is, and the part of each subject.
    loads: [(Option<f64>, Vec<f64>); 2],
}

impl Rise {
    fn of(subjects: &[Load], before: usize) -> Self {
        let shares = |part: fn(&Load) -> Amounts| {
            let rise = |it: &Load| (part(it)[2] - part(it)[before]).max(0.0);
            let all: f64 = subjects.iter().map(rise).sum();
            let share = |it: &Load| if all > 0.0 { rise(it) / all } else { 0.0 };
            subjects.iter().map(share).collect::<Vec<_>>()
        };
        let times = |part: fn(&Load) -> Amounts| {
            let sum = |at: usize| subjects.iter().map(|it| part(it)[at]).sum::<f64>();
            (sum(before) > 0.0).then(|| sum(2) / sum(before))
        };
        let both = |part| (times(part), shares(part));
        Self {
            time: shares(|it| it.time),
            loads: [both(|it| it.calls), both(|it| it.bytes)],
        }
    }

    fn is_due_to(&self, subject: usize) -> bool {
        let mut loads = self.loads.iter();
        loads.any(|(times, of)| of[subject] >= NAMED && times.is_none_or(|it| it >= RISEN))
    }
}
