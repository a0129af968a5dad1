//! The rows of a row group, by column, until they are written.

use std::collections::HashMap;

use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::{SerializedColumnWriter, SerializedRowGroupWriter};

use super::columns::{Column, Kind};
use super::pseudonyms::Pseudonyms;

/// The number of rows of a row group, which is what DuckDB reads at a time.
const ROWS: usize = 122_880;

/// The number of bytes of distinct texts that ends a row group early. Entry IDs have up to 64 kB.
const TEXT: usize = 32 << 20;

/// The number of texts that are given to the writer at a time.
const SLICE: usize = 1024;

/// The sort column of rows with pseudonyms.
const SORTED: &str = "entry";

/// Rows by column. Memory is limited by the size of a row group.
pub struct Batch<'a> {
    columns: Vec<Buffer<'a>>,
    /// The index of the sort column.
    sorted: Option<usize>,
    rows: usize,
    text: usize,
}

impl<'a> Batch<'a> {
    /// Creates an empty batch. With a key, personal values are replaced by pseudonyms, and rows are sorted by the pseudonym of the entry
    /// ID.
    pub fn new(columns: &'a [Column], pseudonyms: Option<&'a Pseudonyms>) -> Self {
        let buffer = |column: &'a Column| Buffer {
            name: &column.name,
            pseudonyms: pseudonyms.filter(|_| column.is_personal),
            levels: Vec::new(),
            values: match column.kind {
                Kind::Text => Values::Texts(Texts::default()),
                Kind::Time | Kind::Number => Values::Numbers(Vec::new()),
            },
        };
        Self {
            columns: columns.iter().map(buffer).collect(),
            sorted: columns
                .iter()
                .position(|column| pseudonyms.is_some() && column.name == SORTED),
            rows: 0,
            text: 0,
        }
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns true if the row group should be written.
    pub fn is_full(&self) -> bool {
        self.rows >= ROWS || self.text >= TEXT
    }

    /// Adds a text, or a time or number, to a column.
    pub fn push(&mut self, column: usize, value: Option<Value<'_>>) {
        let buffer = &mut self.columns[column];
        buffer.levels.push(i16::from(value.is_some()));
        match (&mut buffer.values, value) {
            (Values::Texts(texts), Some(Value::Text(text))) => {
                self.text += texts.push(text.as_bytes(), buffer.name, buffer.pseudonyms);
            }
            (Values::Numbers(numbers), Some(Value::Number(number))) => {
                let pseudonym = buffer.pseudonyms.map(|key| key.number(buffer.name, number));
                numbers.push(pseudonym.unwrap_or(number));
            }
            _ => {}
        }
    }

    /// Ends a row after all columns have a value.
    pub fn end_row(&mut self) {
        self.rows += 1;
    }

    /// Writes the rows as a row group, and is empty then.
    pub fn write<W: std::io::Write + Send>(
        &mut self,
        mut group: SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        if let Some(column) = self.sorted {
            let order = self.columns[column].order();
            for buffer in &mut self.columns {
                buffer.arrange(&order);
            }
        }
        for buffer in &mut self.columns {
            let Some(mut writer) = group.next_column()? else {
                break;
            };
            buffer.write(&mut writer)?;
            writer.close()?;
        }
        group.close()?;
        (self.rows, self.text) = (0, 0);
        Ok(())
    }
}

/// A value of a cell.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    /// A text.
    Text(&'a str),
    /// A number, or a time in microseconds.
    Number(i64),
}

struct Buffer<'a> {
    name: &'a str,
    pseudonyms: Option<&'a Pseudonyms>,
    /// For each row 1 if there is a value, as Parquet has it.
    levels: Vec<i16>,
    values: Values,
}

enum Values {
    Numbers(Vec<i64>),
    Texts(Texts),
}

/// The distinct texts of a column.
#[derive(Default)]
struct Texts {
    known: HashMap<Box<[u8]>, usize>,
    different: Vec<ByteArray>,
    rows: Vec<usize>,
}

