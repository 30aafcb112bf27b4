"""Summaries of calls by a language model, where the settings name one: any address that speaks OpenAI's chat
completions. They stand beside the summary that is made of sentences, and never in its place."""
