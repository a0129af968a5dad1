//! SQL declares the functions of the library, and nothing else compares the two: with a wrong type, a function would read memory
//! that is not there.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a step that fails is a test that fails"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::process::Command;

use pgrx_sql_entity_graph::metadata::{Returns, SqlArrayMapping, SqlMapping};
use pgrx_sql_entity_graph::{
    PgExternEntity, PgExternReturnEntity, SqlGraphEntity, UsedTypeEntity, section,
};
use postgres::{Client, NoTls};

/// Functions in C. To the library, the types of summaries are bytes.
const DECLARED: &str = "
    WITH types AS (
        SELECT t.oid, CASE WHEN t.typname IN ('jobstats_counter', 'jobstats_density') THEN 'bytea' WHEN t.typname = 'jobstats_filter' THEN 'jsonb' ELSE format_type(t.oid, NULL) END AS name
        FROM pg_type t
    )
    SELECT p.prosrc AS symbol,
        ARRAY(SELECT t.name FROM unnest(p.proargtypes) WITH ORDINALITY a (type, position) JOIN types t ON t.oid = a.type
            ORDER BY a.position) AS arguments,
        CASE WHEN 't' = ANY (p.proargmodes) THEN
            ARRAY(SELECT a.name || ' ' || t.name
                FROM unnest(p.proallargtypes, p.proargmodes, p.proargnames) WITH ORDINALITY a (type, mode, name, position)
                JOIN types t ON t.oid = a.type
                WHERE a.mode = 't' ORDER BY a.position)
        ELSE ARRAY(SELECT t.name FROM types t WHERE t.oid = p.prorettype) END AS result
    FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang AND l.lanname = 'c'
    WHERE p.probin LIKE '$libdir/jobstats-%'";

/// The types that a function takes and returns, by the names that PostgreSQL gives them. `None` stands for arguments that it
/// takes one by one, and for rows that it writes one by one: then it checks their types itself.
#[derive(Debug, PartialEq, Eq)]
struct Signature {
    arguments: Option<Vec<String>>,
    result: Option<Vec<String>>,
}

#[test]
fn sql_declares_what_the_library_has() {
    let database = env::var("JOBSTATS_TEST_DATABASE_URL").unwrap();
    let mut client = Client::connect(&database, NoTls).unwrap();
    let mut transaction = client.transaction().unwrap();
    transaction
        .batch_execute("CREATE EXTENSION jobstats")
        .unwrap();
    let library = env::var("JOBSTATS_TEST_BUILT").unwrap() + "/libjobstats.so";

    let rows = transaction.query(DECLARED, &[]).unwrap();
    let symbols: BTreeSet<String> = rows.iter().map(|row| row.get("symbol")).collect();
    assert_eq!(
        symbols,
        exported(&library),
        "left: declared, right: in the library"
    );

    let mut described = described(&library);
    for row in rows {
        let symbol: String = row.get("symbol");
        let mut rust = described.remove(&symbol).unwrap();
        for types in [&mut rust.arguments, &mut rust.result]
            .into_iter()
            .flatten()
        {
            for name in types {
                let (column, kind) = name.rsplit_once('|').unwrap_or(("", name));
                let kind: String = transaction
                    .query_one("SELECT format_type($1::text::regtype, NULL)", &[&kind])
                    .unwrap()
                    .get(0);
                *name = format!("{column} {kind}").trim_start().to_owned();
            }
        }
        let sql = Signature {
            arguments: rust.arguments.as_ref().map(|_| row.get("arguments")),
            result: rust.result.as_ref().map(|_| row.get("result")),
        };
        assert_eq!(sql, rust, "left: SQL, right: Rust: {symbol}");
    }
    assert!(described.is_empty(), "{described:?}");
}

/// Returns the functions that the library offers.
fn exported(library: &str) -> BTreeSet<String> {
    let symbols = output("nm", &["-D", "--defined-only", library]);
    let symbols = String::from_utf8(symbols).unwrap();
    let names = symbols
        .lines()
        .filter_map(|line| line.split("pg_finfo_").nth(1));
    names.map(str::to_owned).collect()
}

/// Returns what pgrx has written down of each function.
fn described(library: &str) -> BTreeMap<String, Signature> {
    let section = output(
        "objcopy",
        &["-O", "binary", "-j", ".pgrxsc", library, "/dev/stdout"],
    );
    let entities = section::decode_entities(&section).unwrap();
    let functions = entities.iter().filter_map(|entity| match entity {
        SqlGraphEntity::Function(function) => Some(function),
        _ => None,
    });
    functions
        .map(|it| (format!("{}_wrapper", it.unaliased_name), signature(it)))
        .collect()
}

fn signature(function: &PgExternEntity<'_>) -> Signature {
    let takes = |name: &str| {
        let mut arguments = function.fn_args.iter();
        arguments.any(|it| it.used_ty.metadata.type_ident().unwrap().contains(name))
    };
    let arguments = function.fn_args.iter().filter_map(|it| {
        let sql = it.used_ty.metadata.argument_sql.as_ref();
        type_name(sql.unwrap())
    });
    let result = match &function.fn_return {
        PgExternReturnEntity::None => vec!["void".to_owned()],
        PgExternReturnEntity::Type { ty } => vec![returned(ty)],
        PgExternReturnEntity::Iterated { tys } => {
            let column = |name: Option<&str>| name.unwrap_or_default().trim_matches('"').to_owned();
            let columns = tys.iter();
            columns
                .map(|it| format!("{}|{}", column(it.name), returned(&it.ty)))
                .collect()
        }
        other => panic!("no function returned this before: {other:?}"),
    };
    let writes_rows = takes("::Rows") || takes("FunctionCallInfo") && result == ["void"];
    Signature {
        arguments: (!takes("::Arguments")).then(|| arguments.collect()),
        result: (!writes_rows).then_some(result),
    }
}

fn returned(ty: &UsedTypeEntity<'_>) -> String {
    match ty.metadata.return_sql.as_ref().unwrap() {
        Returns::One(sql) | Returns::SetOf(sql) => type_name(sql).unwrap(),
        Returns::Table(_) => panic!("no function returned this before: {}", ty.full_path),
    }
}

/// Returns the name of a type; `None` if SQL does not see it.
fn type_name(sql: &SqlMapping) -> Option<String> {
    match sql {
        SqlMapping::As(name) => Some(name.clone()),
        SqlMapping::Array(SqlArrayMapping::As(name)) => Some(format!("{name}[]")),
        SqlMapping::Skip => None,
        other => panic!("no function took this before: {other:?}"),
    }
}

fn output(program: &str, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program}: {output:?}");
    output.stdout
}
