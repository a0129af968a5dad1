use std::convert::Infallible;

use proptest::prelude::*;

use super::*;

/// Returns the parameters in order of arrival, each with its text, and true if the whole text was complete.
fn split(pieces: &[&[u8]]) -> (Vec<(String, String)>, bool) {
    let mut parts = Vec::new();
    let mut sink = |token: Token<'_>| {
        match token {
            Token::Begin { name, .. } => {
                parts.push((
                    format!("{} {:?}", name.target, name.parameter),
                    String::new(),
                ));
            }
            Token::Text(text) => {
                if parts.is_empty() {
                    parts.push(("-".to_owned(), String::new()));
                }
                parts
                    .last_mut()
                    .unwrap()
                    .1
                    .push_str(str::from_utf8(text).unwrap());
            }
        }
        Ok::<(), Infallible>(())
    };
    let mut splitter = Splitter::default();
    for piece in pieces {
        splitter.push(piece, &mut sink).unwrap();
    }
    let whole = splitter.finish(&mut sink).unwrap();
    (parts, whole)
}

macro_rules! splits {
    ($name:ident, $text:expr, [$($part:expr => $is:expr),* $(,)?]) => {
        #[test]
        fn $name() {
            let expected: Vec<(String, String)> = vec![$(($part.to_owned(), $is.to_owned())),*];
            assert_eq!(split(&[$text.as_bytes()]), (expected, true));
        }
    };
}

splits!(nothing, "", []);
splits!(
    each_target_apart,
    "mdt.fs-MDT0000.job_stats=\njob_stats:\n- job_id: a\nobdfilter.fs-OST000a.job_stats=\njob_stats:\n",
    [
        "mdt.fs-MDT0000 JobStats" => "mdt.fs-MDT0000.job_stats=\njob_stats:\n- job_id: a\n",
        "obdfilter.fs-OST000a JobStats" => "obdfilter.fs-OST000a.job_stats=\njob_stats:\n",
    ]
);
splits!(
    empty_targets_on_one_line,
    "obdfilter.fs-OST0000.job_stats=job_stats:\nobdfilter.fs-OST0001.job_stats=job_stats:\n",
    [
        "obdfilter.fs-OST0000 JobStats" => "obdfilter.fs-OST0000.job_stats=job_stats:\n",
        "obdfilter.fs-OST0001 JobStats" => "obdfilter.fs-OST0001.job_stats=job_stats:\n",
    ]
);
splits!(
    intervals,
    "mdt.fs-MDT0000.job_cleanup_interval=600\nmdt.fs-MDT0000.job_stats=\n- job_id: a\n",
    [
        "mdt.fs-MDT0000 CleanupInterval" => "mdt.fs-MDT0000.job_cleanup_interval=600\n",
        "mdt.fs-MDT0000 JobStats" => "mdt.fs-MDT0000.job_stats=\n- job_id: a\n",
    ]
);
splits!(
    a_name_on_every_line,
    "mdt.a-MDT0000.job_stats=job_stats:\nmdt.a-MDT0000.job_stats=- job_id: x\nmdt.b-MDT0000.job_stats=job_stats:\n",
    [
        "mdt.a-MDT0000 JobStats" => "mdt.a-MDT0000.job_stats=job_stats:\nmdt.a-MDT0000.job_stats=- job_id: x\n",
        "mdt.b-MDT0000 JobStats" => "mdt.b-MDT0000.job_stats=job_stats:\n",
    ]
);
splits!(
    colon_instead_of_equals,
    "mdt.a-MDT0000.job_stats: job_stats:\n- job_id: x\n",
    ["mdt.a-MDT0000 JobStats" => "mdt.a-MDT0000.job_stats: job_stats:\n- job_id: x\n"]
);
splits!(
    text_before_any_name,
    "job_stats:\n- job_id: x\nmdt.a-MDT0000.job_stats=\n",
    [
        "-" => "job_stats:\n- job_id: x\n",
        "mdt.a-MDT0000 JobStats" => "mdt.a-MDT0000.job_stats=\n",
    ]
);
splits!(no_name_at_all, "job_stats:\n- job_id: x\n", ["-" => "job_stats:\n- job_id: x\n"]);
splits!(
    other_parameters_stay_where_they_are,
    "mdt.a-MDT0000.job_stats=\nobdfilter.a-OST0000.stats=\nx\n",
    ["mdt.a-MDT0000 JobStats" => "mdt.a-MDT0000.job_stats=\nobdfilter.a-OST0000.stats=\nx\n"]
);
splits!(
    messages_are_no_names,
    "mdt.a-MDT0000.job_stats=\nerror: get_param: param_path 'obdfilter.x.job_stats': No\n",
    [
        "mdt.a-MDT0000 JobStats" =>
            "mdt.a-MDT0000.job_stats=\nerror: get_param: param_path 'obdfilter.x.job_stats': No\n",
    ]
);
splits!(
    a_name_in_an_identifier_is_none,
    "mdt.a-MDT0000.job_stats=\n- job_id:          mdt.b-MDT0000.job_stats=\n",
    ["mdt.a-MDT0000 JobStats" => "mdt.a-MDT0000.job_stats=\n- job_id:          mdt.b-MDT0000.job_stats=\n"]
);
splits!(
    odd_names_are_none,
    "mdt..job_stats=\nmdt.a b.job_stats=\nmdt.a.job_stats\nmdt.a.job_xattr=\nosd.a.job_stats=\n",
    ["-" => "mdt..job_stats=\nmdt.a b.job_stats=\nmdt.a.job_stats\nmdt.a.job_xattr=\nosd.a.job_stats=\n"]
);

