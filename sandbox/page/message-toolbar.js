/**
 * Offer what can be done with the message under the pointer or the focus.
 */

import { button, el } from "./dom.js";

/** Enough to see how the bot treats reactions; the page is no emoji picker. */
const REACTIONS = ["👍", "❤️", "😂", "🎉", "👀"];

export class Toolbar {
  /**
   * One toolbar for the whole list, moved to the message in question.
   *
   * @param {HTMLElement} list
   * @param {import("./store.js").Store} store
   * @param {import("./message.js").Actions} actions
   */
  constructor(list, store, actions) {
    this.store = store;
    this.actions = actions;
    this.element = el("div", { class: "toolbar", role: "toolbar", "aria-label": "Message", data: { testid: "toolbar" } });
    for (const event of ["pointerover", "focusin"]) {
      list.addEventListener(event, ({ target }) => this.#moveTo(target.closest(".message")));
    }
    list.addEventListener("pointerleave", () => this.#leave(list));
    list.addEventListener("keydown", (event) => this.#escape(event));
  }

  #moveTo(element) {
    if (element === null || this.element.parentElement === element) return;
    const message = this.store.message(element.dataset.id);
    if (message === null) return;
    this.element.replaceChildren(...this.#buttons(message));
    element.append(this.element);
  }

  #leave(list) {
    if (!list.contains(document.activeElement)) this.element.remove();
  }

  #escape(event) {
    if (event.key !== "Escape" || !this.element.contains(event.target)) return;
    this.element.parentElement.focus();
  }

  #buttons(message) {
    const { actions } = this;
    const tool = (label, testid, action) => button(label, action, { data: { testid } });
    if (message.privateTo !== undefined) return [tool("Dismiss", "toolbar-dismiss", () => actions.dismiss(message))];
    const own = message.author.id === this.store.speakerId;
    return [
      ...REACTIONS.map((emoji) =>
        button(emoji, () => actions.react(message, emoji), { "aria-label": `React with ${emoji}`, class: "emoji" }),
      ),
      tool("Reply", "reply", () => actions.reply(message)),
      own ? tool("Edit", "edit", () => actions.edit(message)) : null,
      own ? tool("Delete", "delete", () => actions.remove(message)) : null,
    ].filter(Boolean);
  }
}
