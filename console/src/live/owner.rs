//! Finds the owner of an entry: user, job, node and process, read from its identifier.

use std::collections::HashMap;
use std::sync::Arc;

use jobstats_client::answers::EntryRow;
use jobstats_core::identity::entry_id::{FormatError, Identity, MixedFormats};

use crate::live::user_names::UserNames;
use crate::values::text;

/// The size of the cache of entry IDs, which holds a day's. A full cache is cleared.
const MOST_RETAINED: usize = 200_000;

/// The number of identifiers from which formats are guessed.
const MOST_GUESSED: usize = 2_000;

/// The owner of work: all that an identifier names of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner {
    /// The identifier of the entry; empty for work without an identifier.
    pub entry: Box<str>,
    /// The number of the user.
    pub user: Option<u32>,
    /// The number of the job, as its scheduler gives it.
    pub job: Option<Box<str>>,
    pub node: Option<Box<str>>,
    /// The program.
    pub process: Option<Box<str>>,
    /// The account of the job. Only a store knows it.
    pub account: Option<Box<str>>,
}

impl From<&EntryRow> for Owner {
    fn from(entry: &EntryRow) -> Self {
        let text = |text: &Option<String>| text.as_deref().map(Into::into);
        Self {
            entry: entry.entry.as_str().into(),
            user: entry.uid.and_then(|user| u32::try_from(user).ok()),
            job: text(&entry.job),
            node: text(&entry.node),
            process: text(&entry.executable),
            account: text(&entry.account),
        }
    }
}

impl Owner {
    fn new(id: &str, identity: &Identity<'_>) -> Self {
        Self {
            entry: id.into(),
            user: identity.uid,
            job: identity.number().map(|job| job.into()),
            node: identity.node.map(Into::into),
            process: identity.executable.map(Into::into),
            account: None,
        }
    }

    /// Returns the meaning of the identifier: `1000:4711:n101 = user 1000, job 4711, node n101`.
    pub fn decoded(&self, users: &UserNames) -> String {
        let name = |what: &str, name: &Option<Box<str>>| {
            let name = name.as_deref().map(text::shown);
            name.map(|name| format!("{what} {name}"))
        };
        let fields = [
            self.user.map(|user| format!("user {}", users.shown(user))),
            name("job", &self.job),
            name("program", &self.process),
            name("node", &self.node),
        ];
        let fields = text::joined(fields.into_iter().flatten());
        let fields = fields.unwrap_or_else(|| "not known".to_owned());
        format!("{} = {fields}", text::shown(&self.entry))
    }
}

/// Reads identifiers, and remembers their meaning.
#[derive(Debug, Default)]
pub struct Names {
    /// The formats; `None` as long as they are still to be guessed.
    pub formats: Option<MixedFormats>,
    /// The known users, whose numbers are no jobs.
    users: UserNames,
    known: HashMap<Box<str>, Arc<Owner>>,
    /// Lines about an identifier whose user is not clear.
    pub doubt: Vec<String>,
}

impl Names {
    /// Reads identifiers by these formats. Without formats, they are guessed from the first identifiers.
    pub fn new(formats: &[String], users: UserNames) -> Result<Self, FormatError> {
        let own = formats.iter().map(String::as_str);
        let own = (!formats.is_empty()).then(|| MixedFormats::compile(own));
        Ok(Self {
            formats: own.transpose()?,
            users,
            ..Self::default()
        })
    }

