//! A job, a user or a target in the requested format.

use serde::{Deserialize, Serialize};

use super::sizes;
use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::show::text::Screen;
use crate::subject::{Subject, json};
use crate::values::when::Clock;

/// The form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// JSON, as `--json` prints it.
    #[default]
    Json,
    /// A page, as `--html` writes it.
    Html,
    /// Text for a terminal.
    Text,
}

/// Returns a subject in this form.
pub fn written(
    store: &mut Store,
    subject: &Subject,
    form: Form,
    screen: Screen,
    clock: &Clock,
) -> Result<String, Error> {
    if form == Form::Json {
        return Ok(json::document(subject) + "\n");
    }
    let sizes = match subject.course.steps.is_empty() {
        true => Vec::new(),
        false => sizes::ask(store, &subject.work)?,
    };
    let page = super::subject::page(subject, sizes, clock);
    super::written(store, page, form, screen)
}
