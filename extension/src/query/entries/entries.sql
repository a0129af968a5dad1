SELECT @distinct@entry.entry_id
FROM @entries@ entry
@jobs@@names@
WHERE true@conditions@
