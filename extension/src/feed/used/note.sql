-- Notes a list of a target ($1) and kind ($2) of a time ($3), and returns whether it is the newest, and whether it may replace the
-- first of its day.
INSERT INTO jobstats.used_lists AS list (target_id, kind, day, first, last) VALUES ($1, $2, ($3 AT TIME ZONE 'UTC')::date, $3, $3)
ON CONFLICT (target_id, kind, day) DO UPDATE
SET first = CASE WHEN list.summed THEN list.first ELSE least(list.first, EXCLUDED.first) END,
    -- A list with a future time must not hide the current one.
    last = CASE WHEN list.last > clock_timestamp() AND EXCLUDED.last <= clock_timestamp() THEN EXCLUDED.last ELSE greatest(list.last, EXCLUDED.last) END
RETURNING list.day,
    -- These read the rows as they were before.
    NOT EXISTS (
        SELECT FROM jobstats.used_lists other
        WHERE other.target_id = $1 AND other.kind = $2 AND other.last >= $3
            AND (other.last <= clock_timestamp() OR $3 > clock_timestamp())) AS is_newest,
    NOT list.summed AND NOT EXISTS (
        SELECT FROM jobstats.used_lists other
        WHERE other.target_id = $1 AND other.kind = $2 AND other.day = list.day AND other.first <= $3) AS is_first
