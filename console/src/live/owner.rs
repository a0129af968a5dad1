//! Finds the owner of an entry: user, job, node and process, read from its identifier.

use std::collections::HashMap;
use std::sync::Arc;

use jobstats_client::answers::EntryRow;
use jobstats_core::identity::entry_id::{
    DEFAULT_FORMATS, Format, FormatError, Formats, likely_format,
};

/// The size of the cache of entry IDs, which holds a day's. A full cache is cleared.
const MOST_RETAINED: usize = 200_000;

/// The number of identifiers from which the format is guessed.
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

/// Reads identifiers, and remembers their meaning.
#[derive(Debug, Default)]
pub struct Names {
    /// The formats; `None` as long as they are still to be guessed.
    formats: Option<Formats>,
    known: HashMap<Box<str>, Arc<Owner>>,
}

impl Names {
    /// Reads identifiers by these formats. Without formats, they are guessed from the first identifiers.
    pub fn new(formats: &[String]) -> Result<Self, FormatError> {
        let own = formats.iter().map(String::as_str);
        let own = (!formats.is_empty()).then(|| Formats::compile(own));
        Ok(Self {
            formats: own.transpose()?,
            known: HashMap::new(),
        })
    }

    /// Guesses the formats, unless they are known.
    pub fn guess<'i>(&mut self, ids: impl Iterator<Item = &'i str>) {
        let mut ids = ids.peekable();
        if self.formats.is_some() || ids.peek().is_none() {
            return;
        }
        let likely = likely_format(ids.take(MOST_GUESSED));
        // Two formats with jobs would read different users in one identifier, and so know neither user nor job.
        let has_job = likely.is_some_and(|likely| likely.contains("%j"));
        let others = DEFAULT_FORMATS.iter().copied();
        let others = others.filter(|it| Some(*it) != likely && !(has_job && it.contains("%j")));
        let formats = likely.into_iter().chain(others);
        // A format that cannot be compiled is left out; the formats of the list can be.
        let compiled = formats.filter_map(|format| Format::compile(format, None).ok());
        self.formats = Some(compiled.collect());
    }

    /// Returns the owner of an entry.
    pub fn owner(&mut self, id: &str) -> Arc<Owner> {
        if let Some(known) = self.known.get(id) {
            return Arc::clone(known);
        }
        if self.known.len() >= MOST_RETAINED {
            self.known.clear();
        }
        let owner = Arc::new(self.read(id));
        self.known.insert(id.into(), Arc::clone(&owner));
        owner
    }

    fn read(&self, id: &str) -> Owner {
        let mut owner = Owner {
            entry: id.into(),
            ..Owner::default()
        };
        if let Some(formats) = &self.formats {
            let identity = formats.identify(id);
            owner.user = identity.uid;
            owner.job = identity.number().map(|job| job.into());
            owner.node = identity.node.map(Into::into);
            owner.process = identity.executable.map(Into::into);
        }
        owner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_guessed_once_and_then_kept() {
        let mut names = Names::new(&[]).unwrap();
        names.guess(["4711@1000@r01c01", "4712@1001@r01c02"].into_iter());
        names.guess(["x.1"].into_iter());
        let owner = names.owner("4711@1000@r01c01");
        assert_eq!(
            (owner.user, owner.job.as_deref(), owner.node.as_deref()),
            (Some(1000), Some("4711"), Some("r01c01"))
        );
        let login = names.owner("make.1002");
        assert_eq!(
            (login.user, login.process.as_deref(), login.job.as_deref()),
            (Some(1002), Some("make"), None)
        );
        assert!(Arc::ptr_eq(&login, &names.owner("make.1002")));
    }

    #[test]
    fn the_user_may_come_before_the_job() {
        let mut names = Names::new(&[]).unwrap();
        names.guess(["1000:4711:n1", "1000:4712:n2", "1001:4713:n1"].into_iter());
        let owner = names.owner("1000:4711:n1");
        assert_eq!(
            (owner.user, owner.job.as_deref()),
            (Some(1000), Some("4711"))
        );
        assert_eq!(names.owner("make.1002").process.as_deref(), Some("make"));
    }

    #[test]
    fn an_identifier_that_says_nothing_has_only_itself() {
        let mut names = Names::new(&["%j:%u:%H".to_owned()]).unwrap();
        let owner = names.owner("");
        assert_eq!(*owner, Owner::default());
        assert!(Names::new(&["nothing".to_owned()]).is_err());
    }
}
