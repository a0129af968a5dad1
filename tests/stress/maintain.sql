UPDATE jobstats.settings SET refresh_lag = greatest('0', refresh_lag - interval '10 minutes');
CALL jobstats_maintain();
