SELECT jobstats_attach(:'node', host => :'host', dbname => :'dbname', "user" => 'postgres');
