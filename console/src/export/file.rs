//! A directory of exported days, and the file of a day while it is written.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jobstats_client::files::file::{FileError, if_there};
use jobstats_client::files::own_file;
use jobstats_client::program::exit;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, TypePtr};
use tempfile::TempPath;

use super::batch::Batch;
use super::columns::{Column, Kind};
use crate::ask::error::Error;

/// The metadata entry of a file that describes the export.
const EXPORT: &str = "jobstats.export";

/// The level of zstd. A higher one makes files that are hardly smaller.
const LEVEL: i32 = 3;

/// The most bytes of different values of a column that are written as a dictionary.
const DICTIONARY: usize = 8 << 20;

/// Returns an error of the library. It wraps errors of the system, which are what a person can do something about.
fn unwrapped(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(ParquetError::External(cause)),
        },
        cause => io::Error::other(cause),
    }
}

/// A directory with a file for each day. No other export writes to it as long as this value lives.
pub struct Directory {
    path: PathBuf,
    /// The options that all files of the directory have in common.
    export: String,
    _lock: File,
}

impl Directory {
    /// Opens a directory, and makes it if it does not exist. Only its owner may look into a new one. This fails if another export
    /// writes to it.
    pub fn open(path: &Path, export: String) -> Result<Self, Error> {
        let mut builder = DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(path);
        made.map_err(FileError::at(path))?;
        let lock = path.join(".lock");
        let file = own_file::open(&lock).map_err(FileError::at(&lock))?;
        // Some file systems have no locks. Two exports are not kept apart there.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            let message = format!("another export is writing to {}", path.display());
            return Err(Error::other(exit::LATER, message));
        }
        Ok(Self {
            path: path.to_owned(),
            export,
            _lock: file,
        })
    }

    /// Returns the path of the file of a day.
    pub fn file(&self, day: Date) -> PathBuf {
        self.path.join(format!("{day}.parquet"))
    }

    /// Returns true if the day has been exported. This fails if the file was exported with other options, or is no export.
    pub fn has(&self, day: Date) -> Result<bool, Error> {
        let path = self.file(day);
        let file = if_there(File::open(&path)).map_err(FileError::at(&path))?;
        match file.map(export_of) {
            None => Ok(false),
            Some(Ok(Some(export))) if export == self.export => Ok(true),
            _ => Err(Error::Usage(format!(
                "{} was exported with other options: use another directory, or export all days again with --again",
                path.display()
            ))),
        }
    }

    /// Begins the file of a day. It has its name only when it is complete.
    pub fn begin(&self, day: Date, columns: &[Column]) -> Result<DayFile, Error> {
        let path = self.file(day);
        let part = self.path.join(format!(".{day}.parquet.part"));
        // An export that was killed may have left it.
        if_there(fs::remove_file(&part)).map_err(FileError::at(&part))?;
        let file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&part);
        let file = file.map_err(FileError::at(&part))?;
        let part = TempPath::try_from_path(&part).map_err(FileError::at(&part))?;
        let writer = writer(file, columns).map_err(unwrapped);
        let mut writer = writer.map_err(FileError::at(&path))?;
        let described = serde_json::to_string(columns).unwrap_or_default();
        for (key, value) in [
            (EXPORT, self.export.clone()),
            ("jobstats.day", day.to_string()),
            ("jobstats.exported", Timestamp::now().to_string()),
            ("jobstats.columns", described),
        ] {
            writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        Ok(DayFile { path, part, writer })
    }
}

/// Returns what a file is an export of.
fn export_of(file: File) -> Result<Option<String>, ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    let about = reader.metadata().file_metadata().key_value_metadata();
    let export = about.into_iter().flatten().find(|it| it.key == EXPORT);
    Ok(export.and_then(|it| it.value.clone()))
}

/// The file of a day that is being written. It is removed if it is not finished.
pub struct DayFile {
    path: PathBuf,
    part: TempPath,
    writer: SerializedFileWriter<File>,
}

impl DayFile {
    /// Writes rows as a row group.
    pub fn write(&mut self, batch: &mut Batch<'_>) -> Result<(), Error> {
        let group = self.writer.next_row_group();
        let written = group.and_then(|group| batch.write(group));
        let written = written.map_err(unwrapped);
        Ok(written.map_err(FileError::at(&self.path))?)
    }

    /// Ends the file, puts it in its place, and returns its size.
    pub fn finish(self) -> Result<u64, Error> {
        let finished = || {
            // This writes the end of the file too.
            let file = self.writer.into_inner().map_err(unwrapped)?;
            file.sync_all()?;
            let bytes = file.metadata()?.len();
            self.part.persist(&self.path)?;
            Ok(bytes)
        };
        Ok(finished().map_err(FileError::at(&self.path))?)
    }
}

fn writer(file: File, columns: &[Column]) -> Result<SerializedFileWriter<File>, ParquetError> {
    SerializedFileWriter::new(file, schema(columns)?, properties(columns)?)
}

fn schema(columns: &[Column]) -> Result<TypePtr, ParquetError> {
    let fields = columns.iter().map(|column| {
        let name = &column.name;
        match column.kind {
            Kind::Time => format!("OPTIONAL INT64 {name} (TIMESTAMP(MICROS,true));"),
            Kind::Text => format!("OPTIONAL BYTE_ARRAY {name} (STRING);"),
            Kind::Number => format!("OPTIONAL INT64 {name};"),
        }
    });
    let message = format!("message jobstats {{ {} }}", fields.collect::<String>());
    parse_message_type(&message).map(Arc::new)
}

