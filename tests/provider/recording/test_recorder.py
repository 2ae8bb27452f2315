"""What the client gets through the recorder is what the upstream said, in its framing; and that is what is recorded."""
