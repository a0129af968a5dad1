//! Parses requests. The first part of the path is the version of the protocol, which never changes its meaning.

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

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
    /// Returns true for a kind that requires a name.
    const fn needs_name(self) -> bool {
        matches!(self, Self::Job | Self::Done | Self::Compare | Self::Target)
    }

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    Question(Question),
    /// A question whose answer and errors are pages.
    Page(Question),
    /// The reason why the query cannot be parsed.
    Unreadable(String),
    /// Something that is not there.
    Nothing,
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
    pub fn read(path: &str, query: &str) -> Self {
        if let Some(kind) = path.strip_prefix(PATH) {
            return Self::of(kind, None, query);
        }
        let path = path.strip_prefix('/').unwrap_or(path);
        let (kind, name) = path
            .split_once('/')
            .map_or((path, None), |(kind, name)| (kind, Some(name)));
        Self::of(kind, Some(name), query)
    }

    /// Reads a question about a kind. `page` is set for pages, to the name in the path if there is one.
    fn of(kind: &str, page: Option<Option<&str>>, query: &str) -> Self {
        let known = Kind::ALL.into_iter().find(|it| it.name() == kind);
        let is_elsewhere = |kind: &Kind| match page {
            Some(_) => *kind == Kind::Done,
            None => *kind == Kind::Index,
        } || *kind == Kind::Target;
        let Some(kind) = known.filter(|kind| !is_elsewhere(kind)) else {
            return Self::Nothing;
        };
        // In a browser, a list has links and forms.
        let kind = match (kind, page) {
            (Kind::Jobs, Some(_)) => Kind::Index,
            _ => kind,
        };
        let named = page.flatten().map(|name| {
            let name = percent_decode_str(name).decode_utf8_lossy().into_owned();
            serde_urlencoded::to_string([("name", name)]).unwrap_or_default()
        });
        let parts = [query, named.as_deref().unwrap_or_default()].into_iter();
        let parts: Vec<_> = parts.filter(|it| !it.is_empty()).collect();
        let query = parts.join("&");
        if query.contains("%00") {
            // PostgreSQL stores no NUL, and the client library refuses to send one.
            return Self::Unreadable("%00 is not allowed".to_owned());
        }
        match serde_urlencoded::from_str::<Words>(&query) {
            Ok(words) if words.name.is_empty() && kind.needs_name() => {
                Self::Unreadable("the name is missing".to_owned())
            }
            Ok(words) => {
                let form = kind.form(words.form, page.is_some());
                let words = Words { form, ..words };
                let question = Question { kind, words };
                match page {
                    Some(_) => Self::Page(question),
                    None => Self::Question(question),
                }
            }
            Err(error) => Self::Unreadable(error.to_string()),
        }
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
            prop_assert_eq!(Route::read(path, query), Route::Question(question));
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
            Route::Page(Question {
                kind: Kind::Job,
                words,
            })
        };
        assert_eq!(Route::read("/job/123_4", ""), page("123_4", None));
        assert_eq!(Route::read("/job", "name=123_4"), page("123_4", None));
        assert_eq!(
            Route::read("/job/a%2Fb%26c", "from=7d"),
            page("a/b&c", Some("7d"))
        );
        let report = |path: &str| match Route::read(path, "") {
            Route::Page(Question { kind, words }) => (kind, words.name),
            other => panic!("{other:?}"),
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
            assert_eq!(Route::read(path, "name=1"), Route::Nothing, "{path}");
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
                matches!(Route::read(path, query), Route::Unreadable(_)),
                "{path} {query}"
            );
        }
    }
}
