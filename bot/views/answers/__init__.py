"""What the commands answer, visible to the asker only: status, list, show, help and usage faults. No symbols."""
