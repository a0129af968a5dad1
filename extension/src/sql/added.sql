-- What came to tables of the store after the version that made them first. Run by jobstats_setup() after store.sql, on a
-- new store as on one that another version made, so that both are the same.

-- 0.2.0
ALTER TABLE jobstats.settings
    ADD COLUMN IF NOT EXISTS refresh_lag interval NOT NULL DEFAULT '20 minutes' CHECK (refresh_lag >= '0'),
    ADD COLUMN IF NOT EXISTS chunk_interval interval NOT NULL DEFAULT '1 day' CHECK (chunk_interval >= '1 hour'),
    ADD COLUMN IF NOT EXISTS compress_after interval NOT NULL DEFAULT '7 days' CHECK (compress_after >= '0');
ALTER TABLE jobstats.dirty ADD COLUMN IF NOT EXISTS dirty_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY;
ALTER TABLE jobstats.dirty
    ADD COLUMN IF NOT EXISTS known boolean NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS problem text;
ALTER TABLE jobstats.settings
    ADD COLUMN IF NOT EXISTS feed_wait interval NOT NULL DEFAULT '10 seconds' CHECK (feed_wait BETWEEN '100 milliseconds' AND '1 hour'),
    ADD COLUMN IF NOT EXISTS max_targets integer NOT NULL DEFAULT 1000 CHECK (max_targets > 0);
-- Up to when feeds stored values that a sum may not hold: on a store that another version made; never on a new one.
ALTER TABLE jobstats.settings ADD COLUMN IF NOT EXISTS limited_since timestamptz NOT NULL DEFAULT now();
ALTER TABLE jobstats.settings ALTER COLUMN limited_since SET DEFAULT '-infinity';
