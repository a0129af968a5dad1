//! Reads the output of `lctl get_param`: assigns lines to values of parameters of targets.
//!
//! [`read`] hands every line of the values of one parameter to a [`Values`], which knows the meaning of the lines. It follows
//! names before values, as `lctl` prints them by default, with `-y` and with `-H`; a text without names (`-n`); error
//! messages between lines and in the middle of them; and values that end in the middle of a line.

mod lines;
mod message;
mod other;
mod parameter;
mod reader;

use std::ops::Range;

pub(crate) use lines::{Joined, LINE_MAX, Lines, Piece, trim, trim_start};

use crate::base::pause::Pause;
use crate::base::target::TargetName;
use crate::text::additional_parameters::Other;

/// The kind of a line of a value. It serves to find where values end in a text that is damaged or has error messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind<'a> {
    /// The heading of a value.
    Heading,
    /// The beginning of an entry of the value, with the entry's name as printed, which a user may have chosen.
    Entry(&'a [u8]),
    /// A line that only occurs inside of an entry.
    Inner,
    /// A line that may stand anywhere, also in the value of another parameter.
    Any,
}

/// The use that a line of a value was of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The line belongs to the value, used or not.
    Belongs,
    /// The line cannot be read. It may be the damaged name of a target, after which the value of another target begins.
    Unreadable,
}

/// The reason why a line that looks like a line of a value is outside of the values that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outside {
    /// The line was taken for the name of a parameter, but the lines after it show that it is a damaged line of an
    /// entry.
    Damaged,
    /// The line begins an entry in the value of another parameter.
    OtherParameter,
}

/// Receives the values of one parameter of targets.
pub(crate) trait Values<'a> {
    /// The error of the receiver that stops the reading.
    type Stop;

    /// The last part of the parameter's name, such as `job_stats`.
    const PARAMETER: &'static str;

    /// The last part of the name of a parameter with a single number, which is read too.
    const SETTING: Option<&'static str>;

    /// Returns the kind of a line, regardless of the lines around it.
    fn kind(line: &[u8]) -> LineKind<'_>;

    /// Receives the beginning of a value. `target` is `None` if the text has no name.
    fn begin(&mut self, line: u32, target: Option<TargetName<'a>>) -> Result<(), Self::Stop>;

    /// Receives the end of the value that began last. `lines` has all its lines.
    fn end(&mut self, lines: Range<usize>) -> Result<(), Self::Stop>;

    /// Takes lines that certainly belong to the value, in any context. Returns true if there was one.
    fn take(&mut self, lines: &mut Lines<'a, '_>) -> Result<bool, Self::Stop>;

    /// Receives a line of the value. `text` is the line, or its part after a name. Further lines can be taken from
    /// `lines`.
    fn line(
        &mut self,
        line: Piece<'a>,
        text: &'a [u8],
        lines: &mut Lines<'a, '_>,
    ) -> Result<Outcome, Self::Stop>;

    /// Receives a line of the value that error messages interrupted. `line` is its first part.
    fn joined_line(&mut self, line: Piece<'a>, joined: &Joined) -> Result<Outcome, Self::Stop>;

    /// Receives a line that looks like a line of a value, but belongs to no value.
    fn outside(&mut self, line: u32, text: &'a [u8], reason: Outside) -> Result<(), Self::Stop>;

    /// Receives the value of [`Self::SETTING`], with its line and the range of its lines.
    fn setting(
        &mut self,
        target: TargetName<'a>,
        value: &'a [u8],
        line: Piece<'a>,
        lines: Range<usize>,
    ) -> Result<(), Self::Stop>;

    /// Receives a value of a [`crate::text::additional_parameters::Parameter`], which is not empty.
    fn other(&mut self, other: Other<'a>) -> Result<(), Self::Stop>;

    /// Receives an error message: the parameter of this target could not be read, or only a part of it. `is_inside` is
    /// true if the message is inside of the value of this target.
    fn read_failed(
        &mut self,
        target: TargetName<'a>,
        message: Range<usize>,
        is_inside: bool,
    ) -> Result<(), Self::Stop>;
}

/// Reads the values of one parameter from the output of `lctl`.
pub(crate) fn read<'a, V: Values<'a>>(
    text: &'a [u8],
    values: &mut V,
    pause: Pause<'_>,
) -> Result<(), V::Stop> {
    reader::Reader::new(text, values, pause).run()
}
