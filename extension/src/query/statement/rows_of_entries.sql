SELECT usage.step, usage.target_id, usage.entry_id, usage.first, usage.last@values@
FROM (
    @usage@
) usage
