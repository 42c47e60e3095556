"""A `Character` as a USD stage."""
