//! A service under test.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A service that runs as long as this value.
pub struct Running {
    pub child: Child,
    /// The line that it wrote when it began to answer.
    pub said: String,
}

impl Running {
    /// Starts a service, and waits until it answers.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        let out = child.stderr.as_mut().unwrap();
        BufReader::new(out).read_line(&mut said).unwrap();
        assert!(said.contains("listening on"), "{said}");
        Self { child, said }
    }

    /// Returns the address that it answers at last, as in `127.0.0.1:8080`.
    pub fn address(&self) -> &str {
        self.said.trim_end().rsplit(' ').next().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
