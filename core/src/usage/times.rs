//! Decides whether servers report the time that they spend on calls, as Lustre does since 2.14.

use std::collections::HashMap;

use super::cells::Hasher;

/// The targets that report times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// No target does.
    Nowhere,
    /// Some targets do, others do not.
    Somewhere,
    /// All targets do.
    Everywhere,
}

/// Returns whether a server reports times, by the microseconds of its calls: some call takes one at least.
pub fn reports_times(micros: impl IntoIterator<Item = impl Into<i128>>) -> bool {
    micros.into_iter().any(|it| it.into() != 0)
}

/// Returns whether a server reports times, by whether each of its calls has one; `None` without calls.
pub fn calls_have_times(have_times: impl IntoIterator<Item = bool>) -> Option<bool> {
    have_times.into_iter().reduce(|one, other| one || other)
}

/// The targets with calls, each with whether it reports times.
#[derive(Debug, Clone, Default)]
pub struct TargetTimes(HashMap<i32, bool, Hasher>);

impl TargetTimes {
    /// Notes calls of a target, and whether these have times.
    pub fn note(&mut self, target: i32, has_times: bool) {
        *self.0.entry(target).or_default() |= has_times;
    }

    /// Forgets the targets without times that have no calls.
    pub fn retain_with_calls(&mut self, has_calls: impl Fn(i32) -> bool) {
        self.0.retain(|id, timed| *timed || has_calls(*id));
    }

    /// Returns whether a target has calls, all without times.
    pub fn lacks(&self, target: i32) -> bool {
        self.0.get(&target) == Some(&false)
    }

    /// Returns whether a target is known to report times.
    pub fn has(&self, target: i32) -> bool {
        self.0.get(&target) == Some(&true)
    }

    /// Returns whether a target reports times. A target without calls is taken to do so if any target does.
    pub fn are_reported_by(&self, target: i32) -> bool {
        let known = self.0.get(&target).copied();
        known.unwrap_or_else(|| self.of_all() != Times::Nowhere)
    }

    /// Returns which targets report times. Without calls, all are taken to.
    pub fn of_all(&self) -> Times {
        let has = |timed: bool| self.0.values().any(|it| *it == timed);
        match (has(true), has(false)) {
            (false, true) => Times::Nowhere,
            (true, true) => Times::Somewhere,
            (_, false) => Times::Everywhere,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_that_did_nothing_show_nothing() {
        assert_eq!(calls_have_times([]), None);
        assert_eq!(calls_have_times([false, false]), Some(false));
        assert_eq!(calls_have_times([false, true, false]), Some(true));
        assert!(reports_times([0, 1]) && !reports_times([0, 0]));
    }
}
