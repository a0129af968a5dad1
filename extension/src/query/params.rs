//! The parameters of a statement.

use std::cell::RefCell;
use std::fmt;

use pgrx::datum::DatumWithOid;

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

    /// Returns the values in the order of their numbers. The next statement has none of them.
    pub fn take(&self) -> Vec<DatumWithOid<'static>> {
        let params = self.0.take();
        params.into_iter().map(|(_, value)| value).collect()
    }
}

impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (name, _)) in (1..).zip(self.0.borrow().iter()) {
            let comma = if number == 1 { "" } else { ", " };
            write!(f, "{comma}${number} {name}")?;
        }
        Ok(())
    }
}

/// A statement with its parameters.
pub struct Query {
    /// The statement.
    pub sql: String,
    /// The values of its parameters.
    pub params: Vec<DatumWithOid<'static>>,
}

impl Query {
    /// Takes a complete statement with its parameters, and shows it to a user who asks for it with
    /// `SET client_min_messages = debug1`.
    pub fn new(sql: String, params: &Params) -> Self {
        pgrx::debug1!("statement with {params}:\n{sql}");
        Self {
            sql,
            params: params.take(),
        }
    }
}
