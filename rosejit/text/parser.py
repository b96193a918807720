"""x"""


def parse():
    pass


parse_program = parse
