"""OpenAI's two dialects, Responses and Chat Completions, for OpenAI itself and every server that speaks them."""
