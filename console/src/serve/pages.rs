//! The page of an error.

use crate::show::html::Page;

/// Returns the page of a refusal.
pub fn refusal(message: &str) -> Result<String, askama::Error> {
    let page = Page {
        title: "Nothing to show".to_owned(),
        kind: "Lustre",
        heading: "Nothing to show".to_owned(),
        lead: message.to_owned(),
        about: Vec::new(),
        sections: Vec::new(),
    };
    page.document()
}
