//! A job, a user or a target in the form that is asked for.

use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::subject::{Subject, json, sheet};
use crate::values::when::Clock;

/// The form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Json,
    Html,
    /// Lines of at most so many cells.
    Text {
        cells: usize,
        is_coloured: bool,
    },
}

/// Returns a subject in this form.
pub fn written(
    store: &mut Store,
    subject: &Subject,
    form: Form,
    clock: &Clock,
) -> Result<String, Error> {
    Ok(match form {
        Form::Json => json::document(subject) + "\n",
        Form::Html => super::subject::page(store, subject, clock)?.document()?,
        Form::Text { cells, is_coloured } => sheet::sheet(subject, clock, cells, is_coloured),
    })
}
