"""What happens in a picture one after the other: shadows, surfaces, lights, tones, views and words over it."""
