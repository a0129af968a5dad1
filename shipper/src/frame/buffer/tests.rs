use std::fs::OpenOptions;

use super::*;

/// Writes to `/dev/full`, which is always full and reads as zeros.
fn on_full_disk(most: u64) -> Writer {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/full")
        .unwrap();
    Writer {
        buffer: Buffer::File { file, start: 0 },
        ..Writer::new(most)
    }
}

fn content(buffer: &Buffer, length: u64) -> Vec<u8> {
    let mut bytes = vec![0; length as usize];
    buffer.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

fn check(mut writer: Writer) -> Buffer {
    writer.write_all(b"first ").unwrap();
    writer.write_all(b"second").unwrap();
    assert_eq!(writer.length, 12);
    let (buffer, data) = writer.finish();
    assert_eq!(content(&buffer, 12), b"first second");
    assert_eq!(data.bytes, 12);
    assert_eq!(data.checksum, xxhash_rust::xxh3::xxh3_64(b"first second"));
    buffer
}

#[test]
fn a_file_takes_what_is_written() {
    assert!(matches!(check(Writer::new(100)), Buffer::File { .. }));
}

#[test]
fn memory_takes_over_when_the_disk_is_full() {
    assert!(matches!(check(on_full_disk(100)), Buffer::Memory(_)));
}

#[test]
fn memory_is_limited() {
    let mut writer = on_full_disk(u64::MAX);
    let piece = vec![7; 1 << 20];
    (0..32).for_each(|_| writer.write_all(&piece).unwrap());
    assert_eq!(
        writer.write_all(&piece).unwrap_err().kind(),
        io::ErrorKind::StorageFull
    );
}

#[test]
fn a_reading_is_limited() {
    let mut writer = Writer::new(10);
    writer.write_all(b"0123456789").unwrap();
    let error = writer.write_all(b"0").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    assert!(error.to_string().contains("--max-reading"));
}
