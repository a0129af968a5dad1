use std::fs;
use std::io::Cursor;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

const TEXTS: [&str; 2] = [
    "mdt.fs-MDT0000.job_stats=job_stats:\n",
    "mdt.fs-MDT0001.job_stats=\njob_stats:\n- job_id: a\n",
];

/// Makes an index and its data of these texts.
pub fn sample(texts: &[&str]) -> (Index, Vec<u8>) {
    let mut data = Vec::new();
    let mut entries = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let start = data.len() as u64;
        data.extend(zstd::stream::encode_all(text.as_bytes(), 1).unwrap());
        entries.push(Text {
            name: Some(format!("mdt.fs-MDT{number:04x}")),
            time: "2026-01-31T12:00:00.123456Z".parse().unwrap(),
            duration: (number == 0).then_some(Duration::from_micros(1234)),
            bytes: text.len() as u64,
            frames: std::iter::once(start..data.len() as u64).collect(),
        });
    }
    let index = Index {
        sequence: 42,
        source: "lctl".to_owned(),
        covers: None,
        cluster: "puhti".to_owned(),
        server: "mds1".to_owned(),
        texts: entries,
        data: Data {
            bytes: data.len() as u64,
            checksum: xxh3_64(&data),
        },
    };
    (index, data)
}

fn file(texts: &[&str]) -> Vec<u8> {
    let (index, data) = sample(texts);
    let mut file = Vec::new();
    write(&index, &mut data.as_slice(), &mut file).unwrap();
    file
}

/// Returns the head of a file, if it is not damaged.
fn head(bytes: &[u8]) -> Result<Index, SpoolError> {
    check(&mut Cursor::new(bytes), bytes.len() as u64).map(|(index, _)| index)
}

fn open(bytes: &[u8]) -> Result<SpoolFile, SpoolError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    SpoolFile::open(file.path())
}

#[test]
fn what_was_written_is_read() {
    let opened = open(&file(&TEXTS)).unwrap();
    assert_eq!(opened.index, sample(&TEXTS).0);
    for (text, expected) in opened.index.texts.iter().zip(TEXTS) {
        let packed = opened.packed(text).unwrap();
        assert_eq!(packed.len() as u64, text.packed_bytes());
        assert_eq!(
            zstd::stream::decode_all(packed.as_slice()).unwrap(),
            expected.as_bytes()
        );
    }
}

#[test]
fn decompressors_see_the_text_alone() {
    let text = zstd::stream::decode_all(file(&TEXTS).as_slice()).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), TEXTS.concat());
}

#[test]
fn the_beginning_is_what_the_documentation_says() {
    let file = file(&TEXTS);
    assert_eq!(file[..4], [0x50, 0x2a, 0x4d, 0x18]);
    assert_eq!(&file[8..24], b"jobstats spool 1");
    let size = u32::from_le_bytes(file[4..8].try_into().unwrap()) as usize;
    let json = str::from_utf8(&file[32..8 + size]).unwrap();
    assert!(
        json.starts_with(
            r#"{"sequence":42,"source":"lctl","cluster":"puhti","server":"mds1","texts":[{"name":"mdt.fs-MDT0000","time_us":1769860800123456,"duration_us":1234,"bytes":36,"frames":[{"start":0,"end":"#
        ),
        "{json}"
    );
}

#[test]
fn a_span_that_the_texts_cover_is_kept() {
    let (mut index, data) = sample(&TEXTS);
    index.covers = Some(Covers {
        since: Timestamp::from_microsecond(-1).unwrap(),
        until: Timestamp::from_microsecond(1).unwrap(),
    });
    let mut file = Vec::new();
    write(&index, &mut data.as_slice(), &mut file).unwrap();
    assert_eq!(open(&file).unwrap().index, index);
}

#[test]
fn data_that_is_shorter_than_the_index_says_is_not_written() {
    let (index, data) = sample(&TEXTS);
    assert!(write(&index, &mut &data[1..], &mut Vec::new()).is_err());
}

/// Returns the head of a file whose texts have these frames, from their start to their end.
fn head_of(frames: [&[(u64, u64)]; 2]) -> Result<Index, SpoolError> {
    let (mut index, data) = sample(&TEXTS);
    for (text, frames) in index.texts.iter_mut().zip(frames) {
        text.frames = frames.iter().map(|(start, end)| *start..*end).collect();
    }
    let mut file = Vec::new();
    write(&index, &mut data.as_slice(), &mut file).unwrap();
    head(&file)
}

#[test]
fn no_byte_belongs_to_two_texts() {
    let end = sample(&TEXTS).0.data.bytes;
    // A target printed in two pieces has frames around the other target's.
    head_of([&[(0, 1), (2, 3)], &[(1, 2), (3, end)]]).unwrap();
    for frames in [
        [&[(0, end), (0, end)], &[] as &[_]],
        [&[(0, end)], &[(0, end)]],
        [&[(0, 2)], &[(1, 3)]],
        [&[(2, 3)], &[(0, end)]],
    ] {
        let error = head_of(frames).unwrap_err();
        assert!(
            matches!(error, SpoolError::Damaged("entries of its index overlap")),
            "{frames:?}: {error}"
        );
    }
    assert!(head_of([&[(0, end + 1)], &[]]).is_err_and(|error| error.is_damage()));
}

#[test]
fn every_changed_bit_and_every_cut_is_damage() {
    let whole = file(&TEXTS);
    for position in 0..whole.len() {
        assert!(
            head(&whole[..position]).is_err_and(|error| error.is_damage()),
            "cut at {position}"
        );
        for bit in 0..8 {
            let mut changed = whole.clone();
            changed[position] ^= 1 << bit;
            let damaged = head(&changed).is_err_and(|error| error.is_damage());
            assert!(damaged, "bit {bit} of byte {position}");
        }
    }
}

proptest! {
    /// Any change of a file is found or harmless.
    #[test]
    fn a_damaged_file_is_never_taken_for_another(
        cut in any::<prop::sample::Index>(),
        grown in prop::collection::vec(any::<u8>(), 0..40),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| file(&TEXTS));
        let whole = &*WHOLE;
        let mut changed = whole.clone();
        for (position, value) in changes {
            let position = position.index(changed.len());
            changed[position] = value;
        }
        changed.truncate(cut.index(whole.len() + 1));
        changed.extend(grown);
        match head(&changed) {
            Ok(_) => prop_assert_eq!(&changed, whole),
            Err(error) => prop_assert!(error.is_damage() && &changed != whole),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Any texts are read as they were written.
    #[test]
    fn any_reading_is_read_as_it_was_written(texts in prop::collection::vec(".{0,200}", 0..8)) {
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        let (index, data) = sample(&texts);
        prop_assert_eq!(&head(&file(&texts)).unwrap(), &index);
        for (entry, text) in index.texts.iter().zip(&texts) {
            let frame = entry.frames[0].start as usize..entry.frames[0].end as usize;
            prop_assert_eq!(zstd::stream::decode_all(&data[frame]).unwrap(), text.as_bytes());
        }
    }
}
