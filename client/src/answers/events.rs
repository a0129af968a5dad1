//! Events: `jobstats_events()` and `jobstats_explain()`.

use jiff::Timestamp;
use serde_json::Value;

use super::{Filters, Group, Source, Window, questions};

questions! {
    /// What went wrong on file systems?
    Events(Source::Function("jobstats_events")) {
        window: Window,
        /// Patterns, separated by commas.
        event: Option<String>,
        severity: Option<String>,
        filter: Filters,
        /// True for those too that later texts showed to be none.
        withdrawn: Option<bool>,
    }
    /// An event.
    -> EventRow {
        event_id: i64,
        /// The kind of what happened: `waiting`, `slow_target`, `stalled`, `full`, `failover` or `rule`.
        event: String,
        /// The severity: `critical`, `warning`, or `info`, of which nobody is told.
        severity: String,
        /// The user, account or job whose work made the load rise; `None` if nobody is named.
        name: Option<String>,
        cluster: String,
        filesystem: String,
        began: Timestamp,
        /// The time at which there were enough readings to say so.
        detected_at: Timestamp,
        /// The last time that shows it.
        until: Timestamp,
        /// The end; `None` while it lasts.
        ended: Option<Timestamp>,
        targets: Vec<String>,
        servers: Vec<String>,
        /// The value that was measured, in the unit of the kind; `None` if nothing was.
        value: Option<f64>,
        usual: Option<f64>,
        /// The value, divided by the floor of its kind.
        rate: f64,
        /// The load, divided by the usual one.
        load_times: Option<f64>,
        /// Why nobody is told; `None` if somebody is.
        reason: Option<String>,
        notified: Option<Timestamp>,
        /// The judgement of somebody: `real`, `false` or `known`.
        verdict: Option<String>,
        note: Option<String>,
        withdrawn: Option<Timestamp>,
        updated: Timestamp,
        /// The number of events of this kind that were judged.
        judged: i64,
        /// The part of them that was real or known.
        precision: Option<f64>,
        /// The users, accounts or jobs whose work made the load rise.
        culprits: Option<Value>,
        /// The file system, and whoever is named.
        group: Group,
    }

    /// What was an event, whose work was it, and what is to be done?
    Explain(Source::Function("jobstats_explain")) {
        event_id: i64,
    }
    /// A line of an explanation.
    -> ExplainRow {
        line: i32,
        /// The topic: `what`, `load`, `who`, `how`, `peers`, `excluded`, `notified` or `next`.
        topic: String,
        text: String,
        /// The numbers of the line.
        details: Option<Value>,
    }
}
