-- The views rates_…: the newest bucket of a target is divided by the time that has passed in it.
\i store.sql
\set ECHO all
\pset null '(null)'

CREATE VIEW newest AS
SELECT r.target, minute(r.since) AS since, r.write AS rate_10m, h.write AS rate_1h,
    -- The day began at an hour that the clock of the test decides.
    round((d.write * extract(epoch FROM least(t.last_observation, d.until) - d.since))::numeric, 6) AS calls_of_day
FROM jobstats.rates_10m r
JOIN jobstats.targets t ON t.name = r.target
JOIN jobstats.rates_1h h ON h.target = r.target AND h.since <= r.since AND h.until >= r.until
JOIN jobstats.rates_1d d ON d.target = r.target AND d.since <= r.since AND d.until >= r.until
ORDER BY r.target, r.since;

-- 600 calls in four minutes on one target, in ten minutes on the other.
DO $$ BEGIN
    INSERT INTO jobstats.feed (server, "time", body) VALUES
        ('oss1', at(0), ost('fs-OST0000', record('a.1', 1, 4096))), ('oss1', at(0), ost('fs-OST0001', record('a.1', 1, 4096))),
        ('oss1', at(4), ost('fs-OST0000', record('a.1', 601, 4096))), ('oss1', at(10), ost('fs-OST0001', record('a.1', 601, 4096)));
END $$;
SELECT since, target, rate_10m, rate_1h, calls_of_day FROM newest;
SELECT target, rate FROM (SELECT * FROM jobstats_rates(at(0), at(4), 'write', 'target', filter => 'target=*0000') r, dims(r.labels)) AS jobstats_rates;

-- Idle until the next observation: the rate falls. Late text does not take the time back.
DO $$ BEGIN
    INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(8), ost('fs-OST0000', record('a.1', 601, 4096)));
    INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(6), ost('fs-OST0000', record('a.1', 601, 4096)));
END $$;
SELECT since, rate_10m, rate_1h, calls_of_day FROM newest WHERE target ~ '0$';

-- The bucket has ended: it is divided by all of it, and the next one is the newest. An hour ends too.
DO $$ BEGIN
    INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(15), ost('fs-OST0000', record('a.1', 1201, 4096)));
END $$;
SELECT since, rate_10m, round(rate_1h::numeric, 6) AS rate_1h, calls_of_day FROM newest WHERE target ~ '0$';
DO $$ BEGIN
    INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(60), ost('fs-OST0000', record('a.1', 1201, 4096)));
END $$;
SELECT since, rate_10m, round(rate_1h::numeric, 6) AS rate_1h, calls_of_day FROM newest WHERE target ~ '0$';

-- Refreshed rollups agree.
CREATE TABLE before AS TABLE newest;
CALL jobstats_maintain();
(TABLE before EXCEPT ALL TABLE newest) UNION ALL (TABLE newest EXCEPT ALL TABLE before);