impl Texts {
    /// Adds a text, and returns the bytes that it has taken if it is new.
    fn push(&mut self, text: &[u8], column: &str, pseudonyms: Option<&Pseudonyms>) -> usize {
        if let Some(known) = self.known.get(text) {
            self.rows.push(*known);
            return 0;
        }
        let written = match pseudonyms {
            Some(key) => key.text(column, text).into_bytes(),
            None => text.to_owned(),
        };
        let taken = text.len() + written.len();
        self.rows.push(self.different.len());
        self.known.insert(text.into(), self.different.len());
        self.different.push(ByteArray::from(written));
        taken
    }
}

impl Buffer<'_> {
    /// Returns the rows in the order of their texts, those without a text first. Rows of the same text stay in their order.
    fn order(&self) -> Vec<usize> {
        let Values::Texts(texts) = &self.values else {
            return (0..self.levels.len()).collect();
        };
        let present = texts.rows.iter().map(|at| texts.different[*at].data());
        let values = by_row(present, &self.levels);
        let mut order: Vec<_> = (0..values.len()).collect();
        order.sort_by_key(|row| values[*row]);
        order
    }

    /// Puts the rows into this order.
    fn arrange(&mut self, order: &[usize]) {
        match &mut self.values {
            Values::Numbers(numbers) => *numbers = arranged(numbers, &self.levels, order),
            Values::Texts(texts) => texts.rows = arranged(&texts.rows, &self.levels, order),
        }
        self.levels = order.iter().map(|row| self.levels[*row]).collect();
    }

    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Result<()> {
        match &mut self.values {
            Values::Numbers(numbers) => {
                let typed = writer.typed::<Int64Type>();
                typed.write_batch(numbers, Some(&self.levels), None)?;
                numbers.clear();
            }
            Values::Texts(texts) => {
                let typed = writer.typed::<ByteArrayType>();
                let mut rows = texts.rows.iter();
                for levels in self.levels.chunks(SLICE) {
                    let present = levels.iter().filter(|level| **level == 1).count();
                    let slice = rows.by_ref().take(present);
                    let slice: Vec<_> = slice.map(|at| texts.different[*at].clone()).collect();
                    typed.write_batch(&slice, Some(levels), None)?;
                }
                *texts = Texts::default();
            }
        }
        self.levels.clear();
        Ok(())
    }
}

/// Returns the values of the rows that have one, in this order of rows.
fn arranged<T: Copy>(values: &[T], levels: &[i16], order: &[usize]) -> Vec<T> {
    let values = by_row(values.iter().copied(), levels);
    order.iter().filter_map(|row| values[*row]).collect()
}

/// Returns the value of each row; `None` for NULL.
fn by_row<T>(mut present: impl Iterator<Item = T>, levels: &[i16]) -> Vec<Option<T>> {
    let value = |level: &i16| match level {
        1 => present.next(),
        _ => None,
    };
    levels.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column() -> Column {
        Column {
            name: "entry".to_owned(),
            kind: Kind::Text,
            is_personal: true,
            unit: None,
            meaning: String::new(),
        }
    }

    /// Adds rows until the batch is full, and returns how many it has.
    fn rows_of(text: impl Fn(usize) -> String) -> usize {
        let columns = [column()];
        let mut batch = Batch::new(&columns, None);
        for row in 0..2 * ROWS {
            if batch.is_full() {
                return row;
            }
            batch.push(0, Some(Value::Text(&text(row))));
            batch.end_row();
        }
        2 * ROWS
    }

    #[test]
    fn a_batch_is_limited_in_rows_and_in_text() {
        assert_eq!(rows_of(|_| "4711:1000:n01".to_owned()), ROWS);
        // Each text is kept twice: as it came, and as it is written.
        assert_eq!(rows_of(|row| format!("{row:032768}")), TEXT / (2 * 32_768));
    }
}
