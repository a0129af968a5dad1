-- What came to tables of the store after the version that made them first. Run by jobstats_setup() after store.sql, on a
-- new store as on one that another version made, so that both are the same.

-- 0.2.0
ALTER TABLE jobstats.settings
    ADD COLUMN IF NOT EXISTS refresh_lag interval NOT NULL DEFAULT '20 minutes' CHECK (refresh_lag >= '0'),
    ADD COLUMN IF NOT EXISTS chunk_interval interval NOT NULL DEFAULT '1 day' CHECK (chunk_interval >= '1 hour'),
    ADD COLUMN IF NOT EXISTS compress_after interval NOT NULL DEFAULT '7 days' CHECK (compress_after >= '0'),
    -- A higher limit could let a sum pass what a column can hold.
    ADD COLUMN IF NOT EXISTS max_rate bigint NOT NULL DEFAULT 1099511627776 CHECK (max_rate BETWEEN 1 AND 1099511627776);
ALTER TABLE jobstats.dirty ADD COLUMN IF NOT EXISTS dirty_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY;
