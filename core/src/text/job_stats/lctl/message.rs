//! Error messages that `lctl` wrote into the same file or pipe as the values.

use std::sync::LazyLock;

use memchr::memmem::Finder;

/// Returns true if the line is a message.
pub fn is_message(line: &[u8]) -> bool {
    [&b"error: "[..], b"warning: ", b"lctl: "]
        .iter()
        .any(|begin| line.starts_with(begin))
}

/// Returns the position, after the first byte, at which a message begins. Values are buffered and messages are not, so
/// that a message can stand in the middle of a line that goes on after it.
pub fn merged(line: &[u8]) -> Option<usize> {
    static ERROR: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"error: "));
    if line.len() < b"error: x_param:".len() {
        return None;
    }
    ERROR.find_iter(line).find(|begin| {
        let words = &line[begin + b"error: ".len()..];
        let colon = memchr::memchr(b':', words).unwrap_or(0);
        *begin > 0 && words[..colon].ends_with(b"_param")
    })
}
