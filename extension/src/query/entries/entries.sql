SELECT @distinct@entry.entry_id
FROM jobstats.entries entry
@jobs@@names@
WHERE true@conditions@
