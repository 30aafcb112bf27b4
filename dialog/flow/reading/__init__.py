"""Files of an assistant, read into a draft with every mistake at its place."""
