-- Sums of rows, of which there are many, before they are joined.
SELECT increment.target_id, increment.entry_id@of_increment@, sum(increment.read) AS read, sum(increment.small_read) AS small_read,
    sum(increment.write) AS write, sum(increment.small_write) AS small_write
FROM increment
@join_servers@
GROUP BY increment.target_id, increment.entry_id@of_increment@
