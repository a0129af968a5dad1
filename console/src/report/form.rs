//! A job, a user or a target in the requested format.

use serde::{Deserialize, Serialize};

use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::subject::{Subject, json, sheet};
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

/// The room for text, which lines do not leave.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    pub cells: usize,
    pub is_coloured: bool,
}

/// Returns a subject in this form.
pub fn written(
    store: &mut Store,
    subject: &Subject,
    form: Form,
    screen: Screen,
    clock: &Clock,
) -> Result<String, Error> {
    Ok(match form {
        Form::Json => json::document(subject) + "\n",
        Form::Html => {
            let page = super::subject::page(store, subject, clock)?;
            super::document(store, page)?
        }
        Form::Text => sheet::sheet(subject, clock, screen.cells, screen.is_coloured),
    })
}
