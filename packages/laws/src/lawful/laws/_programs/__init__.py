"""The language of generated programs: its syntax, interpreter, source text, and how programs are drawn."""
