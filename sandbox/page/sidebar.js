/**
 * List the guilds' channels, the speaker's direct messages, and windows for other people.
 */

import { byId, el } from "./dom.js";
import { address, placeName } from "./identity.js";
import { avatar } from "./people.js";

export class Sidebar {
  /**
   * @param {import("./store.js").Store} store
   * @param {{open: (channelId: string) => void, openDm: () => void}} actions
   */
  constructor(store, { open, openDm }) {
    this.store = store;
    this.open = open;
    this.openDm = openDm;
    this.sidebar = byId("sidebar");
    this.menu = byId("menu");
    this.menu.addEventListener("click", () => this.#toggle(!this.sidebar.classList.contains("open")));
    this.sidebar.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#toggle(false);
    });
    byId("backdrop").addEventListener("click", () => this.#toggle(false));
    for (const change of ["world", "place", "unread"]) store.addEventListener(change, () => this.#draw());
  }

  #draw() {
    const { world } = this.store;
    byId("places").replaceChildren(...world.guilds.map((guild) => this.#guild(guild)), this.#dms());
    byId("windows").replaceChildren(...this.#windows());
    this.menu.classList.toggle("unread", this.store.unread.size > 0);
  }

  #guild({ name, channels }) {
    const ordered = channels
      .filter(({ kind }) => kind === "text")
      .flatMap((channel) => [channel, ...channels.filter(({ parent_id: parent }) => parent === channel.id)]);
    return el("section", {}, el("h2", {}, name), el("ul", {}, ...ordered.map((channel) => this.#channel(channel))));
  }

  #channel({ id, name, kind }) {
    const sigil = el("span", { class: "sigil", "aria-hidden": "true" }, kind === "thread" ? "↳" : "#");
    return this.#place(id, () => this.open(id), sigil, name);
  }

  #dms() {
    const { bot, dms } = this.store.world;
    const dm = dms.find(({ user_id: userId }) => userId === this.store.speakerId);
    const item = this.#place(dm?.channel_id ?? "", () => this.openDm(), avatar(bot), bot.name, "dm");
    return el("section", {}, el("h2", {}, "Direct messages"), el("ul", {}, item));
  }

  #place(id, go, sign, name, testid = `channel-${name}`) {
    const current = id !== "" && id === this.store.channelId;
    const unread = this.store.unread.has(id);
    const attributes = {
      type: "button",
      class: unread ? "place unread" : "place",
      "aria-current": current ? "page" : null,
      data: { testid },
      on: {
        click: () => {
          this.#toggle(false);
          go();
        },
      },
    };
    const mark = unread ? el("span", { class: "dot", role: "img", "aria-label": "unread" }) : null;
    return el("li", {}, el("button", attributes, sign, el("span", {}, name), mark));
  }

  #windows() {
    const others = this.store.world.users.filter(({ id }) => id !== this.store.speakerId);
    const here = placeName(this.store);
    return others.map(({ name }) => {
      const attributes = { href: address(name, here), target: "_blank", data: { testid: `window-${name}` } };
      return el("li", {}, el("a", attributes, `Open a window as ${name} ↗`));
    });
  }

  #toggle(open) {
    this.sidebar.classList.toggle("open", open);
    this.menu.setAttribute("aria-expanded", String(open));
    if (open) this.sidebar.querySelector("button").focus();
  }
}
