//! Splits the output of `lctl get_param` at the names of targets, and nowhere else.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memmem, memrchr};

#[cfg(test)]
mod tests;

/// A string that both parameters have in their names and that a server prints nowhere else. A search for it finds every
/// name without looking at each line.
const MARK: &[u8] = b".job_";

/// The length from which a line is passed on in pieces. Lustre's own lines stay below one kilobyte.
const LONGEST_LINE: usize = 64 << 10;

/// The parameter of a target that a text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    JobStats,
    CleanupInterval,
}

/// A target's name with its kind, such as `mdt.fs-MDT0000`, and the parameter, such as `job_stats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name<'a> {
    pub target: &'a str,
    pub parameter: Parameter,
}

impl<'a> Name<'a> {
    /// Returns the name that starts the line, if any: `mdt.fs-MDT0000.job_stats=`, or `…job_stats: ` from `lctl -y`.
    fn at_start_of(line: &'a [u8]) -> Option<Self> {
        let mut kinds = [&b"mdt."[..], b"obdfilter."].into_iter();
        let kind = kinds.find(|kind| line.starts_with(kind))?;
        let end = kind.len() + memmem::find(&line[kind.len()..], MARK)?;
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        if end == kind.len() || !line[..end].iter().all(is_name) {
            return None;
        }
        let rest = &line[end + 1..];
        let (parameter, value) = match rest.strip_prefix(b"job_stats") {
            Some(value) => (Parameter::JobStats, value),
            None => (
                Parameter::CleanupInterval,
                rest.strip_prefix(b"job_cleanup_interval")?,
            ),
        };
        if !value.starts_with(b"=") && !value.starts_with(b": ") {
            return None;
        }
        let target = str::from_utf8(&line[..end]).ok()?;
        Some(Self { target, parameter })
    }

    /// Returns true if a name is inside the line. Only kernel text is searched, because identifiers may contain anything.
    fn is_inside(line: &[u8]) -> bool {
        let own = memmem::find(line, b"job_id:").map_or(line, |identifier| &line[..identifier]);
        (1..own.len()).any(|start| Name::at_start_of(&own[start..]).is_some())
    }
}

/// A token of the text, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// The following text belongs to this target's parameter.
    Begin {
        name: Name<'a>,
        /// True if the first byte of the name's line came with an earlier push.
        earlier: bool,
    },
    /// A piece of text, including the line of the name. Text before the first `Begin` belongs to no target.
    Text(&'a [u8]),
}

/// Returns the first position after the first line of any parameter's name, such as `osd-zfs.fs-OST0000.filesfree=`.
pub fn next_parameter(text: &[u8]) -> Option<usize> {
    let mut starts = memchr_iter(b'\n', text).map(|newline| newline + 1);
    starts.find(|start| {
        let line = &text[*start..];
        let mut bytes = line.iter();
        let end = bytes.position(|byte| *byte == b'=' || !byte.is_ascii_graphic());
        end.is_some_and(|end| line[end] == b'=' && line[..end].contains(&b'.'))
    })
}

/// Takes text in pieces cut anywhere, and returns tokens that do not depend on the cuts.
#[derive(Debug, Default)]
pub struct Splitter {
    /// The last line, until its end arrives.
    pending: Vec<u8>,
    /// True if `pending` continues a line whose start has already been passed on.
    in_line: bool,
    /// The last name. `lctl -H` repeats the name on each line; a repeated name starts no new text.
    current: Option<(String, Parameter)>,
    torn: bool,
    ends_in_line: bool,
}

impl Splitter {
    /// Takes the next piece and passes on the complete lines.
    pub fn push<E>(
        &mut self,
        piece: &[u8],
        mut sink: impl FnMut(Token<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(&last) = piece.last() else {
            return Ok(());
        };
        self.ends_in_line = last != b'\n';
        let earlier = !self.pending.is_empty();
        self.pending.extend_from_slice(piece);
        let complete = memrchr(b'\n', &self.pending).map_or(0, |newline| newline + 1);
        let too_long = self.pending.len() - complete > LONGEST_LINE;
        let taken = match too_long {
            true => self.pending.len(),
            false => complete,
        };
        let mut lines = std::mem::take(&mut self.pending);
        self.lines(&lines[..taken], earlier, &mut sink)?;
        lines.drain(..taken);
        self.pending = lines;
        Ok(())
    }

    /// Passes on the rest. Returns true if the text is whole: the text ends with a newline, and no line contains
    /// another target's name. lctl leaves such a line when it cannot read a text to its end.
    pub fn finish<E>(
        mut self,
        mut sink: impl FnMut(Token<'_>) -> Result<(), E>,
    ) -> Result<bool, E> {
        let rest = std::mem::take(&mut self.pending);
        self.lines(&rest, true, &mut sink)?;
        Ok(!self.torn && !self.ends_in_line)
    }

    fn lines<E>(
        &mut self,
        text: &[u8],
        earlier: bool,
        sink: &mut impl FnMut(Token<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut given = 0;
        let mut seen = 0;
        for mark in memmem::find_iter(text, MARK) {
            if mark < seen {
                continue;
            }
            let line = line_around(text, mark);
            seen = line.end;
            let is_whole = line.start > 0 || !self.in_line;
            match Name::at_start_of(&text[line.clone()]).filter(|_| is_whole) {
                Some(name) => {
                    if self.enters(name) {
                        give(&text[given..line.start], sink)?;
                        given = line.start;
                        sink(Token::Begin {
                            name,
                            earlier: earlier && line.start == 0,
                        })?;
                    }
                }
                // Text of other parameters comes first, and may be cut at no cost of the targets behind it.
                None => self.torn |= self.current.is_some() && Name::is_inside(&text[line]),
            }
        }
        self.in_line = text.last().map_or(self.in_line, |&last| last != b'\n');
        give(&text[given..], sink)
    }

    /// Remembers the name, and returns true if it differs from the name before.
    fn enters(&mut self, name: Name<'_>) -> bool {
        let is_new = self.current.as_ref().is_none_or(|(target, parameter)| {
            target != name.target || *parameter != name.parameter
        });
        if is_new {
            self.current = Some((name.target.to_owned(), name.parameter));
        }
        is_new
    }
}

fn line_around(text: &[u8], position: usize) -> Range<usize> {
    let start = memrchr(b'\n', &text[..position]).map_or(0, |newline| newline + 1);
    let end = memchr(b'\n', &text[position..]).map_or(text.len(), |newline| position + newline + 1);
    start..end
}

fn give<E>(text: &[u8], sink: &mut impl FnMut(Token<'_>) -> Result<(), E>) -> Result<(), E> {
    if text.is_empty() {
        Ok(())
    } else {
        sink(Token::Text(text))
    }
}
