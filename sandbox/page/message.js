/**
 * Draw one message and keep it up to date in place.
 */

import { button, el } from "./dom.js";
import { drawAttachments, drawComponents, drawEmbeds } from "./extras.js";
import { plain, renderInto } from "./markdown.js";
import { avatar, personColor } from "./people.js";

/**
 * What a reader can do with a message; the list passes it on.
 *
 * @typedef {object} Actions
 * @property {(message: object) => void} reply
 * @property {(message: object) => void} edit
 * @property {(message: object) => void} remove
 * @property {(message: object, emoji: string) => void} react
 * @property {(message: object, customId: string, pressed: HTMLElement, values?: string[]) => void} press
 * @property {(message: object) => void} dismiss
 * @property {(messageId: string) => void} show scroll to another message
 */

export class MessageView {
  /** @type {Record<string, {slot: HTMLElement, drawn: string}>} */
  #slots = {};

  /**
   * @param {import("./store.js").Store} store
   * @param {Actions} actions
   */
  constructor(store, message, actions) {
    this.store = store;
    this.actions = actions;
    this.message = message;
    this.content = el("div", { class: "content", data: { testid: "message-content" } });
    this.editedMark = el("span", { class: "edited", data: { testid: "edited" } }, "(edited)");
    this.element = el(
      "li",
      { class: "message", id: `message-${message.id}`, tabindex: "-1", data: this.#marks() },
      avatar(message.author),
      el(
        "div",
        { class: "body" },
        drawByline(message),
        ...["interaction", "quote"].map((name) => this.#slot(name)),
        this.content,
        ...["attachments", "embeds", "components", "reactions", "ephemeral"].map((name) => this.#slot(name)),
      ),
    );
    this.update(message);
  }

  /** Show the message as it is now. */
  update(message) {
    this.message = message;
    this.#drawContent();
    this.#draw("quote", message.reference, drawQuote);
    this.#draw("interaction", message.interaction, drawInteraction);
    this.#draw("embeds", message.embeds, drawEmbeds);
    this.#draw("attachments", message.attachments, drawAttachments);
    this.#draw("components", message.components, drawComponents);
    this.#draw("reactions", [message.reactions, this.store.speakerId], drawReactions);
    this.#draw("ephemeral", message.privateTo, drawEphemeralNote);
  }

  /** Leave out the author's name and picture when the message above is by the same person. */
  group(grouped) {
    this.element.classList.toggle("grouped", grouped);
  }

  #marks() {
    const { id, author } = this.message;
    return { testid: "message", id, author: author.name, bot: String(Boolean(author.bot)) };
  }

  #drawContent() {
    const { content, edited, thinking } = this.message;
    this.editedMark.remove();
    if (thinking) {
      this.content.replaceChildren(el("p", { class: "thinking" }, `${this.message.author.name} is thinking…`));
      return;
    }
    renderInto(this.content, content, this.store.names);
    const last = this.content.lastElementChild;
    if (edited) (last?.matches("p, small") ? last : this.content).append(this.editedMark);
  }

  #slot(name) {
    const slot = el("div", { class: name, hidden: true });
    this.#slots[name] = { slot, drawn: "" };
    return slot;
  }

  /** Draw one part anew if it changed, so that a button keeps the focus while the text grows. */
  #draw(name, value, drawPart) {
    const part = this.#slots[name];
    const now = JSON.stringify(value ?? null);
    if (part.drawn === now) return;
    part.drawn = now;
    part.slot.replaceChildren(...drawPart(this.message, this));
    part.slot.hidden = part.slot.childNodes.length === 0;
  }
}

function drawByline({ author, created_at: createdAt }) {
  return el(
    "div",
    { class: "byline" },
    el("span", { class: `author ${personColor(author)}` }, author.name),
    author.bot ? el("span", { class: "tag" }, "bot") : null,
    el("time", { datetime: createdAt }, clock(createdAt)),
  );
}

function clock(createdAt) {
  return new Date(createdAt).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

function drawQuote(message, { store, actions }) {
  const { reference } = message;
  if (!reference) return [];
  if (!reference.author) return [el("span", { class: "gone" }, "the original message was deleted")];
  const text = plain(reference.content, store.names) || "(no text)";
  return [
    el(
      "button",
      {
        type: "button",
        data: { testid: "quote" },
        "aria-label": `In reply to ${reference.author.name}: ${text}`,
        on: { click: () => actions.show(reference.message_id) },
      },
      el("span", { class: `author ${personColor(reference.author)}` }, reference.author.name),
      el("span", { class: "snippet" }, text),
    ),
  ];
}

function drawInteraction({ interaction }, { store }) {
  return interaction?.name ? [`${store.name(interaction.user_id)} used /${interaction.name}`] : [];
}

function drawReactions(message, { store, actions }) {
  return (message.reactions ?? []).map(({ emoji, count, users }) =>
    button(`${emoji} ${count}`, () => actions.react(message, emoji), {
      class: "reaction",
      "aria-pressed": String(users.includes(store.speakerId)),
      title: users.map((id) => store.name(id)).join(", "),
      data: { testid: "reaction", emoji },
    }),
  );
}

function drawEphemeralNote(message, { actions }) {
  if (message.privateTo === undefined) return [];
  return [
    el("span", {}, "Only you can see this"),
    button("Dismiss", () => actions.dismiss(message), { class: "link", data: { testid: "dismiss" } }),
  ];
}
