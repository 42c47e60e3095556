"""Motion for any character: retargeting, mirroring, contacts, clip editing."""
