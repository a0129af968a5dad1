//! Finds the instants of times that were printed without their zone.
//!
//! Twice a year clocks are changed. An hour of the autumn is shown twice, so that its times are ambiguous; an hour of the
//! spring is never shown, so that its times prove a wrong zone. A [`TimeDoubt`] reports this to the caller.

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use crate::base::instant::Micros;

/// The zone in which a text prints its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

/// The instants of a printed time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalTime {
    /// The time is unambiguous.
    Once(Micros),
    /// Clocks were set back: the time has an earlier and a later instant.
    Twice(Micros, Micros),
    /// Clocks were set forward over the time, or it lies outside of the years that can be counted: there is no such instant.
    Never,
}

crate::named! {
    /// The reason why a time is not certain.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum TimeDoubt {
        /// Clocks showed the time twice. The earlier instant is used, or the later one if the earlier would come before
        /// a time of the record that must lie before it.
        Repeated = "repeated hour",
        /// Clocks never showed the time in this zone, which is the wrong one. The time is left out.
        Skipped = "skipped hour",
    }
    /// Returns a short code that stays the same in all versions.
    pub fn code;
}

impl Zone {
    /// Coordinated universal time, which has no changes of clocks.
    pub const UTC: Self = Self(TimeZone::UTC);

    /// Returns the zone of a name in the time zone database of the system, for example `Europe/Berlin`; `None` if that does not have it.
    pub fn named(name: &str) -> Option<Self> {
        TimeZone::get(name).ok().map(Self)
    }

    /// Returns the instants at which clocks of this zone show a time.
    pub fn find(&self, time: DateTime) -> LocalTime {
        let found = match self.0.to_ambiguous_timestamp(time).offset() {
            AmbiguousOffset::Unambiguous { offset } => instant(time, offset).map(LocalTime::Once),
            AmbiguousOffset::Fold { before, after } => {
                let both = instant(time, before).zip(instant(time, after));
                both.map(|(first, second)| LocalTime::Twice(first, second))
            }
            AmbiguousOffset::Gap { .. } => None,
        };
        found.unwrap_or(LocalTime::Never)
    }

    /// Makes a zone of POSIX's notation, which needs no database.
    #[cfg(test)]
    pub(crate) fn posix(rules: &str) -> Self {
        Self(TimeZone::posix(rules).unwrap())
    }
}

/// Returns the instant of a time that is so far ahead of UTC.
pub fn instant(time: DateTime, offset: Offset) -> Option<Micros> {
    let instant = offset.to_timestamp(time).ok()?.as_microsecond();
    crate::accounting::field::instant(instant)
}

/// Chooses the instants of consecutive times, such as submission, start and end.
///
/// Of two instants the earlier one is chosen, unless that lies before the time that precedes it and the later one does not.
pub fn in_order<const N: usize>(
    times: [Option<LocalTime>; N],
) -> ([Option<Micros>; N], Option<TimeDoubt>) {
    let (mut last, mut doubt) = (None, None);
    let chosen = times.map(|time| {
        let chosen = match time? {
            LocalTime::Once(instant) => Some(instant),
            LocalTime::Twice(first, second) => {
                doubt = doubt.max(Some(TimeDoubt::Repeated));
                let too_early = last.is_some_and(|last| first < last && last <= second);
                Some(if too_early { second } else { first })
            }
            LocalTime::Never => {
                doubt = Some(TimeDoubt::Skipped);
                None
            }
        };
        last = chosen.or(last);
        chosen
    });
    (chosen, doubt)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::base::instant::{HOUR, SECOND};

    const BERLIN: &str = "CET-1CEST,M3.5.0,M10.5.0/3";

    #[test]
    fn a_time_of_most_hours_is_one_instant() {
        let noon = date(2024, 7, 1).at(12, 0, 0, 0);
        let utc = 1_719_835_200 * SECOND;
        assert_eq!(Zone::UTC.find(noon), LocalTime::Once(utc));
        let berlin = Zone::posix(BERLIN);
        assert_eq!(berlin.find(noon), LocalTime::Once(utc - 2 * HOUR));
        let winter = date(2024, 1, 1).at(0, 0, 0, 0);
        let utc = 1_704_067_200 * SECOND;
        assert_eq!(berlin.find(winter), LocalTime::Once(utc - HOUR));
    }

    #[test]
    fn an_hour_of_the_autumn_comes_twice_and_one_of_the_spring_never() {
        let berlin = Zone::posix(BERLIN);
        // 2024-10-27 00:30 UTC
        let first = 1_729_989_000 * SECOND;
        let repeated = date(2024, 10, 27).at(2, 30, 0, 0);
        assert_eq!(berlin.find(repeated), LocalTime::Twice(first, first + HOUR));
        let skipped = date(2024, 3, 31).at(2, 30, 0, 0);
        assert_eq!(berlin.find(skipped), LocalTime::Never);
        assert_eq!(
            Zone::UTC.find(date(1960, 1, 1).at(0, 0, 0, 0)),
            LocalTime::Never
        );
    }

    #[test]
    fn of_two_instants_the_one_that_keeps_the_order_is_chosen() {
        use LocalTime::{Never, Once, Twice};
        let repeated = Some(TimeDoubt::Repeated);
        let cases = [
            ([Some(Once(1)), Some(Once(2))], [Some(1), Some(2)], None),
            (
                [Some(Once(5)), Some(Twice(4, 9))],
                [Some(5), Some(9)],
                repeated,
            ),
            (
                [Some(Once(3)), Some(Twice(4, 9))],
                [Some(3), Some(4)],
                repeated,
            ),
            (
                [Some(Once(10)), Some(Twice(4, 9))],
                [Some(10), Some(4)],
                repeated,
            ),
            ([None, Some(Twice(4, 9))], [None, Some(4)], repeated),
            (
                [Some(Never), Some(Twice(4, 9))],
                [None, Some(4)],
                Some(TimeDoubt::Skipped),
            ),
        ];
        for (times, chosen, doubt) in cases {
            assert_eq!(in_order(times), (chosen, doubt), "{times:?}");
        }
    }

    #[test]
    fn an_unknown_name_is_no_zone() {
        assert_eq!(Zone::named("UTC"), Some(Zone::UTC));
        assert_eq!(Zone::named("Europe/Nowhere"), None);
    }
}
