-- While the store is converted and fed it says of what nobody feeds the same as before, and of the rest nothing that the
-- raw text does not say.
SET client_min_messages = warning;
\ir said.sql
\ir ../stress/meanwhile.sql
