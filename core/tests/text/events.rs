//! Prints the events of a scan, one per line, so that a test shows a text next to its meaning.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt::Write;
use std::ops::Range;

use jobstats_core::base::pause::Pause;
use jobstats_core::base::target::{TargetKind, TargetName};
use jobstats_core::text::job_stats::{
    Clock, CounterLine, Reason, Sink, Time, TimeLine, histogram_label, scan,
};

/// The events of a text: `<line> <what>`.
pub fn events(text: impl AsRef<[u8]>) -> String {
    let mut events = Events(String::new());
    let Ok(()) = scan(text.as_ref(), &mut events, Pause::NEVER);
    events.0
}

struct Events(String);

impl Events {
    fn say(&mut self, line: u32, what: impl AsRef<str>) -> Result<(), Infallible> {
        let _ = writeln!(self.0, "{line} {}", what.as_ref());
        Ok(())
    }
}

pub fn name(target: TargetName<'_>) -> String {
    let kind = match target.kind {
        TargetKind::Mdt => "MDT",
        TargetKind::Ost => "OST",
    };
    format!("{kind} {}", String::from_utf8_lossy(target.name))
}

fn time(time: Time) -> String {
    let clock = match time.clock {
        Clock::Epoch => "",
        Clock::Boot => "boot ",
    };
    format!("{clock}{}.{:09}", time.seconds, time.nanos)
}

fn fields(counter: &CounterLine<'_>) -> String {
    let mut fields = format!("{} {}", counter.samples, counter.unit_name);
    for (name, value) in [
        ("min", counter.min),
        ("max", counter.max),
        ("sum", counter.sum),
        ("sumsq", counter.sumsq),
    ] {
        if let Some(value) = value {
            let _ = write!(fields, " {name} {value}");
        }
    }
    if let Some(histogram) = counter.histogram {
        fields.push_str(" hist");
        for (element, count) in histogram
            .iter()
            .enumerate()
            .filter(|(_, count)| **count != 0)
        {
            let _ = write!(fields, " {}:{count}", histogram_label(element).unwrap());
        }
    }
    fields
}

impl<'a> Sink<'a> for Events {
    type Stop = Infallible;

    fn target(&mut self, line: u32, target: Option<TargetName<'a>>) -> Result<(), Infallible> {
        let target = target.map_or_else(|| "without name".to_owned(), name);
        self.say(line, format!("target {target}"))
    }

    fn cleanup_interval(
        &mut self,
        target: TargetName<'a>,
        seconds: u32,
        _: Range<usize>,
    ) -> Result<(), Infallible> {
        let _ = writeln!(self.0, "cleanup interval of {} {seconds}", name(target));
        Ok(())
    }

    fn read_failed(&mut self, target: TargetName<'a>, _: Range<usize>) -> Result<(), Infallible> {
        let _ = writeln!(self.0, "reading failed of {}", name(target));
        Ok(())
    }

    fn record(&mut self, line: u32, id: Cow<'a, str>, _: &'a [u8]) -> Result<(), Infallible> {
        self.say(line, format!("record {id}"))
    }

    fn time(&mut self, line: u32, said: TimeLine) -> Result<(), Infallible> {
        self.say(
            line,
            match said {
                TimeLine::Snapshot(at) => format!("snapshot {}", time(at)),
                TimeLine::Start(at) => format!("start {}", time(at)),
                TimeLine::LastSeen(micros) => format!("last seen {micros}"),
            },
        )
    }

    fn counter(
        &mut self,
        line: u32,
        counter: &CounterLine<'_>,
        _: &'a [u8],
    ) -> Result<(), Infallible> {
        self.say(line, format!("{} {}", counter.operation, fields(counter)))
    }

    fn problem(&mut self, line: u32, reason: Reason, text: &'a [u8]) -> Result<(), Infallible> {
        let text = String::from_utf8_lossy(text);
        self.say(line, format!("{}: {}", reason.code(), text.trim()))
    }

    fn may_hide_records(&mut self) -> Result<(), Infallible> {
        let _ = writeln!(self.0, "records may be hidden");
        Ok(())
    }
}
