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

/// Rows by column. Memory is limited by the size of a row group.
pub struct Batch<'a> {
    columns: Vec<Buffer<'a>>,
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
            text: 0,
        }
    }

    fn rows(&self) -> usize {
        self.columns.last().map_or(0, |column| column.levels.len())
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows() == 0
    }

    /// Returns true if the row group should be written.
    pub fn is_full(&self) -> bool {
        self.rows() >= ROWS || self.text >= TEXT
    }

    /// Adds a number, or a time in microseconds, to a column.
    pub fn push_number(&mut self, column: usize, number: Option<i64>) {
        let buffer = &mut self.columns[column];
        buffer.levels.push(i16::from(number.is_some()));
        buffer
            .values
            .extend(number.map(|number| match buffer.pseudonyms {
                Some(key) => key.number(&buffer.column.name, number),
                None => number,
            }));
    }

    /// Adds a text to a column.
    pub fn push_text(&mut self, column: usize, text: Option<&str>) {
        let buffer = &mut self.columns[column];
        buffer.levels.push(i16::from(text.is_some()));
        self.text += text.map_or(0, |text| buffer.push(text.as_bytes()));
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
        self.text = 0;
        Ok(())
    }
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
    fn push(&mut self, text: &[u8]) -> usize {
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
                let texts = self.values.iter();
                let texts = texts.map(|place| self.texts[*place as usize].clone());
                let typed = writer.typed::<ByteArrayType>();
                typed.write_batch(&texts.collect::<Vec<_>>(), Some(&self.levels), None)?;
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
            batch.push_text(0, Some(&text(row)));
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
