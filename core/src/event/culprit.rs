//! Names whose work made others wait, or nobody.

/// The part of the rise from which on a subject is named.
pub const NAMED: f64 = 0.3;
/// How many times the load before must be reached, so that load, and not slowness, made requests wait.
const RISEN: f64 = 1.25;

/// What a subject did before and during an event, on the servers that let requests wait.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Load {
    /// The seconds that servers spent, before and during.
    pub time: [f64; 2],
    /// The calls.
    pub calls: [f64; 2],
    /// The bytes.
    pub bytes: [f64; 2],
}

/// The answer to who made a load rise.
#[derive(Debug, Clone, PartialEq)]
pub struct Blame {
    /// The subject that made most of the rise, if that is enough to name it.
    pub named: Option<usize>,
    /// Subjects by their part of the rise in the servers' time, largest first, with that part; only those who rose.
    pub shares: Vec<(usize, f64)>,
    /// The load during the event ÷ that before: the larger one of calls and bytes; `None` if there was none before.
    pub times: Option<f64>,
}

/// Says who made the load rise. A subject is named if it made enough of the rise in the servers' time, and as much of the rise in calls or in
/// bytes, while these rose as a whole: where servers are slow at their usual load, whoever works most also waits most, and is not to blame.
pub fn blame(subjects: &[Load]) -> Blame {
    let shares = |part: fn(&Load) -> [f64; 2]| {
        let rise = |it: &Load| (part(it)[1] - part(it)[0]).max(0.0);
        let all: f64 = subjects.iter().map(rise).sum();
        let share = move |it: &Load| if all > 0.0 { rise(it) / all } else { 0.0 };
        subjects.iter().map(share).collect::<Vec<_>>()
    };
    let times = |part: fn(&Load) -> [f64; 2]| {
        let sum = |at: usize| subjects.iter().map(|it| part(it)[at]).sum::<f64>();
        (sum(0) > 0.0).then(|| sum(1) / sum(0))
    };
    let (calls, bytes) = (times(|it| it.calls), times(|it| it.bytes));
    let by_time = shares(|it| it.time);
    let loads = [
        (calls, shares(|it| it.calls)),
        (bytes, shares(|it| it.bytes)),
    ];
    let is_cause = |subject: usize| {
        let mut loads = loads.iter();
        loads.any(|(times, of)| of[subject] >= NAMED && times.is_none_or(|it| it >= RISEN))
    };
    let mut order: Vec<_> = by_time.iter().copied().enumerate().collect();
    order.retain(|(_, share)| *share > 0.0);
    order.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    let named = order
        .first()
        .filter(|(subject, share)| *share >= NAMED && is_cause(*subject));
    Blame {
        named: named.map(|(subject, _)| *subject),
        shares: order,
        times: calls.into_iter().chain(bytes).reduce(f64::max),
    }
}