    /// Learns formats, and their orders of user and job, from identifiers.
    pub fn learn<'i>(&mut self, ids: impl Iterator<Item = &'i str>) {
        let new: Vec<_> = ids.filter(|id| !self.known.contains_key(*id)).collect();
        if new.is_empty() {
            return;
        }
        let formats = self
            .formats
            .get_or_insert_with(|| MixedFormats::likely(&new[..new.len().min(MOST_GUESSED)]));
        if formats.learn(new, |user| self.users.name(user).is_some()) {
            self.known.clear();
        }
    }

    /// Returns the owner of an entry.
    pub fn owner(&mut self, id: &str) -> Arc<Owner> {
        if let Some(known) = self.known.get(id) {
            return Arc::clone(known);
        }
        if self.known.len() >= MOST_RETAINED {
            self.known.clear();
        }
        let identity = self.formats.as_ref().map(|formats| formats.identify(id));
        let unread = Owner {
            entry: id.into(),
            ..Owner::default()
        };
        let owner = Arc::new(match identity {
            Some(Ok(identity)) => Owner::new(id, &identity),
            Some(Err(readings)) => {
                self.doubt = doubt(id, &readings);
                let node = readings[0].node.map(Into::into);
                return Arc::new(Owner { node, ..unread });
            }
            None => unread,
        });
        self.known.insert(id.into(), Arc::clone(&owner));
        owner
    }
}

/// Returns lines that show both readings of an identifier.
fn doubt(id: &str, readings: &[Identity<'_>; 2]) -> Vec<String> {
    let head = "Either number may be the user. Give the jobid_name of the clients:";
    let reading = |reading: &Identity<'_>| {
        let format = reading.format.unwrap_or_default();
        let decoded = Owner::new(id, reading).decoded(&UserNames::default());
        format!("--format {format}  {decoded}")
    };
    let readings = readings.iter().map(reading);
    [head.to_owned()].into_iter().chain(readings).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_guessed_once_and_then_kept() {
        let mut names = Names::default();
        names.learn(["4711@1000@r01c01", "4712@1001@r01c02"].into_iter());
        names.learn(["x.1"].into_iter());
        let decoded = |id, names: &mut Names| names.owner(id).decoded(&UserNames::default());
        for (id, expected) in [
            ("4711@1000@r01c01", "user 1000, job 4711, node r01c01"),
            ("make.1002", "user 1002, program make"),
            ("what", "not known"),
        ] {
            assert_eq!(decoded(id, &mut names), format!("{id} = {expected}"));
        }
        let login = names.owner("make.1002");
        assert!(Arc::ptr_eq(&login, &names.owner("make.1002")));
        assert_eq!(names.doubt, [""; 0]);
    }

    #[test]
    fn a_doubt_is_shown_until_an_identifier_settles_it() {
        let mut names = Names::default();
        names.learn(["1000:4711:n101"].into_iter());
        let owner = names.owner("1000:4711:n101");
        assert_eq!((owner.user, owner.job.as_deref()), (None, None));
        assert_eq!(owner.node.as_deref(), Some("n101"));
        assert_eq!(
            std::mem::take(&mut names.doubt),
            [
                "Either number may be the user. Give the jobid_name of the clients:",
                "--format %j:%u:%H  1000:4711:n101 = user 4711, job 1000, node n101",
                "--format %u:%j:%H  1000:4711:n101 = user 1000, job 4711, node n101",
            ]
        );
        names.learn(["1000:4712:n101"].into_iter());
        assert_eq!(names.owner("1000:4711:n101").user, Some(1000));
        assert_eq!(names.doubt, [""; 0]);
    }

    #[test]
    fn a_known_user_is_no_job() {
        let users = UserNames::read(b"ada:x:1000:1::/home/ada:/bin/sh\n");
        let mut names = Names::new(&[], users.clone()).unwrap();
        names.learn(["1000:4711:n101"].into_iter());
        let owner = names.owner("1000:4711:n101");
        assert_eq!(
            owner.decoded(&users),
            "1000:4711:n101 = user ada, job 4711, node n101"
        );
    }

    #[test]
    fn an_identifier_that_says_nothing_has_only_itself() {
        let formats = ["%j:%u:%H".to_owned()];
        let mut names = Names::new(&formats, UserNames::default()).unwrap();
        assert_eq!(*names.owner(""), Owner::default());
        assert!(Names::new(&["nothing".to_owned()], UserNames::default()).is_err());
    }
}
