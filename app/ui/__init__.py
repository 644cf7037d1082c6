"""The interface: what is drawn and what a person can ask for. Qt lives here and in the composition root."""

from app.ui.sources import leave_unread

# Before any other module is imported below the binding.
leave_unread()
