def write(character, path):
    pass
