//! Numbers of jobs, as schedulers give them.

use std::borrow::Cow;

use super::length::may_be_longest;
use super::{Identity, Status};
use crate::identity::entry_id::flux::{PREFIXES, decimal};

impl<'a> Identity<'a> {
    /// Returns the identity of an identifier that is only the number of a job, from clients with only `jobid_var` set.
    /// A number that Lustre may have cut is rejected; a name of a server may be cut.
    pub(super) fn of_job(id: &'a str) -> Option<Self> {
        let status = match may_be_longest(id) {
            true => Status::Truncated,
            false => Status::Ok,
        };
        let is_whole = status == Status::Ok || names_server(id);
        (is_number(id) && is_whole).then_some(Self {
            job: Some(id),
            format: Some("%j"),
            status,
            ..Identity::MALFORMED
        })
    }

    /// Returns the number of the job as its scheduler's accounting has it: of PBS without the server, of Flux in decimal.
    pub fn number(&self) -> Option<Cow<'a, str>> {
        let job = self.job?;
        // Not every word that begins with `f` is a number.
        let is_flux = || PREFIXES[..2].iter().any(|first| job.starts_with(first));
        let flux = || decimal(job).filter(|_| is_flux());
        Some(match job.split_once('.') {
            Some((number, _)) if is_number(job) => Cow::Borrowed(number),
            _ => flux().map_or(Cow::Borrowed(job), |number| Cow::Owned(number.to_string())),
        })
    }
}

/// Returns true if the text looks like the job number of a resource manager: `815871`, `815871_12`, `815871.0`,
/// `815871[12].server`.
pub(super) fn looks_like_job(text: &str) -> bool {
    let rest = after_digits(text);
    rest.len() < text.len() && (rest.is_empty() || rest.starts_with(['.', '_', '[']))
}

/// Returns true if the text is the number of a job of PBS with at least the first letter of the server, so that the number is whole
/// even if the text is cut.
pub(super) fn names_server(text: &str) -> bool {
    text.contains('.') && is_number(text)
}

/// Returns true if the text can only be the number of a job: `815871`, `815871_12`, `815871[12].server`,
/// `815871.server`. A number after a dot may be a user.
fn is_number(text: &str) -> bool {
    let rest = after_digits(text);
    let is_index = |text: &str| !text.is_empty() && after_digits(text).is_empty();
    let (index, server) = rest.split_once('.').unwrap_or((rest, ""));
    let index = match index.strip_prefix('_') {
        Some(index) => is_index(index),
        None if index.is_empty() => true,
        None => index
            .strip_prefix('[')
            .and_then(|index| index.strip_suffix(']'))
            .is_some_and(is_index),
    };
    let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    rest.len() < text.len()
        && index
        && (server.is_empty() && !rest.contains('.')
            || server.starts_with(|first: char| first.is_ascii_alphabetic())
                && server.bytes().all(is_of_host))
}

fn after_digits(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_a_job_has_the_form_of_a_scheduler() {
        for number in [
            "815871",
            "815871_12",
            "815871[12]",
            "815871[12].pbs",
            "815871.pbs-1.site",
            "0",
        ] {
            assert!(is_number(number), "{number}");
        }
        for other in [
            "",
            "a",
            "815871.",
            "815871.0",
            "815871_",
            "815871[]",
            "815871[1",
            "815871x",
            "815871:",
            "-1",
            "815871.pbs:1",
            "[1]",
        ] {
            assert!(!is_number(other), "{other}");
        }
    }

    #[test]
    fn a_number_that_may_be_cut_is_none() {
        assert!(Identity::of_job("4686875468687546868754686875468").is_none());
        assert!(Identity::of_job("468687546868754686875468687546").is_some());
        let cut = Identity::of_job("4686875.kman.restech.unsw.edu.a");
        assert_eq!(cut.map(|it| it.status), Some(Status::Truncated));
    }

    #[test]
    fn a_job_has_the_number_of_accounting() {
        for (job, number) in [
            ("38", "38"),
            ("38.pbs1", "38"),
            ("38[4].pbs1.site", "38[4]"),
            ("38.0", "38.0"),
            ("make.1000", "make.1000"),
            ("ƒ2DV1ybiCF", "155625455616032"),
            ("f2DV1ybiCF", "f2DV1ybiCF"),
            ("ƒ", "ƒ"),
            ("ƒ0", "ƒ0"),
        ] {
            let identity = Identity {
                job: Some(job),
                ..Identity::MALFORMED
            };
            assert_eq!(identity.number().as_deref(), Some(number));
        }
    }
}
