//! Texts of people and jobs: who may read them, how long they are kept, and which time they cover.
