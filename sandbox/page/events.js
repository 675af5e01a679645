/**
 * Follow the sandbox's live events.
 */

/**
 * Open the stream and keep it open.
 *
 * EventSource reconnects by itself after a dropped connection but gives up on an HTTP error, which is
 * what a sandbox that is being restarted may answer; then it is opened anew. Every (re)connection
 * begins with a `hello`, so the listener learns that it may have missed something.
 *
 * @param {(event: {type: string}) => void} onEvent
 * @param {(connected: boolean) => void} onConnection
 */
export function follow(onEvent, onConnection) {
  const RETRY_MS = 1000;
  const source = new EventSource("/control/events");
  source.addEventListener("open", () => onConnection(true));
  source.addEventListener("message", ({ data }) => onEvent(JSON.parse(data)));
  source.addEventListener("error", () => {
    onConnection(false);
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(() => follow(onEvent, onConnection), RETRY_MS);
  });
}
