"""What a hostile repository may hold, one builder per attack, and the proof that the attack fails."""
