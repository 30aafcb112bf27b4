"""How far labels can be trusted: who agrees with whom, whose labels wait for a person, and what may be trained with."""
