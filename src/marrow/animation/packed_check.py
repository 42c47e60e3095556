def check_packed(motion): pass
