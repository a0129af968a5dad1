//! Reads the header of a table: the delimiter and the columns.

use memchr::memmem;

/// The largest number of columns. `sacct` knows about 120.
const COLUMNS_MAX: usize = 500;

/// The longest name of a column in bytes.
const NAME_MAX: usize = 60;

/// The longest delimiter in bytes.
const DELIMITER_MAX: usize = 32;

crate::named! {
    /// A column that a job is made of. Its number is its place in `Fields`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum JobColumn {
        JobIdRaw = "JobIDRaw",
        JobId = "JobID",
        Cluster = "Cluster",
        Submit = "Submit",
        Start = "Start",
        End = "End",
        Uid = "UID",
        User = "User",
        Gid = "GID",
        Group = "Group",
        Account = "Account",
        Partition = "Partition",
        Qos = "QOS",
        State = "State",
        ExitCode = "ExitCode",
        Nodes = "NNodes",
        AllocatedNodes = "AllocNodes",
        Cpus = "NCPUS",
        AllocatedCpus = "AllocCPUS",
        NodeList = "NodeList",
        JobName = "JobName",
    }
    /// Returns the name in the header.
    pub fn name;
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column<'a> {
    /// A column that a job is made of.
    OfJob(JobColumn),
    /// A column that is discarded.
    Private,
    /// Any other column, by its name.
    Other(&'a str),
}

impl<'a> Column<'a> {
    fn new(name: &'a str) -> Self {
        if PRIVATE.contains(&name) {
            return Self::Private;
        }
        JobColumn::find(name).map_or(Self::Other(name), Self::OfJob)
    }

    /// Returns whether the column has numbers of jobs.
    pub const fn is_number_of_job(&self) -> bool {
        matches!(self, Self::OfJob(JobColumn::JobIdRaw | JobColumn::JobId))
    }

    /// Returns whether the ends of lines may be in a field of the column.
    pub fn is_free_text(self) -> bool {
        !matches!(self, Self::OfJob(known) if known != JobColumn::JobName)
    }
}

/// Columns with text that people wrote, or commands of a job.
#[rustfmt::skip]
const PRIVATE: [&str; 15] = [
    "SubmitLine", "WorkDir", "StdIn", "StdOut", "StdErr", "Comment", "AdminComment", "SystemComment", "Extra", "Container", "Command",
    "BatchScript", "Script", "Environment", "EnvVars",
];

/// The header of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header<'a> {
    /// The delimiter; empty if there is one column without any.
    pub delimiter: &'a [u8],
    /// If set, a delimiter ends each row, as `sacct -p` prints it.
    pub is_ended: bool,
    /// The columns in the order of the table.
    pub columns: Vec<Column<'a>>,
}

impl<'a> Header<'a> {
    /// Reads a header; `None` if the line is no header, or has no column with the number of a job.
    pub fn read(line: &'a [u8]) -> Option<Self> {
        // Each delimiter that is tried reads the whole line.
        if line.len() > COLUMNS_MAX * (NAME_MAX + DELIMITER_MAX) {
            return None;
        }
        memmem::find(line, b"JobID")?;
        let line = std::str::from_utf8(line).ok()?;
        let end = line.find(|character: char| !character.is_ascii_alphanumeric());
        let (_, rest) = line.split_at(end.unwrap_or(line.len()));
        let ends = rest.char_indices().map(|(at, it)| at + it.len_utf8());
        let mut ends = ends.take_while(|end| *end <= DELIMITER_MAX);
        if rest.is_empty() {
            return Self::divide(line, "");
        }
        ends.find_map(|end| Self::divide(line, rest.get(..end)?))
    }

    /// Returns the header if a delimiter divides it into names.
    fn divide(line: &'a str, delimiter: &'a str) -> Option<Self> {
        let names = match delimiter {
            "" => line,
            _ => line.strip_suffix(delimiter).unwrap_or(line),
        };
        // Splitting by an empty text would divide between all characters.
        let pattern = match delimiter {
            "" => "\n",
            delimiter => delimiter,
        };
        let names_of = || names.split(pattern).take(COLUMNS_MAX + 1);
        if !names_of().all(is_name) {
            return None;
        }
        let columns: Vec<_> = names_of().map(Column::new).collect();
        let has_number = columns.iter().any(Column::is_number_of_job);
        (has_number && columns.len() <= COLUMNS_MAX).then_some(Self {
            delimiter: delimiter.as_bytes(),
            is_ended: names.len() < line.len(),
            columns,
        })
    }

    /// Returns the number of delimiters in a row.
    pub fn delimiters(&self) -> usize {
        self.columns.len() - usize::from(!self.is_ended)
    }

    /// Returns whether the first column is the number of a job, so that each row can be known by its beginning.
    pub fn begins_with_number(&self) -> bool {
        self.columns.first().is_some_and(Column::is_number_of_job)
    }

    /// Returns whether a line begins as the row of a job or step, if the first column is the number of a job.
    pub fn begins_row(&self, line: &[u8]) -> bool {
        let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let rest = line.get(digits..).unwrap_or_default();
        let follows = match rest.first() {
            Some(b'_' | b'+' | b'.') => true,
            None => self.delimiters() == 0,
            Some(_) => self.delimiters() > 0 && rest.starts_with(self.delimiter),
        };
        digits > 0 && follows
    }

    /// Returns the number of delimiters in a line.
    pub fn count(&self, line: &[u8]) -> usize {
        match self.delimiter {
            [] => 0,
            [byte] => memchr::memchr_iter(*byte, line).count(),
            delimiter => memmem::find_iter(line, delimiter).count(),
        }
    }

    /// Divides a row into its fields, one for each column if [`Self::delimiters`] are in it.
    pub fn fields<'r>(&self, row: &'r [u8]) -> impl Iterator<Item = &'r [u8]> {
        let delimiter = self.delimiter;
        let mut rest = Some(row);
        std::iter::from_fn(move || {
            let text = rest?;
            let end = match delimiter {
                [] => None,
                [byte] => memchr::memchr(*byte, text),
                delimiter => memmem::find(text, delimiter),
            };
            let (field, after) = match end {
                Some(end) => (&text[..end], Some(&text[end + delimiter.len()..])),
                None => (text, None),
            };
            rest = after;
            Some(field)
        })
    }
}

/// Returns whether a text can be the name of a column. All begin with a capital letter.
fn is_name(text: &str) -> bool {
    let first = text.bytes().next();
    first.is_some_and(|byte| byte.is_ascii_uppercase())
        && text.len() <= NAME_MAX
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
