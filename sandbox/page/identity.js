/**
 * Keep who this window speaks as, and where, in its address.
 *
 * In the address rather than in storage, because storage is shared between windows: two windows side
 * by side are two people, and a reload or a bookmark keeps both.
 */

/** @returns {{speaker: string | null, channel: string | null}} a person's name, a channel's id or name */
function readAddress() {
  return {
    speaker: new URLSearchParams(location.search).get("as"),
    channel: decodeURIComponent(location.hash.slice(1)) || null,
  };
}

/**
 * @param {string} speaker a person's name
 * @param {string} channel what the hash should say
 */
export function address(speaker, channel) {
  return `?${new URLSearchParams({ as: speaker })}#${encodeURIComponent(channel)}`;
}

/** Write the address without a new entry in the history. */
export function writeAddress(speaker, channel) {
  history.replaceState(null, "", address(speaker, channel));
}

/** @param {import("./store.js").Store} store */
function channels(store) {
  return store.world.guilds.flatMap((guild) => guild.channels);
}

/**
 * Name the open channel for an address: by its name where that is enough, since ids change when the
 * sandbox starts anew; `@…` is the direct message with the bot.
 *
 * @param {import("./store.js").Store} store
 */
export function placeName(store) {
  const { channel } = store;
  if (channel === null) return "";
  if (channel.dm) return `@${channel.name}`;
  return channels(store).filter(({ name }) => name === channel.name).length === 1 ? channel.name : channel.id;
}

/**
 * Find what an address means in this world; what it does not name is the first one there is.
 *
 * @param {import("./store.js").Store} store
 * @returns {{speakerId: string, channelId: string, dm: boolean}}
 */
export function resolve(store) {
  const { speaker, channel } = readAddress();
  const named = (wanted) => (one) => one.id === wanted || one.name.toLowerCase() === wanted?.toLowerCase();
  const { users } = store.world;
  const all = channels(store);
  return {
    speakerId: (users.find(named(speaker)) ?? users[0])?.id ?? "",
    channelId: (all.find(named(channel)) ?? all[0])?.id ?? "",
    dm: Boolean(channel?.startsWith("@")),
  };
}
