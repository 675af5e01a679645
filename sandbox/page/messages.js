/**
 * Show the messages of the open channel, and change them in place as they change.
 */

import { byId } from "./dom.js";
import { listen } from "./markdown.js";
import { MessageView } from "./message.js";
import { Toolbar } from "./message-toolbar.js";
import { BottomPin } from "./scroll.js";

/** Messages of one person closer together than this are drawn as one block. */
const GROUP_MS = 5 * 60 * 1000;

/** How long a message that was jumped to stays marked, long enough for the eye to find it. */
const FLASH_MS = 1600;

export class MessageList {
  /** @type {Map<string, MessageView>} in the order of the page */
  #views = new Map();
  #missed = 0;

  /**
   * @param {import("./store.js").Store} store
   * @param {Omit<import("./message.js").Actions, "show">} actions
   */
  constructor(store, actions) {
    this.store = store;
    this.actions = { ...actions, show: (id) => this.show(id) };
    this.list = byId("messages");
    this.welcome = byId("welcome");
    this.jump = byId("jump");
    this.pin = new BottomPin(byId("scroller"), byId("content"), () => this.#drawJump());
    this.toolbar = new Toolbar(this.list, store, this.actions);

    this.jump.addEventListener("click", () => this.pin.toBottom());
    this.list.addEventListener("keydown", (event) => this.#walk(event));
    this.list.addEventListener("focusin", ({ target }) => this.#keepTabStop(target.closest(".message")));
    listen(this.list);
    store.addEventListener("messages", () => this.#drawAll());
    store.addEventListener("message", ({ detail }) => this.#drawOne(detail));
    store.addEventListener("removed", ({ detail }) => this.#remove(detail.id));
    store.addEventListener("world", () => this.#views.forEach((view) => view.update(view.message)));
  }

  /** Scroll to a message and mark it for a moment. */
  show(messageId) {
    const element = this.#views.get(messageId)?.element;
    if (!element) return;
    element.scrollIntoView({ block: "center" });
    element.focus({ preventScroll: true });
    element.classList.add("flash");
    setTimeout(() => element.classList.remove("flash"), FLASH_MS);
  }

  #drawAll() {
    this.#views.clear();
    this.list.replaceChildren();
    for (const message of this.store.messages) this.#add(message);
    this.#regroup();
    this.#missed = 0;
    this.pin.toBottom();
    this.#drawJump();
  }

  #drawOne(message) {
    const view = this.#views.get(message.id);
    if (view) {
      view.update(message);
      return;
    }
    this.#add(message);
    this.#regroup();
    if (message.author.id === this.store.speakerId) this.pin.toBottom();
    if (!this.pin.pinned) this.#missed += 1;
    this.#drawJump();
  }

  #add(message) {
    const view = new MessageView(this.store, message, this.actions);
    const after = this.store.messages.findIndex((one) => one.id === message.id) + 1;
    const next = this.#views.get(this.store.messages[after]?.id);
    this.list.insertBefore(view.element, next?.element ?? null);
    this.#views.set(message.id, view);
  }

  #remove(messageId) {
    this.#views.get(messageId)?.element.remove();
    this.#views.delete(messageId);
    this.#regroup();
  }

  /** Decide for each message whether it belongs to the block above; cheap enough to do for all. */
  #regroup() {
    let above = null;
    for (const message of this.store.messages) {
      const { author, reference, created_at: at, privateTo } = message;
      const near = above && Date.parse(at) - Date.parse(above.created_at) < GROUP_MS;
      const same = above?.author.id === author.id && above?.privateTo === privateTo;
      this.#views.get(message.id)?.group(Boolean(near && same && !reference && !message.interaction));
      above = message;
    }
    this.welcome.classList.toggle("alone", above === null);
    this.#keepTabStop(this.list.querySelector(".message[tabindex='0']") ?? this.list.lastElementChild);
  }

  /** Let Tab reach one message only; the arrow keys walk from there. */
  #keepTabStop(element) {
    if (!element) return;
    this.list.querySelectorAll(".message[tabindex='0']").forEach((one) => one.setAttribute("tabindex", "-1"));
    element.setAttribute("tabindex", "0");
  }

  #walk(event) {
    if (!event.target.matches(".message")) return;
    const { previousElementSibling: up, nextElementSibling: down } = event.target;
    const next = { ArrowUp: up, ArrowDown: down }[event.key];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  #drawJump() {
    if (this.pin.pinned) this.#missed = 0;
    this.jump.hidden = this.pin.pinned;
    this.jump.textContent = this.#missed ? `${this.#missed} new below ↓` : "Jump to the newest ↓";
  }
}
