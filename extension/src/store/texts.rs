//! The texts of users and jobs: who may read them, their retention and covered span.
