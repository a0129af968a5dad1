use std::time::Duration;

use jobstats_client::spool::Covers;
use serde_json::Value;

use super::*;
use crate::frame::{LCTL, Recorder, ServerName};

fn server_name() -> ServerName {
    ServerName {
        cluster: "Tähti \"1\"".to_owned(),
        server: "oss1\\".to_owned(),
    }
}

/// Reads the texts, all of one reading, as PostgREST does.
fn sent(reading: &Reading) -> Vec<Value> {
    let texts: Vec<_> = reading.index.texts.iter().collect();
    let mut body = Body::new(reading, &texts);
    let mut json = Vec::new();
    body.read_to_end(&mut json).unwrap();
    assert_eq!(json.len() as u64, body.length);
    assert!(body.failure.is_none());
    serde_json::from_slice(&json).unwrap()
}

fn recorded(text: &str) -> Reading {
    let mut recorder = Recorder::of(&server_name(), LCTL, 1 << 30);
    recorder
        .push(text.as_bytes(), Duration::from_micros(1_000_007))
        .unwrap();
    recorder.finish().unwrap()
}

#[test]
fn an_object_has_the_columns_and_the_compressed_text() {
    let text = "mdt.fs-MDT0000.job_stats=\n- job_id: ä\n";
    let objects = sent(&recorded(text));
    assert_eq!(objects.len(), 1);
    let columns: Vec<_> = objects[0].as_object().unwrap().keys().cloned().collect();
    let mut named: Vec<_> = COLUMNS.split(',').collect();
    named.sort_unstable();
    assert_eq!(columns, named);
    assert_eq!(objects[0]["cluster"], "Tähti \"1\"");
    assert_eq!(objects[0]["server"], "oss1\\");
    assert_eq!(objects[0]["shipper"], SHIPPER);
    assert_eq!(objects[0]["duration"], "1.000007 seconds");
    let time: Timestamp = objects[0]["time"].as_str().unwrap().parse().unwrap();
    assert_eq!(time.as_nanosecond() % 1000, 0);
    assert_eq!(unpacked(&objects[0]), text);
}

#[test]
fn text_of_another_source_names_it_and_what_it_covers() {
    let mut recorder = Recorder::of(&server_name(), "passwd", 1 << 30);
    recorder
        .push(b"mdt.a.job_stats=\n", Duration::ZERO)
        .unwrap();
    let mut reading = recorder.finish().unwrap();
    let object = &sent(&reading)[0];
    assert_eq!(object["source"], "passwd");
    assert_eq!(object["covers"], Value::Null);
    reading.index.covers = Some(Covers {
        since: "2026-01-31T11:40:00Z".parse().unwrap(),
        until: "2026-01-31T12:00:00.5Z".parse().unwrap(),
    });
    let object = &sent(&reading)[0];
    assert_eq!(
        object["covers"],
        "[2026-01-31T11:40:00Z,2026-01-31T12:00:00.5Z)"
    );
    assert_eq!(unpacked(object), "mdt.a.job_stats=\n");
}

#[test]
fn there_is_an_object_for_each_text() {
    let text = |target| format!("mdt.fs-MDT000{target}.job_stats=\n- job_id: {target}\n");
    let objects = sent(&recorded(&(0..9).map(text).collect::<String>()));
    let texts: Vec<_> = objects.iter().map(unpacked).collect();
    assert_eq!(texts, (0..9).map(text).collect::<Vec<_>>());
}

#[test]
fn a_text_of_many_pieces_is_whole() {
    let mut random = fastrand::Rng::with_seed(1);
    let noise: String = (0..20_000)
        .map(|_| format!("{:016x}\n", random.u64(..)))
        .collect();
    let text = format!("mdt.fs-MDT0000.job_stats=\n{noise}");
    let reading = recorded(&text);
    assert!(reading.packed_bytes() > 3 * PIECE as u64);
    assert_eq!(unpacked(&sent(&reading)[0]), text);
}

#[test]
fn a_duration_that_was_not_measured_is_null() {
    let mut reading = recorded("mdt.fs-MDT0000.job_stats=\n");
    reading.made_at("2026-01-31T12:00:00.000001Z".parse().unwrap());
    let object = &sent(&reading)[0];
    assert_eq!(object["duration"], Value::Null);
    assert_eq!(object["time"], "2026-01-31T12:00:00.000001Z");
}

fn unpacked(object: &Value) -> String {
    let hex = object["body_zstd"]
        .as_str()
        .unwrap()
        .strip_prefix("\\x")
        .unwrap();
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    let packed: Vec<_> = (0..hex.len()).step_by(2).map(byte).collect();
    String::from_utf8(zstd::stream::decode_all(packed.as_slice()).unwrap()).unwrap()
}
