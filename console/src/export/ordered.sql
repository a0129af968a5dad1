-- The order in which a database happens to have its rows tells who they are of: joins sort by the number of the user. So rows are
-- sorted by what a file shows anyway, and then by a hash that nobody can compute without the key, which $5 is made of.
ORDER BY done.until, done.target_id, hashint8extended(done.entry_id, $5)