fn properties(columns: &[Column]) -> Result<WriterPropertiesPtr, ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .set_dictionary_page_size_limit(DICTIONARY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_created_by(concat!("jobstats-console version ", env!("CARGO_PKG_VERSION")).to_owned());
    for column in columns.iter().filter(|it| it.kind == Kind::Time) {
        let path = ColumnPath::from(column.name.as_str());
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    Ok(Arc::new(properties.build()))
}

#[cfg(test)]
mod tests {
    use parquet::record::Field;
    use proptest::prelude::*;

    use super::super::pseudonyms::Pseudonyms;
    use super::*;

    const DAY: Date = jiff::civil::date(2026, 11, 22);

    fn column(name: &str, kind: Kind, is_personal: bool) -> Column {
        Column {
            name: name.to_owned(),
            kind,
            is_personal,
            unit: None,
            meaning: String::new(),
        }
    }

    fn columns() -> [Column; 3] {
        [
            column("until", Kind::Time, false),
            column("entry", Kind::Text, true),
            column("open", Kind::Number, false),
        ]
    }

    type Cells = (Option<i64>, Option<String>, Option<i64>);

    /// Writes row groups of rows, and returns the path of the file.
    fn written(directory: &Directory, groups: &[Vec<Cells>], key: Option<&Pseudonyms>) -> PathBuf {
        let columns = columns();
        let mut file = directory.begin(DAY, &columns).unwrap();
        let mut batch = Batch::new(&columns, key);
        for group in groups {
            for (time, text, number) in group {
                batch.push_number(0, *time);
                batch.push_text(1, text.as_deref());
                batch.push_number(2, *number);
            }
            assert_eq!(batch.is_empty(), group.is_empty());
            file.write(&mut batch).unwrap();
            assert!(batch.is_empty());
        }
        file.finish().unwrap();
        directory.file(DAY)
    }

    fn read(path: &Path) -> Vec<Cells> {
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let number = |field: &Field| match field {
            Field::Long(number) | Field::TimestampMicros(number) => Some(*number),
            _ => None,
        };
        let cells = |row: parquet::record::Row| {
            let fields: Vec<_> = row.get_column_iter().map(|(_, field)| field).collect();
            let text = match fields[1] {
                Field::Str(text) => Some(text.clone()),
                _ => None,
            };
            (number(fields[0]), text, number(fields[2]))
        };
        let rows = reader.get_row_iter(None).unwrap();
        rows.map(|row| cells(row.unwrap())).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_written_is_read(
            groups in prop::collection::vec(prop::collection::vec(any::<Cells>(), 1..50), 1..4),
            // Few texts, which rows have in common, and long ones.
            names in prop::collection::vec(".{0,9}|[\\x00-\\x7f\u{202e}]{3000}", 3),
        ) {
            let groups: Vec<Vec<Cells>> = groups.into_iter().map(|group| {
                let known = |(time, text, number): Cells| match number {
                    Some(at) if at % 2 == 0 => (time, Some(names[at.unsigned_abs() as usize % 3].clone()), number),
                    _ => (time, text, number),
                };
                group.into_iter().map(known).collect()
            }).collect();
            let directory = tempfile::tempdir().unwrap();
            let directory = Directory::open(directory.path(), "any".to_owned()).unwrap();
            prop_assert_eq!(read(&written(&directory, &groups, None)), groups.concat());
        }
    }

    #[test]
    fn pseudonyms_are_written_of_personal_columns_only() {
        let place = tempfile::tempdir().unwrap();
        let key = Pseudonyms::open(&place.path().join("key")).unwrap();
        let directory = Directory::open(place.path(), "any".to_owned()).unwrap();
        let rows = vec![
            (None, None, None),
            (Some(5), Some("1:n01".to_owned()), Some(7)),
        ];
        let hidden = key.text("entry", b"1:n01");
        assert_eq!(
            read(&written(&directory, &[rows], Some(&key))),
            [(None, None, None), (Some(5), Some(hidden), Some(7))]
        );
    }

    #[test]
    fn a_file_that_is_not_finished_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path(), "any".to_owned()).unwrap();
        let file = directory.begin(DAY, &columns()).unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
        drop(file);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
        assert!(!directory.has(DAY).unwrap());
    }

    #[test]
    fn a_link_in_the_place_of_the_lock_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("target");
        fs::write(&target, "text").unwrap();
        let lock = place.path().join(".lock");
        std::os::unix::fs::symlink(&target, &lock).unwrap();
        let opened = Directory::open(place.path(), "any".to_owned());
        assert!(matches!(opened, Err(Error::File(FileError { path, .. })) if path == lock));
        assert_eq!(fs::read_to_string(&target).unwrap(), "text");
    }

    #[test]
    fn an_export_knows_its_own_files() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path(), "one".to_owned()).unwrap();
        written(&directory, &[vec![(Some(1), None, None)]], None);
        assert!(directory.has(DAY).unwrap());
        let again = Directory::open(place.path(), "one".to_owned());
        assert_eq!(again.err().map(|it| it.code()), Some(exit::LATER));
        drop(directory);
        let other = Directory::open(place.path(), "other".to_owned()).unwrap();
        assert!(matches!(other.has(DAY), Err(Error::Usage(_))));
    }
}
