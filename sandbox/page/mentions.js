/**
 * Translate between the names that people type and the ids that Discord sends.
 */

/**
 * @param {import("./store.js").World} world
 * @returns {{id: string, name: string}[]} who can be mentioned; longer names first, so that "Bo B" is
 *   not taken for "Bo"
 */
function people(world) {
  return [world.bot, ...world.users].sort((a, b) => b.name.length - a.name.length);
}

/** Turn `@Name` into `<@id>`, as Discord's own clients do when a message is sent. */
export function toWire(text, world) {
  return people(world).reduce((changed, { id, name }) => {
    const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return changed.replace(new RegExp(`(?<![\\w<])@${escaped}(?!\\w)`, "g"), `<@${id}>`);
  }, text);
}

/** Turn `<@id>` back into `@Name`, to edit a message. */
export function fromWire(text, world) {
  const names = new Map(people(world).map(({ id, name }) => [id, name]));
  return text.replace(/<@!?(\d+)>/g, (whole, id) => (names.has(id) ? `@${names.get(id)}` : whole));
}

/** Whether a text in Discord's form mentions somebody. */
export function mentions(text, userId) {
  return new RegExp(`<@!?${userId}>`).test(text);
}

/**
 * Find what completes the `@…` before the caret.
 *
 * @param {string} before the text up to the caret
 * @param {import("./store.js").World} world
 * @returns {{start: number, people: {id: string, name: string}[]} | null}
 */
export function completions(before, world) {
  const match = /(?:^|\s)@(\w*)$/.exec(before);
  if (match === null) return null;
  const begun = match[1].toLowerCase();
  const found = [world.bot, ...world.users].filter(({ name }) => name.toLowerCase().startsWith(begun));
  return found.length ? { start: before.length - begun.length - 1, people: found } : null;
}
