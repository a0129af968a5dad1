//! Answers an INSERT as PostgREST 16.1 does, by its source: the transaction, the statement, and the status of an answer. It
//! does not check tokens: the token is the name of the role.

use std::error::Error;

use bytes::BytesMut;
use postgres::error::DbError;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, IsolationLevel, NoTls};
use serde_json::{Value, json};

use super::server::{Reply, Request};

/// A PostgREST that connects with this URL.
pub struct Postgrest {
    pub url: String,
}

/// The types that its schema cache has for the columns of `jobstats.feed`.
const TYPES: [(&str, &str); 9] = [
    ("body", "text"),
    ("body_zstd", "bytea"),
    ("cluster", "text"),
    ("covers", "tstzrange"),
    ("duration", "interval"),
    ("server", "text"),
    ("shipper", "text"),
    ("source", "text"),
    ("time", "timestamp with time zone"),
];

impl Postgrest {
    pub fn answer(&self, request: &Request) -> Reply {
        let schema = request.header("content-profile");
        if (request.method.as_str(), schema) != ("POST", Some("jobstats")) {
            return error(406, "PGRST106", "Invalid schema");
        }
        let Some(columns) = request.path.strip_prefix("/feed?columns=") else {
            return error(
                404,
                "PGRST205",
                "Could not find the table in the schema cache",
            );
        };
        let (Some("application/json"), None) = (
            request.header("content-type"),
            request.header("content-encoding"),
        ) else {
            return error(400, "PGRST102", "Content-Type not acceptable");
        };
        assert_eq!(request.header("prefer"), Some("return=minimal"));
        let Some(role) = request
            .header("authorization")
            .and_then(|value| value.strip_prefix("Bearer "))
        else {
            return error(401, "PGRST302", "Anonymous access is disabled");
        };
        match self.insert(role, columns, &request.body) {
            Ok(()) => Reply::created().with("Preference-Applied", "return=minimal"),
            Err(error) => match error.as_db_error() {
                Some(error) => refusal(error),
                None => self::error(
                    503,
                    "PGRST001",
                    "Database client error. Retrying the connection.",
                ),
            },
        }
    }

    fn insert(&self, role: &str, columns: &str, body: &[u8]) -> Result<(), postgres::Error> {
        let mut client = Client::connect(&self.url, NoTls)?;
        let mut transaction = client
            .build_transaction()
            .isolation_level(IsolationLevel::ReadCommitted)
            .read_only(false)
            .start()?;
        let settings = r#"select set_config('search_path', '"jobstats", "public"', true), set_config('role', $1, true),
            set_config('request.jwt.claims', $2, true), set_config('request.method', 'POST', true),
            set_config('request.path', '/feed', true), set_config('request.headers', '{}', true),
            set_config('request.cookies', '{}', true)"#;
        let claims = json!({ "role": role }).to_string();
        transaction.execute(settings, &[&role, &claims])?;
        let statement = transaction.prepare_typed(&statement(columns), &[Type::JSON])?;
        let row = transaction.query_one(&statement, &[&Json(body)])?;
        assert_eq!(row.get::<_, &str>("body"), "");
        transaction.commit()
    }
}

/// The statement for `Prefer: return=minimal`. The columns are a set, and so in alphabetical order.
fn statement(columns: &str) -> String {
    let mut columns: Vec<_> = columns.split(',').collect();
    columns.sort_unstable();
    let list = |form: &dyn Fn(&str) -> String| {
        columns
            .iter()
            .map(|column| form(column))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let plain = list(&|column| format!("{column:?}"));
    let of_body = list(&|column| format!("\"pgrst_body\".{column:?}"));
    let typed = list(&|column| {
        let (_, kind) = TYPES.iter().find(|(name, _)| *name == column).unwrap();
        format!("{column:?} {kind}")
    });
    format!(
        r#"WITH pgrst_source AS (INSERT INTO "jobstats"."feed"({plain}) SELECT {of_body} FROM (SELECT $1 AS json_data) pgrst_payload, LATERAL (SELECT {plain} FROM json_to_recordset(pgrst_payload.json_data) AS _({typed}) ) pgrst_body  RETURNING 1) SELECT '' AS total_result_set, pg_catalog.count(_postgrest_t) AS page_total, array[]::text[] AS header, ''::text AS body, nullif(current_setting('response.headers', true), '') AS response_headers, nullif(current_setting('response.status', true), '') AS response_status, '' AS response_inserted FROM (SELECT * FROM pgrst_source) _postgrest_t"#
    )
}

/// Passes an error of PostgreSQL on.
fn refusal(error: &DbError) -> Reply {
    let code = error.code().code();
    let status = match (code, &code[..2]) {
        ("23503" | "23505", _) => 409,
        ("25006", _) => 405,
        ("22023", _) if error.message().starts_with("role") => 401,
        ("53400", _) => 500,
        ("P0001", _) => 400,
        ("42883" | "42P01", _) => 404,
        ("57P01", _) => 503,
        ("42501", _) => 403,
        (_, "08" | "53") => 503,
        (_, "0L" | "0P" | "28") => 403,
        (
            _,
            "09" | "25" | "2D" | "38" | "39" | "3B" | "40" | "54" | "55" | "57" | "58" | "F0"
            | "HV" | "P0" | "XX",
        ) => 500,
        _ => 400,
    };
    let body = json!({
        "code": code,
        "details": error.detail(),
        "hint": error.hint(),
        "message": error.message(),
    });
    Reply::of(status, &body.to_string())
}

/// An error of PostgREST itself.
pub fn error(status: u16, code: &str, message: &str) -> Reply {
    let body =
        json!({ "code": code, "details": Value::Null, "hint": Value::Null, "message": message });
    Reply::of(status, &body.to_string())
}

/// JSON as PostgREST hands it to PostgreSQL: unread.
#[derive(Debug)]
struct Json<'a>(&'a [u8]);

impl ToSql for Json<'_> {
    fn to_sql(&self, _: &Type, to: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        to.extend_from_slice(self.0);
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::JSON
    }

    to_sql_checked!();
}
