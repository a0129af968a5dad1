//! The end of a program: its exit code and messages.
#![allow(dead_code, reason = "no test needs all of it")]

use std::process::Output;

/// Returns the exit code and the messages on stderr.
pub fn said(output: &Output) -> (i32, String) {
    (
        output.status.code().unwrap(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// Fails unless the program failed with this code, and a message that contains `reason`.
#[track_caller]
pub fn fails(output: &Output, code: i32, reason: &str) {
    let (status, message) = said(output);
    assert_eq!(status, code, "{message}");
    assert!(message.contains(reason), "{message}");
}
