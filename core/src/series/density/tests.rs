use num_bigint::BigUint;
use proptest::prelude::*;

use super::*;

fn density(base: i32, values: &[f64]) -> Density {
    let mut density = Density::new_in(base, Global).unwrap();
    values.iter().for_each(|&it| density.push(it).unwrap());
    density
}

fn buckets(base: i32, values: &[f64]) -> std::vec::Vec<(i32, u64)> {
    let density = density(base, values);
    let pairs = density.buckets().iter().map(|it| (it.bucket, it.count));
    pairs.collect()
}

fn bases() -> impl Iterator<Item = &'static Edges> {
    (MIN_BASE..=MAX_BASE).map(|base| Edges::of(base).unwrap())
}

mod edges {
    use super::*;

    /// Returns mantissa and exponent of a double, which is mantissa · 2^exponent.
    fn parts(value: f64) -> (u64, i32) {
        let bits = value.to_bits();
        let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
        if exponent == 0 {
            (fraction, -1074)
        } else {
            (fraction | 1 << 52, exponent - 1075)
        }
    }

    /// Returns true if `value` is a double nearest to numerator/denominator, in exact arithmetic.
    fn is_nearest(value: f64, numerator: &BigUint, denominator: &BigUint) -> bool {
        let (mantissa, exponent) = parts(value);
        // value = mantissa · 2^exponent, so that halves of the last digit are whole in units of 2^(exponent − 1). Below
        // a power of two the next double is nearer, which the exact tests of powers of two check.
        let unit = exponent - 1;
        let up = unit.max(0) as u32;
        let down = (-unit).max(0) as u32;
        let scaled = numerator << down;
        let of = |halves: u64| (denominator * BigUint::from(halves)) << up;
        of(2 * mantissa - 1) <= scaled && scaled <= of(2 * mantissa + 1)
    }

    #[test]
    fn of_every_bucket_is_the_double_nearest_to_the_power() {
        let one = BigUint::from(1u8);
        for edges in bases() {
            let (first, last) = edges.buckets();
            let powers: std::vec::Vec<_> =
                std::iter::successors(Some(one.clone()), |power| Some(power * edges.base))
                    .take(1100)
                    .collect();
            for bucket in first..=last {
                let lower = edges.lower(bucket);
                let power = &powers[bucket.unsigned_abs() as usize];
                let nearest = match bucket {
                    // The power is half of the smallest double, or less.
                    _ if lower == 0.0 => *power >= one.clone() << 1075u32,
                    0.. => is_nearest(lower, power, &one),
                    _ => is_nearest(lower, &one, power),
                };
                assert!(nearest, "{}^{bucket} is not {lower:e}", edges.base);
            }
        }
    }

    #[test]
    fn of_powers_of_two_are_exact() {
        for (base, power) in [(2, 1), (4, 2), (8, 3), (16, 4), (32, 5), (64, 6)] {
            let edges = Edges::of(base).unwrap();
            let (first, last) = edges.buckets();
            assert_eq!(first, (-1074_i32).div_euclid(power));
            assert_eq!(last, 1023 / power);
            for bucket in (first + 1)..=last {
                let exact = match bucket * power {
                    below @ ..-1022 => f64::from_bits(1 << (below + 1074)),
                    exponent => f64::from_bits(((exponent + 1023) as u64) << 52),
                };
                assert_eq!(edges.lower(bucket), exact);
            }
        }
    }

    #[test]
    fn belong_to_the_bucket_that_begins_there() {
        for edges in bases() {
            let (first, last) = edges.buckets();
            for bucket in (first + 1)..=last {
                let edge = edges.lower(bucket);
                assert_eq!(edges.bucket(edge), bucket);
                assert_eq!(edges.bucket(edge.next_up()), bucket);
                assert_eq!(edges.bucket(edge.next_down()), bucket - 1);
                assert_eq!(edges.upper(bucket - 1), edge);
            }
        }
    }

