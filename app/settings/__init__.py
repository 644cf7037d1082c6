"""What a person has chosen, and where keys are kept."""
