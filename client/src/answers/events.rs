//! Events and their explanations.

use jiff::Timestamp;
use serde_json::Value;

use super::{Filters, Source, Window, questions};

questions! {
    /// Events of file systems, by `jobstats_events()`.
    Events(Source::Function("jobstats_events")) {
        window: Window,
        severity: Option<String>,
        filter: Filters,
    }
    /// An event.
    -> EventRow {
        event_id: i64,
        /// `waiting`, `slow_target`, `stalled`, `full`, `failover` or `rule`.
        event: String,
        /// `critical`, `warning`, or `info`, which sends no alert.
        severity: String,
        /// The main culprit: a user, account or job.
        name: Option<String>,
        cluster: String,
        filesystem: String,
        began: Timestamp,
        detected_at: Timestamp,
        /// The last observation of the event.
        until: Timestamp,
        /// `None` while the event lasts.
        ended: Option<Timestamp>,
        targets: Vec<String>,
        servers: Vec<String>,
        /// The measured value, in the unit of the event.
        value: Option<f64>,
        /// The baseline of the value.
        usual: Option<f64>,
        /// The value ÷ the minimum for an event.
        rate: f64,
        /// The load ÷ its baseline.
        load_times: Option<f64>,
        /// The reason why no alert was sent.
        reason: Option<String>,
        /// The time of the alert.
        notified: Option<Timestamp>,
        /// A person's verdict: `real`, `false` or `known`.
        verdict: Option<String>,
        note: Option<String>,
        updated: Timestamp,
        /// The number of events of this kind with a verdict.
        judged: i64,
        /// The share of `real` and `known` among these.
        precision: Option<f64>,
        /// The users, accounts or jobs that raised the load.
        culprits: Option<Value>,
    }

    /// The explanation of an event, by `jobstats_explain()`.
    Explain(Source::Function("jobstats_explain")) {
        event_id: i64,
    }
    /// A line of an explanation.
    -> ExplainRow {
        /// `what`, `load`, `who`, `how`, `peers`, `excluded`, `earlier`, `notified`, `evidence` or `next`.
        topic: String,
        text: String,
        /// The numbers of the line.
        details: Option<Value>,
    }
}