    #[test]
    fn cover_all_doubles_above_zero() {
        for edges in bases() {
            let (first, last) = edges.buckets();
            assert!(edges.lower(first) <= f64::from_bits(1));
            assert!(edges.lower(first + 1) > f64::from_bits(1));
            assert!(edges.lower(last).is_finite());
            assert_eq!(edges.upper(last), f64::INFINITY);
        }
    }

    #[test]
    fn are_there_for_bases_from_2_to_100() {
        for base in [i32::MIN, -10, 0, 1, 101, i32::MAX] {
            assert!(Edges::of(base).is_none(), "{base}");
        }
        assert_eq!(bases().count(), 99);
    }
}

#[test]
fn a_thousand_is_in_bucket_3() {
    assert_eq!(
        buckets(10, &[1000.0, 999.999_999, 1e-3, 0.000_999, 1.0, 9.99]),
        [(-4, 1), (-3, 1), (0, 2), (2, 1), (3, 1)]
    );
}

#[test]
fn zeros_are_counted_apart() {
    let density = density(10, &[0.0, -0.0, 5.0]);
    assert_eq!((density.zeros(), density.count()), (2, 1));
    assert_eq!(
        density.buckets(),
        [Bucket {
            bucket: 0,
            count: 1
        }]
    );
}

#[test]
fn what_has_no_power_below_or_above_is_an_error() {
    let mut density = density(10, &[1.0]);
    for value in [
        -1.0,
        -f64::from_bits(1),
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ] {
        let error = density.push(value).unwrap_err();
        assert!(matches!(error, DensityError::Value(_)), "{value}");
    }
    assert_eq!(density.count(), 1);
}

#[test]
fn bases_are_not_mixed() {
    let mut ten = density(10, &[1.0]);
    let error = ten.merge(&density(2, &[1.0])).unwrap_err();
    assert!(matches!(error, DensityError::Bases(10, 2)));
    assert_eq!(ten.count(), 1);
}

#[test]
fn counts_end_where_bigint_ends() {
    let mut full = Density::from_text("v1 base=10 zeros=1 0:9223372036854775806").unwrap();
    assert_eq!((full.zeros(), full.count()), (1, i64::MAX as u64 - 1));
    assert!(matches!(full.push(0.0), Err(DensityError::TooMany)));
    assert!(matches!(full.push(3.0), Err(DensityError::TooMany)));
    assert!(matches!(full.push(30.0), Err(DensityError::TooMany)));
    let one = density(10, &[3.0]);
    assert!(matches!(full.merge(&one), Err(DensityError::TooMany)));
    assert_eq!(full.to_string(), "v1 base=10 zeros=1 0:9223372036854775806");
}

mod encoding {
    use super::*;

    const TEXT: &str = "v1 base=10 zeros=3 -324:1 -1:1 0:2 308:1";

    fn example() -> Density {
        density(10, &[0.0, 1.5, f64::MAX, 0.0, 0.5, 2.0, 5e-324, -0.0])
    }

    #[test]
    fn text_is_golden() {
        assert_eq!(example().to_string(), TEXT);
        assert_eq!(Density::from_text(TEXT).unwrap(), example());
        assert_eq!(density(2, &[]).to_string(), "v1 base=2 zeros=0");
    }

    #[test]
    fn bytes_are_golden() {
        let bytes = [
            [1, 10, 3, 0, 0, 0, 0, 0, 0, 0],
            [0xbc, 0xfe, 1, 0, 0, 0, 0, 0, 0, 0],
            [0xff, 0xff, 1, 0, 0, 0, 0, 0, 0, 0],
            [0, 0, 2, 0, 0, 0, 0, 0, 0, 0],
            [0x34, 1, 1, 0, 0, 0, 0, 0, 0, 0],
        ]
        .concat();
        assert_eq!(example().to_bytes(), bytes);
        assert_eq!(Density::from_bytes(&bytes).unwrap(), example());
    }

    #[test]
    fn the_example_that_errors_show_is_text() {
        assert!(Density::from_text(TEXT_EXAMPLE).is_ok());
    }

