"""OBJ and PLY in: models without a skeleton, as characters of one joint."""
