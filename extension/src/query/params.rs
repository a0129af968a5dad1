//! The parameters of a statement.

use std::cell::RefCell;

use jobstats_core::base::instant::Micros;
use pgrx::datum::DatumWithOid;

use crate::pg::time::timestamptz;

/// The parameters of a statement under construction. A part of the statement registers a value under a name and gets the
/// `$n` of the parameter; parts that use the same name share the parameter.
#[derive(Default)]
pub struct Params(RefCell<Vec<(String, DatumWithOid<'static>)>>);

impl Params {
    /// Returns the `$n` of the parameter of this name. `value` makes its value if the name is new.
    pub fn bind<T: Into<DatumWithOid<'static>>>(
        &self,
        name: &str,
        value: impl FnOnce() -> T,
    ) -> String {
        let mut params = self.0.borrow_mut();
        let position = params.iter().position(|(known, _)| known == name);
        let position = position.unwrap_or_else(|| {
            params.push((name.to_owned(), value().into()));
            params.len() - 1
        });
        format!("${}", position + 1)
    }

    /// Returns the `$n` of a parameter that no other part of the statement shares.
    pub fn add(&self, value: impl Into<DatumWithOid<'static>>) -> String {
        let mut params = self.0.borrow_mut();
        params.push((String::new(), value.into()));
        format!("${}", params.len())
    }

    /// Returns the `$n` of an instant.
    pub fn bind_time(&self, name: &str, time: Micros) -> String {
        self.bind(name, || timestamptz(time).ok())
    }

    /// Returns the values in the order of their numbers, and removes them for the next statement.
    pub fn take(&self) -> Vec<DatumWithOid<'static>> {
        let params = self.0.take();
        params.into_iter().map(|(_, value)| value).collect()
    }
}
