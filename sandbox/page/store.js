/**
 * Hold what the page knows and say what changed; the views listen and draw.
 *
 * Changes are dispatched as events: `world`, `commands`, `bot`, `place` (another channel or speaker),
 * `unread`, `messages` (a whole channel, drawn anew), `message` and `removed` (one message), `typing`.
 *
 * @typedef {{id: string, name: string, bot?: boolean}} Person
 * @typedef {{id: string, name: string, kind: "text" | "thread", parent_id: string | null}} Channel
 * @typedef {{id: string, name: string, channels: Channel[], roles?: {id: string, name: string}[]}} Guild
 * @typedef {{channel_id: string, user_id: string}} Dm
 * @typedef {{guilds: Guild[], users: Person[], bot: Person, dms: Dm[]}} World
 * @typedef {{emoji: string, count: number, users: string[]}} Reaction
 * @typedef {{id: string, channel_id: string, author: Person, content: string, edited: boolean,
 *   created_at: string, thinking: boolean, reference: object | null, reactions: Reaction[],
 *   interaction: {user_id: string, name: string | null} | null, components: object[],
 *   attachments: object[], embeds: object[], privateTo?: string}} Message
 *   `thinking` is a deferred reply without a text; `privateTo` is the one person who sees it
 */

/** Discord shows a typing signal for 10 s unless it is repeated. */
const TYPING_MS = 10_000;

/** Order two ids by time: the longer number is the larger, and they exceed what a float can hold. */
function byId(a, b) {
  return a.id.length - b.id.length || (a.id < b.id ? -1 : Number(a.id > b.id));
}

export class Store extends EventTarget {
  /** @type {World} */
  world = { guilds: [], users: [], bot: { id: "", name: "bot" }, dms: [] };
  /** @type {object[]} */
  commands = [];
  bot = { online: false, supervised: false };
  /** Whether the sandbox itself is there. */
  connected = false;
  speakerId = "";
  channelId = "";
  /** @type {Set<string>} channels with messages that this window has not shown */
  unread = new Set();
  /** @type {Map<string, Message[]>} by channel, oldest first; only channels that were opened */
  #messages = new Map();
  /** @type {Map<string, object[]>} what happened in a channel while its messages were on their way */
  #arriving = new Map();
  /** @type {Map<string, Map<string, ReturnType<typeof setTimeout>>>} by channel, then by person */
  #typing = new Map();

  /** @returns {Person} */
  get speaker() {
    return this.world.users.find((user) => user.id === this.speakerId) ?? { id: "", name: "nobody" };
  }

  /** @returns {{id: string, name: string, dm: boolean} | null} the open channel */
  get channel() {
    const channel = this.world.guilds.flatMap((guild) => guild.channels).find((one) => one.id === this.channelId);
    if (channel) return { ...channel, dm: false };
    const dm = this.world.dms.find((one) => one.channel_id === this.channelId);
    return dm ? { id: dm.channel_id, name: this.world.bot.name, dm: true } : null;
  }

