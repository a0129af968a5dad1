use std::io::Write;

use tempfile::NamedTempFile;

use super::*;
use crate::lustre::Layout;
use crate::time::SECOND;
use crate::world::Preset;

fn table(rows: &str) -> Result<Labels, Failure> {
    let cluster = Cluster::new(Preset::Small, "small", 1, Layout::V2_16, 1.0);
    let mut file = NamedTempFile::new().unwrap();
    write!(file, "server,label,time\n{rows}").unwrap();
    read(file.path(), &cluster)
}

#[test]
fn a_label_has_a_true_time() {
    let labels = table("small-oss1,2025-06-01T01:00:00Z,2025-06-01T00:00:00Z\n").unwrap();
    let label = "2025-06-01T01:00:00Z".parse().unwrap();
    let due = labels[&(1, label)];
    assert_eq!(due.label - due.time, 3600 * SECOND);
}

#[test]
fn servers_and_times_must_be_there() {
    for row in [
        "nobody,2025-06-01T01:00:00Z,2025-06-01T00:00:00Z",
        "small-oss1,yesterday,2025-06-01T00:00:00Z",
    ] {
        let refused = table(row).unwrap_err().to_string();
        assert!(refused.contains(": label 1: unknown"), "{refused}");
    }
}
