"""A `Character` as a binary FBX file."""
