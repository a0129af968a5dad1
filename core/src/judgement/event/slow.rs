//! Targets that take longer for a request than their peers do, and than they themselves usually do.

use super::episode::{self, Episode, Hold, Level};
use super::grouping::overlap;
use super::readings::{Reading, at, within};
use crate::base::instant::{MINUTE, Micros, Span};
use crate::series::typical::median;

/// The classes of requests: reads and writes by their mean size.
pub const CLASSES: usize = 2 * SIZES.len();
/// The bytes of the largest request of each class; the last class has all larger ones.
pub const SIZES: [u64; 5] = [16 << 10, 64 << 10, 256 << 10, 1 << 20, u64::MAX];
/// The multiples of the usual time, and of the time of peers, that are notable.
pub const TIMES_USUAL: f64 = 2.0;
/// The times of these below which an episode ends.
const ENDS: f64 = 1.5;
/// The number of peers that must be busy.
const PEERS: usize = 5;
/// The number of calls between two readings from which on a target is busy.
pub const BUSY: u64 = 20;

/// The time from which on slow service is notable.
pub const LASTING: Micros = 30 * MINUTE;

const HOLD: Hold = Hold {
    readings: 4,
    lasting: LASTING,
    quiet: Hold::QUIET,
    confirms: 0,
};

/// Calls of one class, and the time that they took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServedCalls {
    /// Their number.
    pub calls: u64,
    /// The microseconds of all of them.
    pub usecs: u64,
}

/// The calls of each class between two readings.
pub type ByClass = [ServedCalls; CLASSES];

/// A target among its peers, the targets of one class of hardware.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// A number that peers have in common.
    pub peers: usize,
    /// The usual seconds per call of each class; `None` where that is not known.
    pub usual: [Option<f64>; CLASSES],
    /// Its readings in order of time.
    pub readings: Vec<Reading<ByClass>>,
}

impl ServedCalls {
    /// Returns the seconds per call; `None` for too few calls.
    pub fn per_call(self) -> Option<f64> {
        (self.calls >= BUSY).then(|| self.usecs as f64 / self.calls as f64 / 1e6)
    }
}

/// Returns the class of calls that moved so many bytes.
pub fn class(is_write: bool, calls: u64, bytes: u64) -> usize {
    let mean = bytes.checked_div(calls).unwrap_or(0);
    let size = SIZES.partition_point(|most| *most < mean);
    usize::from(is_write) * SIZES.len() + size
}

/// Finds the slow targets of a file system. The value of an episode is the seconds per call, of the class that took longest.
pub fn episodes(targets: &[Target]) -> Vec<Episode> {
    let mut all = Vec::new();
    for (subject, target) in targets.iter().enumerate() {
        let readings = target.readings.iter();
        let compared = readings.filter_map(|it| {
            Some(Reading {
                span: it.span,
                value: compare(subject, it, targets)?,
            })
        });
        let compared: Vec<_> = compared.collect();
        let levels = compared.iter().map(|Reading { span, value: own }| {
            let [high, low] = [TIMES_USUAL, ENDS].map(|times| times * own.usual);
            (*span, Level::of(own.value, high, low))
        });
        for it in episode::episodes(subject, levels, &HOLD) {
            let of = |span, part: fn(&Slowness) -> f64| {
                let parts = within(&compared, span).map(|it| part(&it.value));
                median(&mut parts.collect::<Vec<_>>()).unwrap_or(0.0)
            };
            all.push(Episode {
                rate: of(it.until_found(), |own| {
                    own.value / (TIMES_USUAL * own.usual)
                }),
                value: of(it.measured(), |own| own.value),
                usual: of(it.measured(), |own| own.usual),
                ..it
            });
        }
    }
    all
}

/// Returns whether a target that was slow for a time on some servers belongs to an event of servers that let requests wait: both lasted at one
/// time, and a server is in both.
pub fn belongs<S: PartialEq>(slow: (Span, &[S]), waiting: (Span, &[S])) -> bool {
    overlap(slow.0, waiting.0) && slow.1.iter().any(|it| waiting.1.contains(it))
}

/// The seconds per call of a target, and the larger one of the time of its peers and its usual time.
struct Slowness {
    value: f64,
    usual: f64,
}

/// Compares the class on which a target spends most time; `None` if too few peers are busy with it, or the usual time is
/// unknown.
fn compare(subject: usize, reading: &Reading<ByClass>, targets: &[Target]) -> Option<Slowness> {
    let target = &targets[subject];
    let classes = reading.value.iter().enumerate();
    let (class, served) = classes.max_by_key(|(_, served)| served.usecs)?;
    let (value, usual) = (served.per_call()?, target.usual[class]?);
    // Comparing each target with each other one would take a second, and most targets are as they usually are.
    if value < ENDS * usual {
        return Some(Slowness { value, usual });
    }
    let peers = targets.iter().enumerate();
    let peers = peers.filter(|(other, it)| *other != subject && it.peers == target.peers);
    let peers =
        peers.filter_map(|(_, it)| at(&it.readings, reading.middle())?.value[class].per_call());
    let mut peers: Vec<_> = peers.collect();
    let of_peers = median(&mut peers).filter(|_| peers.len() >= PEERS)?;
    Some(Slowness {
        value,
        usual: of_peers.max(usual),
    })
}
