/**
 * Call the sandbox's control interface, the one that tests and scripts use too.
 */

/** Say in one line why a call failed; `message` is meant for the reader of the page. */
export class ApiError extends Error {}

/**
 * Find the one line in whatever the server answered.
 *
 * @param {Response} response
 * @returns {Promise<string>}
 */
async function reason(response) {
  const text = await response.text();
  try {
    const { message, error } = JSON.parse(text);
    if (message ?? error) return String(message ?? error);
  } catch {
    // Not JSON: an aiohttp error page is plain text, and its first line says it all.
  }
  return text.split("\n", 1)[0] || `${response.status} ${response.statusText}`;
}

/**
 * @param {string} method
 * @param {string} path below /control
 * @param {unknown} [body] sent as JSON
 */
async function call(method, path, body) {
  let response;
  try {
    response = await fetch(`/control${path}`, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new ApiError("The sandbox does not answer. Is it still running?");
  }
  if (!response.ok) throw new ApiError(await reason(response));
  return response.status === 204 ? null : response.json();
}

export const world = () => call("GET", "/world");
export const commands = (channelId, userId) =>
  call("GET", `/commands?${new URLSearchParams({ channel_id: channelId, user_id: userId })}`);
export const messages = (channelId) => call("GET", `/channels/${channelId}/messages`);
export const openDm = (userId) => call("POST", "/dms", { user_id: userId });

/** @param {{channel_id: string, user_id: string, content: string, reply_to?: string}} message */
export const send = (message) => call("POST", "/messages", message);
export const edit = (message, content) =>
  call("PATCH", `/messages/${message.id}`, { channel_id: message.channel_id, content });
export const remove = (message) => call("DELETE", `/messages/${message.id}`);
export const react = (message, userId, emoji, remove) =>
  call("PUT", `/messages/${message.id}/reactions`, { user_id: userId, emoji, remove });

/** @param {object} interaction a command with its options, or a press of a button */
export const interact = (interaction) => call("POST", "/interactions", interaction);

export const bot = () => call("GET", "/bot");
export const crashBot = () => call("POST", "/bot/crash");
export const restartBot = () => call("POST", "/bot/restart");
