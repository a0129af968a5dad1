-- During conversion and feeding, answers about idle clusters stay the same, and all others agree with the raw text.
SET client_min_messages = warning;
\ir said.sql
\ir ../stress/meanwhile.sql
