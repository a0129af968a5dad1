@groups@
LIMIT @limit@
