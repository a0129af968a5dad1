use jobstats_core::base::operation::{Kind, OPERATIONS, Operation};

fn names(is: impl Fn(&Operation) -> bool) -> Vec<&'static str> {
    let operations = OPERATIONS.iter().filter(|operation| is(operation));
    operations.map(|operation| operation.name).collect()
}

#[test]
fn rule_11_metadata_is_the_sum_of_these() {
    let mut metadata = names(|operation| operation.metadata && operation.mdt);
    metadata.sort_unstable();
    let mut documented = [
        "open", "close", "link", "unlink", "mkdir", "rmdir", "rename", "getattr", "setattr",
        "getxattr", "setxattr", "statfs", "sync", "migrate", "readpage",
    ];
    documented.sort_unstable();
    assert_eq!(metadata, documented);
}

#[test]
fn rule_11_no_operation_of_metadata_counts_in_another_one() {
    assert_eq!(
        names(|operation| operation.metadata && operation.doubles.is_some()),
        [""; 0]
    );
}

#[test]
fn rule_11_bytes_are_counted_by_calls_of_another_operation() {
    assert_eq!(
        names(|operation| operation.kind == Kind::Bytes && operation.doubles.is_none()),
        [""; 0]
    );
}
