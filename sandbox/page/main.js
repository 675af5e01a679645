/**
 * Put the page together: the store in the middle, views around it, events and calls at its edges.
 */

import { announce } from "./announcer.js";
import * as api from "./api.js";
import { Composer } from "./composer.js";
import { follow } from "./events.js";
import { placeName, resolve, writeAddress } from "./identity.js";
import { MessageList } from "./messages.js";
import { attempt, clearNotice, complain } from "./notice.js";
import { byId } from "./dom.js";
import { Sidebar } from "./sidebar.js";
import { showSpeakers } from "./speakers.js";
import { Store } from "./store.js";
import { showTopbar } from "./topbar.js";
import { showTyping } from "./typing.js";
import { showWelcome } from "./welcome.js";

const store = new Store();
/** Reads and changes of place go one after the other, so that an older answer never follows a newer one. */
let reading = Promise.resolve();
const composer = new Composer(store);

new MessageList(store, {
  reply: (message) => composer.reply(message),
  edit: (message) => composer.edit(message),
  remove: (message) => attempt(() => api.remove(message)),
  dismiss: (message) => store.dismiss(message),
  react,
  press,
});
new Sidebar(store, {
  open: (channelId) => inOrder(() => enter(store.speakerId, channelId)),
  openDm: () => inOrder(() => enterDm(store.speakerId)),
});
showSpeakers(store, (userId) => inOrder(() => (store.channel?.dm ? enterDm(userId) : enter(userId, store.channelId))));
showTopbar(store);
showTyping(store);
showWelcome((text) => composer.suggest(text));
announce(store);
byId("notice-close").addEventListener("click", clearNotice);
addEventListener("hashchange", () => inOrder(enterAddress));

follow(takeEvent, (connected) => {
  if (connected) clearNotice();
  store.setConnected(connected);
});

/** @param {{type: string}} event */
function takeEvent(event) {
  switch (event.type) {
    case "hello":
    case "reset":
      return inOrder(readAll);
    case "world":
    case "channel_create":
    case "channel_update":
    case "channel_delete":
      return inOrder(readWorld);
    case "commands":
      return inOrder(readCommands);
    default:
      return store.apply(event);
  }
}

function inOrder(read) {
  reading = reading.then(read).catch(complain);
}

/** Read everything anew: at the start, after a reset, and when events may have been missed. */
async function readAll() {
  const [world, bot] = await Promise.all([api.world(), api.bot()]);
  store.forget();
  store.setWorld(world);
  store.setBot(bot);
  await enterAddress();
}

/** Read the guilds and channels; the open one may be gone. */
async function readWorld() {
  store.setWorld(await api.world());
  if (store.channel === null) await enterAddress();
}

/** Read which commands the speaker may use here. */
async function readCommands() {
  store.setCommands(await api.commands(store.channelId, store.speakerId));
}

function enterAddress() {
  const { speakerId, channelId, dm } = resolve(store);
  return dm ? enterDm(speakerId) : enter(speakerId, channelId);
}

async function enter(speakerId, channelId) {
  store.setPlace(speakerId, channelId);
  writeAddress(store.speaker.name, placeName(store));
  if (!store.has(channelId)) await store.load(channelId, () => api.messages(channelId));
  await readCommands();
}

async function enterDm(speakerId) {
  const dm = await api.openDm(speakerId);
  store.setWorld(await api.world());
  await enter(speakerId, dm.channel_id);
}

function react(message, emoji) {
  const { speakerId } = store;
  const own = message.reactions?.some((one) => one.emoji === emoji && one.users.includes(speakerId));
  return attempt(() => api.react(message, speakerId, emoji, Boolean(own)));
}

/** Press a button of the bot's; it is off until the bot has answered, so that one press is one press. */
async function press(message, customId, pressed, values) {
  const { id: messageId, channel_id: channelId } = message;
  const pressing = { channel_id: channelId, user_id: store.speakerId, message_id: messageId, custom_id: customId, values };
  pressed.disabled = true;
  const { ok, value } = await attempt(() => api.interact(pressing));
  pressed.disabled = false;
  if (ok && !value.responded) complain("The bot did not respond.");
}
