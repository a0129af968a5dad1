//! The names that users give to jobs.

use rand::RngExt;

use crate::random::Seed;

use crate::jobs::Kind;

/// The name of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    stem: &'static [u8],
    /// The number that a workflow engine appends.
    number: Option<u32>,
    /// The reason why the name is hard to read, if it is.
    pub oddity: Option<&'static str>,
}

const ORDINARY: [&str; 9] = [
    "run.sh",
    "train",
    "wrf_12km",
    "bash",
    "gmx_md",
    "STDIN",
    "interactive",
    "align-reads",
    "vasp.std",
];

type Odd = (&'static [u8], &'static str);

const SLURM: &[Odd] = &[
    (b"a|b|c", "bars"),
    (b"two\nlines", "newline"),
    (b"unit\x1fseparator", "delimiter"),
    (b"caf\xe9", "not UTF-8"),
    ("\u{6570}\u{5024}".as_bytes(), "not ASCII"),
    (b"two words", "blank"),
];
const PBS: &[Odd] = &[
    (b"my run", "blank"),
    (b"a=b", "equals sign"),
    (b"first x=1 last", "looks like a key"),
    (b"semi;colon", "delimiter"),
    (b"caf\xe9", "not UTF-8"),
    ("\u{fc}ber".as_bytes(), "not ASCII"),
];
const LSF: &[Odd] = &[
    (b"say \"hi\"", "quotes"),
    (b"two\nlines", "newline"),
    (b"two words", "blank"),
    (b"caf\xe9", "not UTF-8"),
    (b"\"\" 1 2 3", "looks like fields"),
];
const GRIDENGINE: &[Odd] = &[
    (b"a:b", "delimiter"),
    (b"work:12:x", "delimiters"),
    (b"two words", "blank"),
    (b"caf\xe9", "not UTF-8"),
    (b"#comment", "comment sign"),
];
const FLUX: &[Odd] = &[
    (b"say \"hi\"", "quotes"),
    (b"two\nlines", "newline"),
    (b"back\\slash", "backslash"),
    ("\u{1f980}".as_bytes(), "not ASCII"),
    (b"\"}],\"jobs\":[{\"id\":1}", "looks like JSON"),
];

impl Name {
    /// Draws the name of a job; this share of names is hard to read in the text of the scheduler.
    pub fn draw(kind: Kind, odd: f64, job: Seed) -> Self {
        let random = &mut job.of("name", &[]).random();
        if random.random_bool(odd.clamp(0.0, 1.0)) {
            let all = match kind {
                Kind::Slurm => SLURM,
                Kind::Pbs => PBS,
                Kind::Lsf => LSF,
                Kind::Gridengine => GRIDENGINE,
                Kind::Flux => FLUX,
            };
            let (stem, oddity) = all[random.random_range(0..all.len())];
            return Self {
                stem,
                number: None,
                oddity: Some(oddity),
            };
        }
        let (stem, number) = if random.random_bool(0.2) {
            ("task_", Some(random.random_range(0..1_000)))
        } else {
            (ORDINARY[random.random_range(0..ORDINARY.len())], None)
        };
        Self {
            stem: stem.as_bytes(),
            number,
            oddity: None,
        }
    }

    /// Returns the bytes of the name.
    pub fn bytes(&self) -> Vec<u8> {
        let mut name = self.stem.to_vec();
        if let Some(number) = self.number {
            name.extend(number.to_string().bytes());
        }
        name
    }
}

/// Returns bytes as text, in which bytes that are not UTF-8 are `\xHH`.
pub fn shown(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02X}"));
        }
    }
    text
}