    #[test]
    fn other_text_is_an_error() {
        for text in [
            "",
            "v1",
            "v2 base=10 zeros=3",
            "v1 base=10",
            "v1 zeros=3 base=10",
            "v1 base=10 zeros=-1",
            "v1 base=10 zeros=+1",
            "v1 base=010 zeros=1",
            "v1 base=10 zeros=1 ",
            " v1 base=10 zeros=1",
            "v1  base=10 zeros=1",
            "v1 base=10 zeros=1\n",
            "v1x base=10 zeros=1",
            "v1 base=10 zeros=1 0",
            "v1 base=10 zeros=1 0:0",
            "v1 base=10 zeros=1 0:-1",
            "v1 base=10 zeros=1 -0:1",
            "v1 base=10 zeros=1 0:1:1",
            "v1 base=10 zeros=1 1:1 0:1",
            "v1 base=10 zeros=1 1:1 1:1",
            "v1 base=10 zeros=1 309:1",
            "v1 base=10 zeros=1 -325:1",
            "v1 base=10 zeros=18446744073709551616",
        ] {
            let error = Density::from_text(text).unwrap_err();
            assert!(matches!(error, DensityError::Text), "{text:?}: {error}");
        }
        let error = Density::from_text("v1 base=101 zeros=0").unwrap_err();
        assert!(matches!(error, DensityError::Base(101)));
        let error = Density::from_text("v1 base=10 zeros=9223372036854775808").unwrap_err();
        assert!(matches!(error, DensityError::TooMany));
    }

    proptest! {
        #[test]
        fn round_trips(density in any_density()) {
            prop_assert_eq!(&Density::from_text(&density.to_string()).unwrap(), &density);
            prop_assert_eq!(&Density::from_bytes(&density.to_bytes()).unwrap(), &density);
        }

        #[test]
        fn damaged_bytes_are_an_error_or_another_density(
            density in any_density(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            cut in prop::option::of(any::<prop::sample::Index>()),
        ) {
            let mut bytes = density.to_bytes();
            for (index, byte) in changes {
                *index.get_mut(&mut bytes[..]) = byte;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            if let Ok(read) = Density::from_bytes(&bytes) {
                prop_assert_eq!(read.to_bytes(), bytes);
                prop_assert_eq!(&Density::from_text(&read.to_string()).unwrap(), &read);
            }
        }
    }
}

fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        0.001..1e6_f64,
        any::<f64>()
            .prop_map(f64::abs)
            .prop_filter("finite", |it| it.is_finite()),
    ]
}

fn any_base() -> impl Strategy<Value = i32> {
    prop_oneof![Just(10), MIN_BASE..=MAX_BASE]
}

fn any_density() -> impl Strategy<Value = Density> {
    (any_base(), prop::collection::vec(any_value(), 0..20))
        .prop_map(|(base, values)| density(base, &values))
}

proptest! {
    #[test]
    fn order_of_input_does_not_matter(
        base in any_base(),
        (values, shuffled) in prop::collection::vec(any_value(), 0..20)
            .prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle())),
    ) {
        prop_assert_eq!(density(base, &values), density(base, &shuffled));
    }

    #[test]
    fn rollup_of_any_split_equals_the_whole(
        base in any_base(),
        values in prop::collection::vec((0..3_usize, any_value()), 0..20),
    ) {
        let mut rollup = density(base, &[]);
        for part in 0..3 {
            let part = values.iter().filter(|it| it.0 == part).map(|it| it.1);
            rollup.merge(&density(base, &part.collect::<std::vec::Vec<_>>())).unwrap();
        }
        let all: std::vec::Vec<_> = values.iter().map(|it| it.1).collect();
        prop_assert_eq!(rollup, density(base, &all));
    }

    #[test]
    fn every_value_is_counted_once(base in any_base(), values in prop::collection::vec(any_value(), 0..50)) {
        let density = density(base, &values);
        let in_buckets: u64 = density.buckets().iter().map(|it| it.count).sum();
        prop_assert_eq!(in_buckets, density.count());
        prop_assert_eq!(density.count() + density.zeros(), values.len() as u64);
    }
}
