use proptest::prelude::*;

use super::*;
use crate::base::operation;

/// Packs details that are written as JSON.
pub fn packed(json: &str) -> Vec<u8> {
    let Ok(Value::Object(operations)) = serde_json::from_str(json) else {
        panic!("{json} is no object");
    };
    let details: Details = operations
        .iter()
        .map(|it| (named(it.0), of(it.1)))
        .collect();
    pack(&details).unwrap_or_default()
}

/// Shows packed details as JSON, without the zeros at the end of histograms.
pub fn shown(detail: &Option<Vec<u8>>) -> String {
    let json = json(detail.as_ref().expect("details"));
    let mut text = json.expect("packed details").to_string();
    while text.contains(",0]") {
        text = text.replace(",0]", "]");
    }
    text
}

fn named(name: &str) -> OperationName<'static> {
    match operation::find(name.as_bytes()) {
        Some(index) => OperationName::Listed(index),
        None => OperationName::Other(name.to_owned().into()),
    }
}

impl Detail {
    fn of(
        [min, max, sumsq, samples, sum]: [Option<u64>; NUMBERS.len()],
        hist: Option<Box<[u64; HISTOGRAM_LEN]>>,
        unit: Option<Unit>,
    ) -> Self {
        Self {
            hist,
            max,
            min,
            samples,
            sum,
            sumsq,
            unit,
        }
    }
}

fn of(values: &Value) -> Detail {
    let numbers = NUMBERS.map(|name| values[name].as_u64());
    let hist = values["hist"].as_array().map(|elements| {
        let mut hist = Box::new([0; HISTOGRAM_LEN]);
        let elements = elements.iter().filter_map(Value::as_u64);
        hist.iter_mut()
            .zip(elements)
            .for_each(|(own, it)| *own = it);
        hist
    });
    let unit = values["unit"].as_str().and_then(Unit::find);
    Detail::of(numbers, hist, unit)
}

#[test]
fn stores_have_this_form() {
    // open is the fifth operation, close the sixth.
    let json =
        r#"{"close":{},"fly":{"samples":2,"unit":"usecs"},"open":{"max":9,"min":1,"sumsq":300}}"#;
    let bytes = b"\x05\x07\x01\x09\xac\x02\x06\x00\x00\x03fly\x28\x02\x02";
    assert_eq!(packed(json), bytes);
    assert_eq!(shown(&Some(bytes.to_vec())), json);
    let mut sizes = [0; 2 * HISTOGRAM_LEN];
    (sizes[12], sizes[HISTOGRAM_LEN]) = (3, 300);
    assert_eq!(pack_sizes(&sizes), b"\x0d\x03\x14\xac\x02\x00");
}

#[test]
fn positions_of_stored_operations_do_not_change() {
    let names = OPERATIONS.iter().map(|it| it.name);
    let known = "read_bytes write_bytes read write open close mknod link unlink mkdir rmdir rename getattr setattr getxattr setxattr \
        statfs sync samedir_rename crossdir_rename punch migrate fallocate parallel_rename_file parallel_rename_dir \
        rename_trylocks readpage destroy create get_info set_info quotactl prealloc";
    assert!(
        names
            .zip(known.split_whitespace())
            .all(|(own, it)| own == it)
    );
}

#[test]
fn bytes_of_another_form_are_refused() {
    let position = OPERATIONS.len() as u8 + 1;
    let wrong: [&[u8]; 12] = [
        b"\x05",
        b"\x05\x01",
        b"\x05\x01\x80",
        b"\x05\x01\x81\x00",
        b"\x05\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00",
        b"\x00\x03fl",
        b"\x00\x01\xff\x00",
        b"\x00\x01b\x00\x00\x01a\x00",
        b"\x00\x01b\x00\x05\x00",
        b"\x05\x80\x04",
        &[position, 0],
    ];
    for bytes in wrong {
        assert_eq!(unpack(bytes), None, "{bytes:?}");
    }
    for bytes in [
        &b""[..],
        b"\x01",
        b"\x01\x00\x00",
        b"\x41\x01\x00",
        b"\x00\x00",
    ] {
        assert_eq!(unpack_sizes(bytes), None, "{bytes:?}");
    }
}

fn number() -> impl Strategy<Value = Option<u64>> {
    prop::option::of(prop_oneof![0..300_u64, any::<u64>(), Just(u64::MAX)])
}

fn growth() -> impl Strategy<Value = u64> {
    prop_oneof![3 => Just(0), 1 => any::<u64>()]
}

fn detail() -> impl Strategy<Value = Detail> {
    let unit = prop::option::of(prop::sample::select(UNITS.to_vec()));
    let hist = prop::option::of(prop::array::uniform32(growth()).prop_map(Box::new));
    (prop::array::uniform5(number()), hist, unit)
        .prop_map(|(numbers, hist, unit)| Detail::of(numbers, hist, unit))
}

fn details() -> impl Strategy<Value = Details> {
    let name = prop_oneof![
        (0..OPERATIONS.len()).prop_map(OperationName::Listed),
        "[a-zß]{0,9}".prop_map(|name| OperationName::Other(name.into())),
    ];
    prop::collection::btree_map(name, detail(), 1..9)
}

proptest! {
    #[test]
    fn what_is_packed_is_unpacked(details in details()) {
        let bytes = pack(&details).expect("details");
        prop_assert_eq!(unpack(&bytes), Some(details));
    }

    #[test]
    fn sizes_that_are_packed_are_unpacked(reads in prop::array::uniform32(growth()), writes in prop::array::uniform32(growth())) {
        let mut sizes = [0; 2 * HISTOGRAM_LEN];
        let grown = reads.into_iter().chain(writes).map(u64::cast_signed);
        sizes.iter_mut().zip(grown).for_each(|(own, it)| *own = it);
        prop_assert_eq!(unpack_sizes(&pack_sizes(&sizes)), Some(sizes));
    }

    /// Equal details have equal bytes.
    #[test]
    fn each_value_has_one_form(bytes in prop::collection::vec(prop_oneof![0..9_u8, any::<u8>()], 1..12)) {
        if let Some(details) = unpack(&bytes) {
            prop_assert_eq!(pack(&details), Some(bytes.clone()));
        }
        if let Some(sizes) = unpack_sizes(&bytes) {
            prop_assert_eq!(pack_sizes(&sizes), bytes);
        }
    }
}
