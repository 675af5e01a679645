/**
 * Show a list of choices above a text field, operated from the field's keyboard.
 */

import { el } from "./dom.js";

/**
 * @typedef {object} Choice
 * @property {string} label
 * @property {string} [note]
 * @property {() => void} pick
 */

export class Palette {
  /** @type {Choice[]} */
  #choices = [];
  #at = 0;

  /**
   * @param {HTMLTextAreaElement} field
   * @param {HTMLElement} list
   */
  constructor(field, list) {
    this.field = field;
    this.list = list;
    list.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the focus in the field
  }

  get open() {
    return this.#choices.length > 0;
  }

  /** @param {Choice[]} choices none hides the list */
  show(choices) {
    this.#choices = choices;
    this.#at = 0;
    this.list.replaceChildren(...choices.map((choice, at) => this.#draw(choice, at)));
    this.list.hidden = !this.open;
    this.#mark();
  }

  hide() {
    this.show([]);
  }

  /**
   * Take a key that is meant for the list.
   *
   * @param {KeyboardEvent} event
   * @returns {boolean} whether it was
   */
  takeKey(event) {
    if (!this.open || event.isComposing) return false;
    if (event.key === "ArrowDown") this.#move(1);
    else if (event.key === "ArrowUp") this.#move(-1);
    else if ((event.key === "Enter" && !event.shiftKey) || event.key === "Tab") this.#pick(this.#at);
    else if (event.key === "Escape") this.hide();
    else return false;
    event.preventDefault();
    return true;
  }

  #move(step) {
    this.#at = (this.#at + step + this.#choices.length) % this.#choices.length;
    this.#mark();
  }

  #pick(at) {
    const { pick } = this.#choices[at];
    this.hide();
    pick();
  }

  #draw({ label, note }, at) {
    return el(
      "li",
      { id: `choice-${at}`, role: "option", data: { testid: "choice" }, on: { click: () => this.#pick(at) } },
      el("strong", {}, label),
      note ? el("span", {}, note) : null,
    );
  }

  #mark() {
    [...this.list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === this.#at)));
    this.list.children[this.#at]?.scrollIntoView({ block: "nearest" });
    if (this.open) this.field.setAttribute("aria-activedescendant", `choice-${this.#at}`);
    else this.field.removeAttribute("aria-activedescendant");
  }
}
