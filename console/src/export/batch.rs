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

/// Rows by column. Memory is limited by the size of a row group.
pub struct Batch<'a> {
    columns: Vec<Buffer<'a>>,
    rows: usize,
    text: usize,
}

impl<'a> Batch<'a> {
    /// Creates an empty batch. With a key, personal values are replaced by pseudonyms.
    pub fn new(columns: &'a [Column], pseudonyms: Option<&'a Pseudonyms>) -> Self {
        let buffer = |column: &'a Column| Buffer {
            column,
            pseudonyms: pseudonyms.filter(|_| column.is_personal),
            levels: Vec::new(),
            values: Vec::new(),
            known: HashMap::new(),
            texts: Vec::new(),
        };
        Self {
            columns: columns.iter().map(buffer).collect(),
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
        match value {
            Some(Value::Text(text)) => self.text += buffer.push_text(text.as_bytes()),
            Some(Value::Number(number)) => {
                let name = &buffer.column.name;
                let pseudonym = buffer.pseudonyms.map(|key| key.number(name, number));
                buffer.values.push(pseudonym.unwrap_or(number));
            }
            None => {}
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
    column: &'a Column,
    pseudonyms: Option<&'a Pseudonyms>,
    /// For each row 1 if there is a value, as Parquet has it.
    levels: Vec<i16>,
    /// The numbers, or the places of the texts among the distinct ones.
    values: Vec<i64>,
    known: HashMap<Box<[u8]>, i64>,
    texts: Vec<ByteArray>,
}

impl Buffer<'_> {
    /// Adds a text, and returns the bytes that it has taken if it is new.
    fn push_text(&mut self, text: &[u8]) -> usize {
        if let Some(known) = self.known.get(text) {
            self.values.push(*known);
            return 0;
        }
        let written = match self.pseudonyms {
            Some(key) => key.text(&self.column.name, text).into_bytes(),
            None => text.to_owned(),
        };
        let taken = text.len() + written.len();
        let place = self.texts.len() as i64;
        self.values.push(place);
        self.known.insert(text.into(), place);
        self.texts.push(ByteArray::from(written));
        taken
    }

    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Result<()> {
        match self.column.kind {
            Kind::Text => {
                let typed = writer.typed::<ByteArrayType>();
                let mut places = self.values.iter();
                for levels in self.levels.chunks(SLICE) {
                    let present = levels.iter().filter(|level| **level == 1).count();
                    let slice = places.by_ref().take(present);
                    let slice: Vec<_> = slice.map(|at| self.texts[*at as usize].clone()).collect();
                    typed.write_batch(&slice, Some(levels), None)?;
                }
            }
            Kind::Time | Kind::Number => {
                let typed = writer.typed::<Int64Type>();
                typed.write_batch(&self.values, Some(&self.levels), None)?;
            }
        }
        self.levels.clear();
        self.values.clear();
        self.known = HashMap::new();
        self.texts = Vec::new();
        Ok(())
    }
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
