//! Finds who made the difference between two windows.
//!
//! Amounts are whole numbers of the unit that is counted: calls, bytes or microseconds. The groups and the rest add up to the whole
//! difference, whatever is rounded.

use std::cmp::Reverse;

#[cfg(test)]
mod tests;

/// Shares of the net change are given if it is at least one in so many of all rises and falls together.
const LEAST_NET: i128 = 20;

/// The factor that scales the amounts of a baseline to the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    times: i128,
    by: i128,
}

impl Scale {
    /// Takes the mean of so many windows; `None` for 0.
    pub fn mean_of(windows: usize) -> Option<Self> {
        let by = i128::try_from(windows).ok().filter(|it| *it > 0)?;
        Some(Self { times: 1, by })
    }

    /// Scales a baseline to the length of a window, both in microseconds; `None` if one has no length.
    pub fn of_lengths(window: i64, baseline: i64) -> Option<Self> {
        (window > 0 && baseline > 0).then(|| Self {
            times: window.into(),
            by: baseline.into(),
        })
    }

    /// Returns a scaled amount, rounded to a whole one.
    fn of(self, amount: i128) -> i128 {
        let (whole, rest) = (amount.div_euclid(self.by), amount.rem_euclid(self.by));
        whole
            .saturating_mul(self.times)
            .saturating_add((rest * self.times + self.by / 2).div_euclid(self.by))
    }
}

/// An amount of a group in the baseline, before it is scaled, and in the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amounts {
    /// In all windows of the baseline together.
    pub before: i128,
    /// In the window.
    pub after: i128,
}

/// A row of the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The number of the group; `None` for the rest.
    pub group: Option<usize>,
    /// The scaled amount of the baseline.
    pub before: i128,
    /// The amount in the window.
    pub after: i128,
    /// The share of the net change; `None` if that is less than a twentieth of all rises and falls together.
    pub share: Option<f64>,
    /// The share of all increases; `None` if the row did not rise.
    pub share_of_rise: Option<f64>,
    /// The number of groups that the row is the sum of.
    pub groups: usize,
}

impl Change {
    /// Returns the difference.
    pub fn change(&self) -> i128 {
        self.after - self.before
    }
}

/// Returns the `n` groups whose amounts changed most, of equal ones the first, and a row for the rest, if there is any. A group that
/// did not change is in the rest.
///
/// The rest is the whole minus the other rows, so that it also has what rounding added or took: all rows together have the scaled sum of
/// all groups as `before`, and their sum as `after`.
pub fn changes(groups: &[Amounts], scale: Scale, n: usize) -> Vec<Change> {
    let scaled = groups.iter().enumerate().map(|(group, amounts)| Change {
        group: Some(group),
        before: scale.of(amounts.before),
        after: amounts.after,
        share: None,
        share_of_rise: None,
        groups: 1,
    });
    let mut rows: Vec<Change> = scaled.filter(|it| it.change() != 0).collect();
    let all: Amounts = groups.iter().fold(Amounts::default(), |all, it| Amounts {
        before: all.before.saturating_add(it.before),
        after: all.after.saturating_add(it.after),
    });
    let mut rest = Change {
        group: None,
        before: scale.of(all.before),
        after: all.after,
        share: None,
        share_of_rise: None,
        groups: groups.len(),
    };
    let whole = rest.change();
    let rise_of = |rows: &[Change]| rows.iter().map(|it| it.change().max(0)).sum::<i128>();
    let rise = rise_of(&rows);
    let moved = rows.iter().map(|it| it.change().abs()).sum();
    let is_net = whole != 0 && whole.abs().saturating_mul(LEAST_NET) >= moved;
    rows.sort_by_key(|it| (Reverse(it.change().abs()), it.group));
    rows.truncate(n);
    let rest_of_rise = rise - rise_of(&rows);
    for row in &rows {
        rest.before -= row.before;
        rest.after -= row.after;
        rest.groups -= 1;
    }
    if rest.groups > 0 || rest.change() != 0 {
        rows.push(rest);
    }
    let part = |change: i128, of: i128| change as f64 / of as f64;
    for row in &mut rows {
        let risen = row.group.map_or(rest_of_rise, |_| row.change().max(0));
        row.share = is_net.then(|| part(row.change(), whole));
        row.share_of_rise = (risen > 0).then(|| part(risen, rise));
    }
    rows
}
