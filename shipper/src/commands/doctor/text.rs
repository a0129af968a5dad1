//! A short look into the text of a target. Everything else of the format is the database's.

use std::io::{self, Read};

use jobstats_client::spool::Text;
use memchr::memmem;
use zstd::stream::read::Decoder;

use crate::frame::{Pieces, Reading};

/// The size of a piece that is looked at.
const PIECE: usize = 64 << 10;

/// The word that each entry has once.
const ENTRY: &[u8] = b"- job_id:";

/// The word before the cleanup interval in seconds, which is at the beginning of a text.
const CLEANUP: &[u8] = b".job_cleanup_interval=";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextSummary {
    pub entries: u64,
    /// The cleanup interval of the target in seconds. Zero means that entries are never removed.
    pub cleanup: Option<u64>,
}

/// Unpacks a text and looks at it.
pub fn look(reading: &Reading, text: &Text) -> io::Result<TextSummary> {
    let mut unpacked = Decoder::new(Pieces::new(reading.pieces(text, PIECE)))?;
    look_at(&mut unpacked)
}

/// Reads in pieces, so that memory does not grow with the text.
fn look_at(text: &mut impl Read) -> io::Result<TextSummary> {
    let mut look = TextSummary::default();
    let mut window = Vec::new();
    let mut is_first = true;
    loop {
        let kept = window.len();
        text.take(PIECE as u64).read_to_end(&mut window)?;
        if window.len() == kept {
            return Ok(look);
        }
        if is_first {
            look.cleanup = cleanup(&window);
            is_first = false;
        }
        look.entries += memmem::find_iter(&window, ENTRY).count() as u64;
        // A word may lie across two pieces, and is then counted with the next one.
        window.drain(..window.len() - window.len().min(ENTRY.len() - 1));
    }
}

fn cleanup(text: &[u8]) -> Option<u64> {
    let start = memmem::find(text, CLEANUP)? + CLEANUP.len();
    let rest = text[start..].iter();
    let digits = rest.take_while(|byte| byte.is_ascii_digit()).count();
    let digits = str::from_utf8(&text[start..start + digits]).ok()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

    use std::time::Duration;

    use crate::frame::{LCTL, Recorder, ServerName};

    use super::*;

    #[test]
    fn entries_are_counted_across_pieces_and_the_interval_is_read() {
        let entry = format!("- job_id:          {:60}\n", "a.1000");
        let count = 5000;
        let text = format!(
            "mdt.fs-MDT0000.job_cleanup_interval=600\nmdt.fs-MDT0000.job_stats=\njob_stats:\n{}",
            entry.repeat(count)
        );
        let mut recorder = Recorder::of(&ServerName::default(), LCTL, u64::MAX);
        recorder.push(text.as_bytes(), Duration::ZERO).unwrap();
        let reading = recorder.finish().unwrap();
        let (entries, cleanup) = (count as u64, Some(600));
        let seen = look(&reading, &reading.index.texts[0]).unwrap();
        assert_eq!(seen, TextSummary { entries, cleanup });
    }

    #[test]
    fn a_text_may_have_neither() {
        let mut text = &b"mdt.fs-MDT0000.job_stats=job_stats:\n"[..];
        assert_eq!(look_at(&mut text).unwrap(), TextSummary::default());
    }
}
