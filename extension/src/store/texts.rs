//! Texts of people and jobs: who may read them, how long they are kept, and which time they cover.

use pgrx::prelude::*;

extension_sql_file!("texts/texts.sql", name = "texts");
