"""Which recorded request a live one is: what is set aside, the look-up, and the words for a miss."""
