"""Many documents and several people: projects, who does what, and who is at work on what."""
