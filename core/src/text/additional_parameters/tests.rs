use super::*;

const MDT: TargetName<'static> = TargetName {
    kind: TargetKind::Mdt,
    name: b"fs-MDT0000",
};
const OST: TargetName<'static> = TargetName {
    kind: TargetKind::Ost,
    name: b"fs-OST001f",
};

#[test]
fn names_of_parameters() {
    #[rustfmt::skip]
    let cases = [
        ("mdt.fs-MDT0000.md_stats", Parameter::TargetStats(MDT)),
        ("obdfilter.fs-OST001f.stats", Parameter::TargetStats(OST)),
        ("mdt.fs-MDT0000.exports.0@lo.stats", Parameter::ExportStats(MDT, b"0@lo")),
        ("obdfilter.fs-OST001f.exports.10.73.20.12@o2ib1.stats", Parameter::ExportStats(OST, b"10.73.20.12@o2ib1")),
        ("obdfilter.fs-OST001f.exports.2001:db8::a:1@tcp.uuid", Parameter::ExportUuid(OST, b"2001:db8::a:1@tcp")),
        ("mds.MDS.mdt.stats", Parameter::Service("mdt")),
        ("ost.OSS.ost_io.stats", Parameter::Service("ost_io")),
        ("ldlm.services.ldlm_canceld.nrs_policies", Parameter::Policies("ldlm_canceld")),
        ("ost.OSS.ost_io.nrs_tbf_rule", Parameter::Rules("ost_io")),
        ("nodemap.default.md_stats", Parameter::Nodemap("default", "md_stats")),
        ("nodemap.tenant_a.dt_stats", Parameter::Nodemap("tenant_a", "dt_stats")),
        ("osd-ldiskfs.fs-MDT0000.kbytestotal", Parameter::Space(MDT, "kbytestotal")),
        ("osd-zfs.fs-OST001f.filesfree", Parameter::Space(OST, "filesfree")),
        ("mdt.fs-MDT0000.recovery_status", Parameter::Recovery(MDT)),
        ("obdfilter.fs-OST001f.recovery_status", Parameter::Recovery(OST)),
        ("mdd.fs-MDT0000.changelog_users", Parameter::Changelog(MDT)),
        ("osd-zfs.fs-OST001f.quota_slave.acct_project", Parameter::Used(OST, Owner::Project)),
        ("health_check", Parameter::Health),
    ];
    for (name, parameter) in cases {
        assert_eq!(Parameter::parse(name.as_bytes()), Some(parameter), "{name}");
    }
}

#[test]
fn other_names() {
    let long = format!("mds.MDS.{}.stats", "x".repeat(65));
    for name in [
        "",
        "stats",
        ".stats",
        "mdt.fs-MDT0000.stats",
        "mdt.fs-MDT0000.job_stats",
        "mdt.fs MDT0000.md_stats",
        "mdt..md_stats",
        "obdfilter.fs-OST001f.md_stats",
        "obdfilter.fs-OST001f.brw_stats",
        "obdfilter.fs-OST001f.exports.stats",
        "obdfilter.fs-OST001f.exports..stats",
        "obdfilter.fs-OST001f.exports.0@lo.ldlm_stats",
        "obdfilter.fs-OST001f.kbytestotal",
        "osd-ldiskfs.MGS.kbytestotal",
        "osd-ldiskfs.fs-OST1.kbytestotal",
        "osd-ldiskfs.fs-OST001f.fstype",
        "osd-ldiskfs.fs-OST001f.quota_slave.kbytestotal",
        "osd-ldiskfs.fs-OST001f.acct_user",
        "osd-ldiskfs.fs-OST001f.quota_slave.acct_pool",
        "mgs.MGS.exports.0@lo.stats",
        "mds.MDS..stats",
        "ldlm.namespaces.mdt-fs-MDT0000_UUID.pool.stats",
        "llite.fs-ffff97e895d31000.stats",
        "mdd.fs-MDT0000.changelog_mask",
        "health_check_of_mine",
        &long,
    ] {
        assert_eq!(Parameter::parse(name.as_bytes()), None, "{name}");
    }
}

#[test]
fn the_line_that_may_be_cut() {
    let other = |value: &'static str| Other {
        parameter: Parameter::Health,
        line: 7,
        value: value.as_bytes().into(),
    };
    assert_eq!(other("a\nb\n").cut(), None);
    assert_eq!(other("a\n\n b").cut(), Some((9, &b" b"[..])));
    let value = other("a\r\n\n b");
    let lines: Vec<_> = value.lines(Pause::NEVER).collect();
    assert_eq!(lines, [(7, &b"a"[..]), (9, b"b")]);
}

#[test]
fn a_thousand_problems_are_kept() {
    let other = Other {
        parameter: Parameter::Health,
        line: 1,
        value: b"x\n".into(),
    };
    let mut problems = Problems::default();
    for line in 1..=1_003 {
        let at = (line, &b"x"[..]);
        problems.report(&other, at, Reason::UnreadableLine).unwrap();
    }
    assert_eq!((problems.kept.len(), problems.dropped), (1_000, 3));
}

#[test]
fn numbers_are_those_of_a_column() {
    assert_eq!(number(b"9223372036854775807"), Ok(i64::MAX));
    for none in ["9223372036854775808", "-1", "1.5", "", "0x1", "+1"] {
        assert_eq!(number(none.as_bytes()), Err(Reason::BadNumber), "{none}");
    }
}
