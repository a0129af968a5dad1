//! The selected targets of a store.

use jobstats_client::answers::Filters;

use super::Error;

/// The selected targets of a store, by patterns with `*`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// The pattern of the names of clusters.
    pub cluster: Option<String>,
    /// The pattern of the names of file systems.
    pub filesystem: Option<String>,
}

impl Scope {
    /// Returns both, as the filters of a question.
    pub fn filters(&self) -> Filters {
        let list = |pattern: &Option<String>| pattern.clone().map(|pattern| vec![pattern]);
        Filters {
            cluster: list(&self.cluster),
            filesystem: list(&self.filesystem),
            ..Filters::default()
        }
    }

    /// Returns the error for a store without a target in scope.
    pub fn nothing(&self) -> Error {
        match *self == Self::default() {
            true => Error::Empty,
            false => Error::OutOfScope,
        }
    }
}