#[test]
fn a_text_without_its_last_line_end_is_not_whole() {
    let (parts, whole) = split(&[b"mdt.a-MDT0000.job_stats=\n- job_id: x\n  open: { sam"]);
    assert_eq!(parts.len(), 1);
    assert!(!whole);
}

#[test]
fn a_name_that_ran_into_a_line_stays_in_it_and_tells_of_the_cut() {
    let text = b"mdt.a-MDT0000.job_stats=\n- job_id: x\n  open: { sammdt.b-MDT0001.job_stats=\n- job_id: y\n";
    let (parts, whole) = split(&[text]);
    assert_eq!(parts.len(), 1);
    assert!(!whole);
}

#[test]
fn an_endless_line_is_handed_on_and_holds_no_name() {
    let mut text = vec![b'x'; 3 * LONGEST_LINE];
    text.extend(b"mdt.a-MDT0000.job_stats=\nmdt.b-MDT0000.job_stats=\n");
    let mut splitter = Splitter::default();
    let mut names = Vec::new();
    for piece in text.chunks(LONGEST_LINE / 2) {
        splitter
            .push(piece, |token| {
                if let Token::Begin { name, .. } = token {
                    names.push(name.target.to_owned());
                }
                Ok::<(), Infallible>(())
            })
            .unwrap();
        assert!(splitter.pending.len() <= LONGEST_LINE);
    }
    assert_eq!(names, ["mdt.b-MDT0000"]);
}

#[test]
fn a_name_tells_whether_its_line_began_with_an_earlier_piece() {
    let mut splitter = Splitter::default();
    let mut begun = Vec::new();
    for piece in [
        &b"mdt.a-MDT0000.job_st"[..],
        b"ats=\nmdt.b-MDT0000.job_stats=\n",
        b"mdt.c-MDT0000.job_stats=\n",
    ] {
        splitter
            .push(piece, |token| {
                if let Token::Begin { name, earlier } = token {
                    begun.push((name.target.to_owned(), earlier));
                }
                Ok::<(), Infallible>(())
            })
            .unwrap();
    }
    let expected = [
        ("mdt.a-MDT0000", true),
        ("mdt.b-MDT0000", false),
        ("mdt.c-MDT0000", false),
    ];
    assert_eq!(
        begun,
        expected.map(|(name, earlier)| (name.to_owned(), earlier))
    );
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("mdt.fs-MDT0000.job_stats=".to_owned()),
        Just("obdfilter.fs-OST0001.job_stats=job_stats:".to_owned()),
        Just("obdfilter.fs-OST0001.job_cleanup_interval=600".to_owned()),
        Just("mdt.fs-MDT0001.job_stats: job_stats:".to_owned()),
        Just("- job_id:          mdt.fs-MDT0009.job_stats=".to_owned()),
        Just("  open: { sammdt.fs-MDT0001.job_stats=".to_owned()),
        Just(".job_".to_owned()),
        "[ a-z.:={}\r]{0,30}",
    ]
}

proptest! {
    #[test]
    fn the_cuts_between_pieces_do_not_matter(
        lines in prop::collection::vec(line(), 0..20),
        ends_with_newline: bool,
        cuts in prop::collection::vec(0.0..1.0_f64, 0..12),
    ) {
        let mut text = lines.join("\n");
        if ends_with_newline {
            text.push('\n');
        }
        let text = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| (cut * text.len() as f64) as usize).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
        prop_assert_eq!(split(&pieces), split(&[text]));
        let joined: String = split(&pieces).0.into_iter().map(|(_, text)| text).collect();
        prop_assert_eq!(joined.as_bytes(), text);
    }
}

#[test]
fn a_cut_parameter_in_front_costs_no_target() {
    let text = b"mdt.a-MDT0000.md_stats=\nopen 1 samplmdt.a-MDT0000.job_cleanup_interval=600\nmdt.a-MDT0000.job_stats=\n";
    let (parts, whole) = split(&[text]);
    assert!(whole);
    let names: Vec<_> = parts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["-", "mdt.a-MDT0000 JobStats"]);
}

#[test]
fn a_parameter_begins_at_a_line_that_has_a_name() {
    let text = "- id:   3\nopen  12 samples [reqs]\n  a.b=1\nhealth_check=\nstatus: a.b =1\n";
    for name in [
        "osd-zfs.fs-OST0000.filesfree=7\n",
        "obdfilter.fs-OST0000.exports.10.0.0.1@tcp.stats=\n",
    ] {
        assert_eq!(
            next_parameter(format!("{text}{name}{name}").as_bytes()),
            Some(text.len())
        );
    }
    assert_eq!(next_parameter(text.as_bytes()), None);
    // The first line may be the rest of one.
    assert_eq!(next_parameter(b"osd-zfs.fs-OST0000.filesfree=7\n"), None);
    assert_eq!(next_parameter(b""), None);
}
