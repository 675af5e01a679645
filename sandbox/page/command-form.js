/**
 * Fill in and run one slash command, in the place of the text field.
 */

import { byId, button, el } from "./dom.js";
import { fields, values } from "./commands.js";

export class CommandForm {
  #command = null;

  /**
   * @param {import("./store.js").Store} store
   * @param {{run: (name: string, options: object) => void, close: () => void}} actions
   */
  constructor(store, { run, close }) {
    this.store = store;
    this.run = run;
    this.close = close;
    this.form = byId("command");
    this.form.addEventListener("submit", (event) => this.#submit(event));
    this.form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
    });
  }

  /**
   * @param {{name: string, description: string, options: object[]}} command
   * @param {string} rest what was typed behind its name
   */
  open(command, rest) {
    this.#command = command;
    this.form.replaceChildren(
      el("strong", {}, `/${command.name}`),
      el("span", { class: "hint" }, command.description),
      ...fields(command.options, this.store.world, rest),
      el("button", { type: "submit", class: "primary", data: { testid: "command-run" } }, "Run"),
      button("Cancel", () => this.close(), { class: "link" }),
    );
    this.form.hidden = false;
    this.form.querySelector("input, select, button").focus();
  }

  hide() {
    this.#command = null;
    this.form.hidden = true;
  }

  #submit(event) {
    event.preventDefault();
    const { name, options } = this.#command;
    this.run(name, values(options, new FormData(this.form)));
  }
}
