//! Names of users, from the output of `getent passwd`.

use std::collections::HashMap;

use jobstats_core::base::pause::Pause;
use jobstats_core::text::getent::Database;

use crate::values::text;

/// The names of users by their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserNames(HashMap<u32, Box<str>>);

impl UserNames {
    /// Reads lines of `getent passwd`. Unreadable lines are skipped, and the first name of a user counts.
    pub fn read(text: &[u8]) -> Self {
        let contents = Database::Passwd.read(text, Pause::NEVER);
        let entries = contents.map_or_else(|_| Vec::new(), |contents| contents.entries);
        let names = entries.into_iter().rev();
        Self(names.map(|it| (it.number, it.name.into())).collect())
    }

    /// Adds names, which take the place of earlier ones.
    pub fn extend(&mut self, names: impl IntoIterator<Item = (u32, Box<str>)>) {
        self.0.extend(names);
    }

    /// Returns true if no name is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the name of a user, if it is known.
    pub fn name(&self, user: u32) -> Option<&str> {
        self.0.get(&user).map(|name| &**name)
    }

    /// Returns the name of a user as it may be shown, or else the number.
    pub fn shown(&self, user: u32) -> String {
        self.name(user)
            .map_or_else(|| user.to_string(), text::shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_shown_by_name_if_it_is_known() {
        let users = UserNames::read(b"root:x:0:0:root:/root:/bin/sh\nada:x:1000:1:A:/home/ada:/bin/sh\nalso:x:1000:1::/h:/s\nbroken\n");
        assert_eq!(
            (users.shown(1000), users.shown(1001)),
            ("ada".to_owned(), "1001".to_owned())
        );
        assert_eq!(users.name(1001), None);
        assert!(UserNames::read(b"nothing").is_empty() && !users.is_empty());
    }
}
