//! Parses requests. The first part of the path is the version of the protocol, which never changes its meaning.

use jobstats_client::program::exit;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

use crate::ask::error::Error;
use crate::report::Form;

/// The path of all questions of this version.
pub const PATH: &str = "/v1/";

jobstats_core::named! {
    /// The kind of a question.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Kind {
        /// The page that a user begins with: the last jobs of the caller.
        Index = "",
        Job = "job",
        /// The end of a job: whether it is over and its work is summed up.
        Done = "done",
        /// The last jobs of the caller, of another user, or for an account.
        Jobs = "jobs",
        /// The caller, or a user.
        User = "user",
        /// A target, which only commands ask for.
        Target = "target",
        /// Several jobs, as a page.
        Compare = "compare",
        /// A report about the caller's usage of one file system or of all.
        Report = "report",
        /// The events of one file system or of all, or the explanation of one.
        Events = "events",
    }
    /// Returns the word for the kind.
    pub fn name;
}

impl Kind {
    /// Returns the form of an answer.
    const fn form(self, wanted: Form, is_page: bool) -> Form {
        match self {
            Self::Done => Form::Json,
            Self::Index => Form::Html,
            _ if is_page => Form::Html,
            Self::Compare | Self::Report if matches!(wanted, Form::Json) => Form::Html,
            _ => wanted,
        }
    }
}

/// The words of a question, as they are typed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Words {
    /// The job, or jobs to compare, with commas; or the user; or the file system of a report, or those of events, with commas. All but
    /// jobs may be left out.
    pub name: String,
    /// The start and the end of the window, as in `--from` and `--to`.
    pub from: Option<String>,
    pub to: Option<String>,
    pub scheduler: Option<String>,
    /// The account of jobs.
    pub account: Option<String>,
    /// The number of jobs.
    pub n: Option<u16>,
    /// The number of an event.
    pub event: Option<i64>,
    /// Set for events without an alert, too.
    pub all: bool,
    /// The cluster of the file system.
    pub cluster: Option<String>,
    /// The time zone; that of the service without one.
    pub zone: Option<String>,
    pub form: Form,
    /// The width of text.
    pub width: Option<u16>,
    /// Set if text may have colours.
    pub coloured: bool,
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub kind: Kind,
    pub words: Words,
}

/// A parsed request.
#[derive(Debug)]
pub struct Route {
    pub question: Question,
    /// True if the answer and errors are pages.
    pub is_page: bool,
}

impl Question {
    /// Returns the address of the question.
    pub fn address(&self) -> String {
        let words = serde_urlencoded::to_string(&self.words).unwrap_or_default();
        format!("{PATH}{}?{words}", self.kind.name())
    }
}

impl Route {
    /// Parses the path and the query. Paths without a version are pages, which may have the name in the path.
    pub fn read(path: &str, query: &str) -> Result<Self, Error> {
        let (is_page, path) = match path.strip_prefix(PATH) {
            Some(path) => (false, path),
            None => (true, path.strip_prefix('/').unwrap_or(path)),
        };
        let (kind, name) = match path.split_once('/') {
            Some((kind, name)) if is_page => (kind, name),
            _ => (path, ""),
        };
        let kind = match (Kind::find(kind), is_page) {
            // In a browser, a list has links and forms.
            (Some(Kind::Index | Kind::Jobs), true) => Kind::Index,
            (None | Some(Kind::Target), _)
            | (Some(Kind::Done), true)
            | (Some(Kind::Index), false) => {
                let message = "no page at this address";
                return Err(Error::other(exit::NOTHING, message));
            }
            (Some(kind), _) => kind,
        };
        let mut query = query.to_owned();
        if !name.is_empty() {
            let name = percent_decode_str(name).decode_utf8_lossy();
            let named = serde_urlencoded::to_string([("name", name)]);
            query = format!("{query}&{}", named.unwrap_or_default());
        }
        if query.contains("%00") {
            // PostgreSQL stores no NUL, and the client library refuses to send one.
            return Err(Error::Usage("%00 is not allowed".to_owned()));
        }
        let words = serde_urlencoded::from_str::<Words>(&query);
        let words = words.map_err(|error| Error::Usage(error.to_string()))?;
        let needs_name = matches!(kind, Kind::Job | Kind::Done | Kind::Compare);
        if words.name.is_empty() && needs_name {
            return Err(Error::Usage("the name is missing".to_owned()));
        }
        let form = kind.form(words.form, is_page);
        let words = Words { form, ..words };
        let question = Question { kind, words };
        Ok(Self { question, is_page })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_address_says_what_was_asked(name in "[^\\x00\n]+", from in proptest::option::of("[^\\x00\n]*"), width in any::<Option<u16>>()) {
            let words = Words { name, from, width, form: Form::Text, coloured: true, ..Words::default() };
            let question = Question { kind: Kind::Job, words };
            let address = question.address();
            let (path, query) = address.split_once('?').unwrap();
            prop_assert!(address.is_ascii() && !address.contains(' '));
            let read = Route::read(path, query).unwrap();
            prop_assert_eq!((read.question, read.is_page), (question, false));
        }
    }

    #[test]
    fn a_page_is_named_by_its_path_or_its_query() {
        let page = |name: &str, from: Option<&str>| {
            let words = Words {
                name: name.to_owned(),
                from: from.map(str::to_owned),
                form: Form::Html,
                ..Words::default()
            };
            Question {
                kind: Kind::Job,
                words,
            }
        };
        let read = |path: &str, query: &str| {
            let read = Route::read(path, query).unwrap();
            assert!(read.is_page, "{path}");
            read.question
        };
        assert_eq!(read("/job/123_4", ""), page("123_4", None));
        assert_eq!(read("/job", "name=123_4"), page("123_4", None));
        assert_eq!(read("/job/a%2Fb%26c", "from=7d"), page("a/b&c", Some("7d")));
        let report = |path: &str| {
            let Question { kind, words } = read(path, "");
            (kind, words.name)
        };
        assert_eq!(report("/report"), (Kind::Report, String::new()));
        assert_eq!(report("/report/"), (Kind::Report, String::new()));
        assert_eq!(report("/report/a"), (Kind::Report, "a".to_owned()));
        assert_eq!(report("/events"), (Kind::Events, String::new()));
        assert_eq!(report("/"), (Kind::Index, String::new()));
        assert_eq!(report("/jobs"), (Kind::Index, String::new()));
        assert_eq!(report("/user"), (Kind::User, String::new()));
        assert_eq!(report("/compare/1,2"), (Kind::Compare, "1,2".to_owned()));
    }

    #[test]
    fn other_addresses_are_no_questions() {
        for path in ["/v2/job", "/v1/target", "/v1/", "/job_s/1", "/done/1"] {
            let error = Route::read(path, "name=1").unwrap_err();
            assert_eq!(error.code(), exit::NOTHING, "{path}");
        }
        for (path, query) in [
            ("/v1/job", ""),
            ("/v1/job", "name=1&uid=0"),
            ("/v1/job", "name=1&form=pdf"),
            ("/job/1", "name=2"),
            ("/job", ""),
            ("/compare", ""),
            ("/v1/jobs", "n=-1"),
            ("/v1/job", "name=1%002"),
            ("/v1/job", "name=1&scheduler=%00"),
            ("/job/1%00", ""),
            ("/events", "cluster=a%00"),
        ] {
            assert!(
                matches!(Route::read(path, query), Err(Error::Usage(_))),
                "{path} {query}"
            );
        }
    }
}
