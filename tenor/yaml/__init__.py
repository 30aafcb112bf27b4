"""YAML that people edit: `nodes` reads a file with the place of everything, `fields` checks what stands there."""