  /** @returns {Message[]} what the speaker sees in the open channel */
  get messages() {
    return (this.#messages.get(this.channelId) ?? []).filter((message) => this.#sees(message));
  }

  /** @returns {string[]} the names of those who type in the open channel, the speaker excepted */
  get typing() {
    const ids = [...(this.#typing.get(this.channelId)?.keys() ?? [])];
    return ids.filter((id) => id !== this.speakerId).map((id) => this.name(id));
  }

  /** The name of a person, or the id of one this page has not heard of. */
  name(userId) {
    const { bot, users } = this.world;
    return [bot, ...users].find((person) => person.id === userId)?.name ?? userId;
  }

  /** @returns {import("./discord-syntax.js").Names} what the ids in a text mean */
  get names() {
    const find = (kind, id) => this.world.guilds.flatMap((guild) => guild[kind] ?? []).find((one) => one.id === id);
    return {
      user: (id) => this.name(id),
      role: (id) => find("roles", id)?.name ?? "unknown-role",
      channel: (id) => find("channels", id)?.name ?? "unknown-channel",
    };
  }

  /** @param {string} messageId */
  message(messageId) {
    return this.messages.find((message) => message.id === messageId) ?? null;
  }

  has(channelId) {
    return this.#messages.has(channelId);
  }

  setWorld(world) {
    this.world = world;
    this.#tell("world");
  }

  setCommands(commands) {
    this.commands = commands;
    this.#tell("commands");
  }

  setBot(bot) {
    this.bot = { ...this.bot, ...bot };
    this.#tell("bot");
  }

  setConnected(connected) {
    this.connected = connected;
    this.#tell("bot");
  }

  /** Show another channel, or the same one as another person. */
  setPlace(speakerId, channelId) {
    this.speakerId = speakerId;
    this.channelId = channelId;
    this.unread.delete(channelId);
    this.#tell("place");
    this.#tell("messages");
    this.#tell("typing");
  }

  /**
   * Load a channel's messages, by a call that takes time while the channel goes on.
   *
   * What happens meanwhile is put aside and applied again afterwards. Some of it may be in the answer
   * already; applying it again in order still ends at the newest state of each message.
   *
   * @param {string} channelId
   * @param {() => Promise<Message[]>} fetchMessages
   */
  async load(channelId, fetchMessages) {
    this.#arriving.set(channelId, []);
    try {
      this.#messages.set(channelId, (await fetchMessages()).sort(byId));
      for (const event of this.#arriving.get(channelId)) this.#change(channelId, event);
    } finally {
      this.#arriving.delete(channelId);
    }
    this.#tell("messages");
  }

  /** Forget all messages; after a reset, or when events may have been missed. */
  forget() {
    this.#messages.clear();
    for (const people of this.#typing.values()) for (const timer of people.values()) clearTimeout(timer);
    this.#typing.clear();
    this.#tell("typing");
  }

  /** Take in one live event. */
  apply(event) {
    switch (event.type) {
      case "message_create":
      case "message_update":
      case "message_delete":
      case "reactions":
        return this.#arrive(event.message?.channel_id ?? event.channel_id, event);
      case "ephemeral":
        return this.#arrive(event.channel_id, {
          type: "message_update",
          message: { ...event.message, channel_id: event.channel_id, privateTo: event.user_id },
        });
      case "typing":
        return this.#startTyping(event.channel_id, event.user_id);
      case "bot":
        if (!event.online) this.#stopTypingEverywhere(this.world.bot.id);
        return this.setBot({ online: event.online });
    }
  }

  /** Take an ephemeral reply away, here only: Discord does not know that it was dismissed. */
  dismiss(message) {
    this.#arrive(message.channel_id, { type: "message_delete", id: message.id });
  }

  #sees(message) {
    return message.privateTo === undefined || message.privateTo === this.speakerId;
  }

  #arrive(channelId, event) {
    this.#arriving.get(channelId)?.push(event);
    if (event.type === "message_create") this.#stopTyping(channelId, event.message.author.id);
    if (event.type === "message_create" && channelId !== this.channelId) this.#markUnread(channelId);
    if (!this.#messages.has(channelId)) return;
    const changed = this.#change(channelId, event);
    if (channelId !== this.channelId || changed === null) return;
    if (event.type === "message_delete") this.#tell("removed", changed);
    else if (this.#sees(changed)) this.#tell("message", changed);
  }

  /**
   * Bring one channel's messages up to an event.
   *
   * @returns {Message | null} the message that is new, changed or gone; null if there was none
   */
  #change(channelId, event) {
    const messages = this.#messages.get(channelId);
    const at = messages.findIndex((message) => message.id === (event.message?.id ?? event.message_id ?? event.id));
    if (event.message) {
      messages.splice(at < 0 ? messages.length : at, at < 0 ? 0 : 1, event.message);
      if (at < 0) messages.sort(byId);
      return event.message;
    }
    if (at < 0) return null;
    if (event.type === "message_delete") return messages.splice(at, 1)[0];
    messages[at] = { ...messages[at], reactions: event.reactions };
    return messages[at];
  }

  /** Mark a channel that the speaker could open; other people's direct messages are none of those. */
  #markUnread(channelId) {
    const { guilds, dms } = this.world;
    const inGuild = guilds.some((guild) => guild.channels.some(({ id }) => id === channelId));
    const own = dms.some((dm) => dm.channel_id === channelId && dm.user_id === this.speakerId);
    if (!inGuild && !own) return;
    this.unread.add(channelId);
    this.#tell("unread");
  }

  #startTyping(channelId, userId) {
    if (!this.#typing.has(channelId)) this.#typing.set(channelId, new Map());
    const people = this.#typing.get(channelId);
    clearTimeout(people.get(userId));
    people.set(userId, setTimeout(() => this.#stopTyping(channelId, userId), TYPING_MS));
    this.#tell("typing");
  }

  #stopTyping(channelId, userId) {
    const people = this.#typing.get(channelId);
    if (!people?.has(userId)) return;
    clearTimeout(people.get(userId));
    people.delete(userId);
    this.#tell("typing");
  }

  #stopTypingEverywhere(userId) {
    for (const channelId of this.#typing.keys()) this.#stopTyping(channelId, userId);
  }

  #tell(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
