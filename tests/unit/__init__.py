"""Parts of Interlock on their own: no server, no socket."""
