"""Parts of Interlock, and of these tests, on their own."""
