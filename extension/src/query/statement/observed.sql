-- The expressions about targets, which all others are based on.
observation AS MATERIALIZED (
    @observation@
),
unit AS MATERIALIZED (
    @unit@
),
observed AS MATERIALIZED (
    @seconds@
)
