"""What happened to people's work: facts of watched objects in, incidents with their reasons out."""
