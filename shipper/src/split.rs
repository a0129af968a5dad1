//! Divides what `lctl get_param` printed at the names of targets, and nowhere else.

use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

#[cfg(test)]
mod tests;

/// Both parameters have it in their names, and nothing else that a server prints does, so a search for it finds every
/// name without a look at each line.
const MARK: &[u8] = b".job_";

/// A line longer than this is passed on in pieces. Lustre's own lines stay below one kilobyte.
const LONGEST_LINE: usize = 64 << 10;

/// Which of a target's two parameters a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// `job_stats`
    JobStats,
    /// `job_cleanup_interval`
    CleanupInterval,
}

/// A target's name, with its kind and without the parameter, and the parameter: `mdt.fs-MDT0000` and `job_stats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name<'a> {
    /// `mdt.fs-MDT0000`
    pub target: &'a str,
    /// What follows it.
    pub parameter: Parameter,
}

impl<'a> Name<'a> {
    /// The name that the line begins with, if it does: `mdt.fs-MDT0000.job_stats=` or, from `lctl -y`, `…job_stats: `.
    fn at_start_of(line: &'a [u8]) -> Option<Self> {
        let kind = [&b"mdt."[..], b"obdfilter."]
            .into_iter()
            .find(|kind| line.starts_with(kind))?;
        let end = kind.len() + memmem::find(&line[kind.len()..], MARK)?;
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        if end == kind.len() || !line[..end].iter().all(is_name) {
            return None;
        }
        let rest = &line[end + 1..];
        let (parameter, value) = [
            (Parameter::JobStats, &b"job_stats"[..]),
            (Parameter::CleanupInterval, b"job_cleanup_interval"),
        ]
        .into_iter()
        .find_map(|(parameter, name)| Some((parameter, rest.strip_prefix(name)?)))?;
        if !value.starts_with(b"=") && !value.starts_with(b": ") {
            return None;
        }
        let target = str::from_utf8(&line[..end]).ok()?;
        Some(Self { target, parameter })
    }

    /// Whether a name stands inside the line. Only kernel text is looked at: an identifier may say anything.
    fn is_inside(line: &[u8]) -> bool {
        let own = memmem::find(line, b"job_id:").map_or(line, |identifier| &line[..identifier]);
        (1..own.len()).any(|start| Name::at_start_of(&own[start..]).is_some())
    }
}

/// What the splitter makes of the text, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// From here on the text belongs to this target's parameter. Its first byte was in the piece before the one that
    /// was pushed when `earlier` is set.
    Begin {
        /// Whose text begins.
        name: Name<'a>,
        /// Whether the line's first byte came with an earlier push.
        earlier: bool,
    },
    /// Text, the name's line included. Before any `Begin` it belongs to no target.
    Text(&'a [u8]),
}

/// Takes text in pieces cut anywhere; gives parts that do not depend on the cuts.
#[derive(Debug, Default)]
pub struct Splitter {
    /// The last line while its end has not come yet.
    pending: Vec<u8>,
    /// What `pending` belongs to a line whose beginning has already been given away.
    in_line: bool,
    /// The last name, to see that a line of `lctl -H`, each of which repeats it, begins nothing.
    current: Option<(String, Parameter)>,
    torn: bool,
    ends_in_line: bool,
}

impl Splitter {
    /// Takes the next piece and hands on the lines that are complete.
    pub fn push<E>(
        &mut self,
        piece: &[u8],
        mut sink: impl FnMut(Part<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(&last) = piece.last() else {
            return Ok(());
        };
        self.ends_in_line = last != b'\n';
        let earlier = !self.pending.is_empty();
        self.pending.extend_from_slice(piece);
        let complete = memrchr(b'\n', &self.pending).map_or(0, |newline| newline + 1);
        let too_long = self.pending.len() - complete > LONGEST_LINE;
        let taken = if too_long {
            self.pending.len()
        } else {
            complete
        };
        let mut lines = std::mem::take(&mut self.pending);
        self.lines(&lines[..taken], earlier, &mut sink)?;
        lines.drain(..taken);
        self.pending = lines;
        Ok(())
    }

    /// Hands on the rest. True if the text is whole: it ends with a line's end, and into no line ran another target's
    /// name, which is how a text ends that lctl could not read to its end.
    pub fn finish<E>(mut self, mut sink: impl FnMut(Part<'_>) -> Result<(), E>) -> Result<bool, E> {
        let rest = std::mem::take(&mut self.pending);
        self.lines(&rest, true, &mut sink)?;
        Ok(!self.torn && !self.ends_in_line)
    }

    fn lines<E>(
        &mut self,
        text: &[u8],
        earlier: bool,
        sink: &mut impl FnMut(Part<'_>) -> Result<(), E>,
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
                        sink(Part::Begin {
                            name,
                            earlier: earlier && line.start == 0,
                        })?;
                    }
                }
                None => self.torn |= Name::is_inside(&text[line]),
            }
        }
        self.in_line = text.last().map_or(self.in_line, |&last| last != b'\n');
        give(&text[given..], sink)
    }

    /// Whether the name is another one than before.
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

fn give<E>(text: &[u8], sink: &mut impl FnMut(Part<'_>) -> Result<(), E>) -> Result<(), E> {
    if text.is_empty() {
        Ok(())
    } else {
        sink(Part::Text(text))
    }
}
