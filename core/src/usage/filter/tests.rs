use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::base::pattern::exactly;
use crate::usage::Condition;
use crate::usage::dimension::DIMENSIONS;

/// Returns whether a condition lets a value through.
fn lets(wanted: Matcher, value: Option<&str>) -> bool {
    Condition::new(&DIMENSIONS[0], wanted, [], false).lets(value, None)
}

fn said(text: &str) -> Value {
    Value::Object(read(text).unwrap())
}

#[test]
fn blanks_are_and_commas_are_or_and_nothing_is_none() {
    assert_eq!(said(""), json!({}));
    assert_eq!(
        said("  user=jan \n target=a-OST*,a-MDT0000 "),
        json!({"user": "jan", "target": ["a-OST*", "a-MDT0000"]})
    );
    assert_eq!(said("account="), json!({"account": null}));
    assert_eq!(
        said("account=,a user=b"),
        json!({"account": [null, "a"], "user": "b"})
    );
    assert_eq!(
        said("job=a=b uid=1000"),
        json!({"job": "a=b", "uid": "1000"})
    );
    assert_eq!(
        said(r#"{"uid": [1000, null], "job": "a"}"#),
        json!({"uid": [1000, null], "job": "a"})
    );
}

#[test]
fn quotes_hold_everything() {
    assert_eq!(
        said(r#"job_name="a b, c=d",e"#),
        json!({"job_name": ["a b, c=d", "e"]})
    );
    assert_eq!(
        said(r"job=\*,[x],'a'"),
        json!({"job": [r"\*", "[x]", "'a'"]})
    );
}

#[test]
fn what_is_no_filter_says_how_to_write_one() {
    #[rustfmt::skip]
    let cases = [
        ("usr=jan", FilterError::Key("usr".into()), "user"),
        ("user!=jan", FilterError::Key("user!".into()), "leave values out, use exclude => 'user=jan'"),
        ("user=jan,", FilterError::Comma("user".into()), "one,two"),
        ("user=jan,kind=OST", FilterError::Comma("user".into()), "keys by blanks"),
        ("xyzzy=1", FilterError::Key("xyzzy".into()), "Valid keys are cluster"),
        (r#"{"others": 49}"#, FilterError::NoGroup("others".into()), "labels"),
        ("untracked=true", FilterError::NoGroup("untracked".into()), "labels"),
        ("user=a user=b", FilterError::Twice("user".into()), "user=one,two"),
        ("jan", FilterError::Word("jan".into()), "user=jan"),
        ("user=a, b", FilterError::Comma("user".into()), "one,two"),
        ("user=\"a", FilterError::Quote, "double"),
        ("user=\"a\"b", FilterError::Quote, "double"),
        ("user=a\"b", FilterError::Quote, "double"),
        ("user=a%", FilterError::Percent("user".into()), "user=\"50%\""),
        ("{\"user\": true}", FilterError::Value("user".into()), "null"),
        ("{\"user\": [[]]}", FilterError::Value("user".into()), "null"),
    ];
    for (text, error, hint) in cases {
        let found = read(text).unwrap_err();
        assert_eq!(found, error, "{text}");
        assert!(found.hint().contains(hint), "{text}: {}", found.hint());
    }
    assert!(matches!(read("{"), Err(FilterError::Json(_))));
    assert_eq!(checked(json!([])), Err(FilterError::NoObject));
}

#[test]
fn values_are_compared_as_text() {
    let wanted = |key: &str, value: Value| Matcher::of(Dimension::find(key).unwrap(), &value);
    assert_eq!(
        wanted("uid", json!(["1000", 7])).unwrap().numbers,
        Some(vec![1000, 7])
    );
    assert_eq!(wanted("uid", json!("10*")).unwrap().numbers, None);
    assert_eq!(wanted("uid", json!("01")).unwrap().numbers, None);
    assert_eq!(wanted("job", json!(["a", "*"])), None);
    assert!(lets(wanted("kind", json!("ost")).unwrap(), Some("OST")));
    assert!(!lets(wanted("job", json!("a")).unwrap(), Some("A")));
    assert!(lets(wanted("account", json!(null)).unwrap(), None));
    assert!(lets(wanted("cluster", json!(null)).unwrap(), Some("")));
    assert!(!lets(wanted("account", json!([])).unwrap(), Some("a")));
}

#[test]
fn every_dimension_says_what_it_is() {
    for (n, dimension) in DIMENSIONS.iter().enumerate() {
        assert!(
            dimension.meaning.ends_with('.') && dimension.meaning.len() <= 110,
            "{}",
            dimension.name
        );
        assert!(DIMENSIONS[..n].iter().all(|it| it.name != dimension.name));
    }
}

proptest! {
    #[test]
    fn the_label_of_a_name_is_a_filter_for_it_alone(name in ".*", other in ".*") {
        let filter = json!({"job_name": exactly(&name)});
        let read = read(&filter.to_string()).unwrap();
        let wanted = Matcher::of(Dimension::find("job_name").unwrap(), &read["job_name"]).unwrap();
        prop_assert!(lets(wanted.clone(), Some(&name)));
        prop_assert!(name == other || !lets(wanted, Some(&other)));
    }

    #[test]
    fn text_in_quotes_is_the_value(names in prop::collection::vec(".*", 1..4)) {
        let quoted: Vec<_> = names.iter().map(|it| format!("\"{}\"", it.replace('"', "\"\""))).collect();
        let read = read(&format!("job_name={} user=jan", quoted.join(","))).unwrap();
        let expected = match names.as_slice() {
            [name] => json!(name),
            names => json!(names),
        };
        prop_assert_eq!(&read["job_name"], &expected);
    }

    #[test]
    fn what_is_read_is_read_again_and_all_else_has_a_hint(text in r#"[a-z]{0,4}(=|=[a*%\\",{} ]{0,6}|[ ,"'\\\[{:]|.){0,9}"#) {
        match read(&text) {
            Ok(filter) => prop_assert_eq!(read(&Value::Object(filter.clone()).to_string()).unwrap(), filter),
            Err(error) => prop_assert!(!error.hint().is_empty()),
        }
    }
}
