//! What an entry identifier means: `jobid_name` formats.
