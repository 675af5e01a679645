/**
 * Read new messages to those who use a screen reader.
 */

import { byId } from "./dom.js";
import { plain } from "./markdown.js";

/** A message that was not edited for this long is complete; a streaming bot edits about once a second. */
const SETTLED_MS = 2500;

/**
 * Announce each message once, when it has come to rest.
 *
 * The list itself is no live region: a streamed reply would be read from the start at every edit.
 *
 * @param {import("./store.js").Store} store
 */
export function announce(store) {
  const region = byId("announcer");
  const waiting = new Map();
  const said = new Set();
  store.addEventListener("message", ({ detail: message }) => {
    if (message.author.id === store.speakerId || said.has(message.id)) return;
    clearTimeout(waiting.get(message.id));
    waiting.set(message.id, setTimeout(() => say(store.message(message.id)), SETTLED_MS));
  });

  function say(message) {
    if (message === null) return;
    waiting.delete(message.id);
    said.add(message.id);
    region.textContent = `${message.author.name}: ${plain(message.content, store.names)}`;
  }
}
