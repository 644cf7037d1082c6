"""What a model may call: each tool, and what runs them."""
