//! Lists the counters and the problems of a text, each with its place.

use std::borrow::Cow;
use std::convert::Infallible;

use super::{Clock, CounterLine, Reason, Sink, Time, TimeLine, scan};
use crate::base::pause::Pause;
use crate::base::target::TargetName;

/// The place of a line in a text.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// The line, counted from 1.
    pub line: u32,
    /// The name of the target, if the text has it.
    pub target: Option<String>,
    /// The identifier of the record, if one has begun.
    pub entry: Option<String>,
    /// The `snapshot_time` of the record.
    pub snapshot_time: Option<Time>,
    /// The `start_time` of the record.
    pub start_time: Option<Time>,
}

impl Place {
    /// Returns the clock of the record's times.
    pub fn clock(&self) -> Option<Clock> {
        let time = self.snapshot_time.or(self.start_time)?;
        Some(time.clock)
    }
}

/// Receives the lines of a text with their places.
pub trait Lines {
    /// Receives a counter.
    fn counter(&mut self, place: &Place, counter: &CounterLine<'_>) {
        let _ = (place, counter);
    }

    /// Receives a line that could not be used.
    fn problem(&mut self, place: &Place, reason: Reason, text: &[u8]) {
        let _ = (place, reason, text);
    }
}

/// Lists the counters and problems of a text, in its order.
pub fn list(text: &[u8], lines: &mut impl Lines, pause: Pause<'_>) {
    let mut lister = Lister {
        lines,
        place: Place::default(),
    };
    let Ok(()) = scan(text, &mut lister, pause);
}

struct Lister<'l, L> {
    lines: &'l mut L,
    place: Place,
}

impl<'a, L: Lines> Sink<'a> for Lister<'_, L> {
    type Stop = Infallible;

    fn target(&mut self, _: u32, target: Option<TargetName<'a>>) -> Result<(), Infallible> {
        self.place.target = target.map(TargetName::shown);
        self.place.entry = None;
        Ok(())
    }

    fn record(&mut self, _: u32, id: Cow<'a, str>, _: &'a [u8]) -> Result<(), Infallible> {
        self.place.entry = Some(id.into_owned());
        (self.place.snapshot_time, self.place.start_time) = (None, None);
        Ok(())
    }

    fn record_ends(&mut self) -> Result<(), Infallible> {
        self.place.entry = None;
        Ok(())
    }

    fn time(&mut self, _: u32, time: TimeLine) -> Result<(), Infallible> {
        match time {
            TimeLine::Snapshot(time) => self.place.snapshot_time = Some(time),
            TimeLine::Start(time) => self.place.start_time = Some(time),
            TimeLine::LastSeen(_) => {}
        }
        Ok(())
    }

    fn counter(
        &mut self,
        line: u32,
        counter: &CounterLine<'_>,
        _: &'a [u8],
    ) -> Result<(), Infallible> {
        self.place.line = line;
        self.lines.counter(&self.place, counter);
        Ok(())
    }

    fn problem(&mut self, line: u32, reason: Reason, text: &'a [u8]) -> Result<(), Infallible> {
        self.place.line = line;
        self.lines.problem(&self.place, reason, text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Listed(Vec<String>);

    impl Lines for Listed {
        fn counter(&mut self, place: &Place, counter: &CounterLine<'_>) {
            self.0.push(format!(
                "{} {:?} {:?} {:?} {} {}",
                place.line,
                place.target,
                place.entry,
                place.clock(),
                counter.operation,
                counter.samples
            ));
        }

        fn problem(&mut self, place: &Place, reason: Reason, text: &[u8]) {
            let text = String::from_utf8_lossy(text);
            let code = reason.code();
            self.0.push(format!(
                "{} {:?} {:?} {code}: {text}",
                place.line, place.target, place.entry
            ));
        }
    }

    #[test]
    fn counters_and_problems_are_listed_with_their_places() {
        let text = b"obdfilter.fs-OST0000.job_stats=
job_stats:
- job_id:          a
  snapshot_time:   1749555518
  read:            { samples: 7, unit: reqs }
  write:           { samples: x, unit: reqs }
- job_id:          b
  read:            { samples: 1, unit: reqs }
";
        let mut listed = Listed::default();
        list(text, &mut listed, Pause::NEVER);
        assert_eq!(
            listed.0,
            [
                r#"5 Some("fs-OST0000") Some("a") Some(Epoch) read 7"#,
                r#"6 Some("fs-OST0000") Some("a") bad number:   write:           { samples: x, unit: reqs }"#,
                r#"8 Some("fs-OST0000") Some("b") None read 1"#,
            ]
        );
    }
}
