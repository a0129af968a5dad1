//! The entry that sums up all entries of a system user.

use super::Identity;

/// The program that such an entry shows.
const PROGRAM: &str = "*";

/// The end of the name of such an entry. It makes the name longer than an identifier can be, so that no user can choose it as the name of
/// a program or of a job.
const SUFFIX: &str = " (entries of this user added up)";

/// Returns the name of the entry that has the sum of the work of a user's entries.
pub fn folded_name(uid: u32) -> String {
    format!("{PROGRAM}.{uid}{SUFFIX}")
}

impl<'a> Identity<'a> {
    /// Returns the identity of a name that [`folded_name`] gives, whatever formats the site has.
    pub(super) fn of_folded(id: &'a str) -> Option<Self> {
        let uid = id.strip_prefix(PROGRAM)?.strip_prefix('.')?;
        let uid = uid.strip_suffix(SUFFIX)?.parse().ok()?;
        (folded_name(uid) == id).then(|| Self::of_program(PROGRAM, uid))
    }

    /// Returns the system user that the entry is folded into: a user below `limit`. Only entries without a job are folded, because I/O for
    /// a job belongs to the job.
    pub fn folded_below(&self, limit: u32) -> Option<u32> {
        self.uid.filter(|uid| *uid < limit && self.job.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::entry_id::{Formats, Status};

    #[test]
    fn the_entry_of_a_user_is_read_by_all_sites() {
        for format in ["%e.%u", "%j:%u:%H", "%e:%u", "%e.%p", "%e.%g", "%j"] {
            let formats = Formats::compile([format]).expect("a format");
            let name = folded_name(0);
            let identity = formats.identify(&name);
            assert_eq!((identity.uid, identity.status), (Some(0), Status::Ok));
            assert_eq!(identity.job, None);
            assert_eq!((identity.gid, identity.pid), (None, None));
            assert_eq!(identity.workload(&name), "*.0");
        }
    }

    #[test]
    fn no_user_can_choose_the_name_of_such_an_entry() {
        assert!(folded_name(0).len() > 31 && !folded_name(0).contains('\\'));
        let read = |format, field: fn(&Identity<'_>) -> Option<u32>| {
            let formats = Formats::compile([format]).expect("a format");
            let identity = formats.identify("*.1000");
            (field(&identity), identity.uid)
        };
        assert_eq!(read("%e.%p", |it| it.pid), (Some(1000), None));
        assert_eq!(read("%e.%g", |it| it.gid), (Some(1000), None));
        let formats = Formats::compile(["%j"]).expect("a format");
        let identity = formats.identify("*.1000");
        assert_eq!((identity.job, identity.uid), (Some("*.1000"), None));
        let formats = Formats::compile(["%j:%u:%H"]).expect("a format");
        assert_eq!(formats.identify("*.1000").status, Status::Malformed);
    }

    #[test]
    fn other_names_are_no_such_entries() {
        let names = ["00", "-1", "+1", "4294967296", "", "0.n1"];
        let names = names.map(|uid| format!("*.{uid}{SUFFIX}"));
        for id in names.iter().map(String::as_str).chain([
            "*.0",
            "*.00",
            "*.-1",
            "*.+1",
            "*.4294967296",
            "*",
            "*.",
            "a*.0",
            "*.0.n1",
            SUFFIX,
        ]) {
            assert_eq!(Identity::of_folded(id), None, "{id}");
        }
        assert_eq!(
            Identity::of_folded(&folded_name(u32::MAX)).and_then(|it| it.uid),
            Some(u32::MAX)
        );
    }

    #[test]
    fn what_names_a_job_is_that_of_the_job() {
        let formats = Formats::compile(["%j:%u:%H", "%e.%u"]).expect("formats");
        let folded = |id| formats.identify(id).folded_below(1000);
        assert_eq!(folded("cron.0"), Some(0));
        assert_eq!(folded("sshd.999"), Some(999));
        assert_eq!(folded(":0:n1"), Some(0));
        assert_eq!(folded("sh.1000"), None);
        assert_eq!(folded("17:0:n1"), None);
        assert_eq!(folded("what"), None);
    }
}
