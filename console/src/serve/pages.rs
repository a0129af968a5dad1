//! The index and error pages.

use askama::Template;

use crate::show::document::Page;
use crate::show::html::STYLE;

/// The page that a user begins with.
#[derive(Template)]
#[template(path = "index.html")]
struct Index {
    uid: u32,
}

/// Returns the page that a user begins with.
pub fn index(uid: u32) -> Result<String, askama::Error> {
    Index { uid }.render()
}

/// Returns the page of a refusal.
pub fn refusal(message: &str) -> Result<String, askama::Error> {
    let page = Page {
        title: "Nothing to show".to_owned(),
        kind: "Lustre",
        heading: "Nothing to show".to_owned(),
        lead: message.to_owned(),
        about: Vec::new(),
        made: None,
        sections: Vec::new(),
    };
    page.document()
}
