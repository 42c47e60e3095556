"""The studio: a page in the browser to see, scrub and steer any character."""
