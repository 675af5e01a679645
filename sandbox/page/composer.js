/**
 * Write messages: the text field with its replies, edits, mentions and commands.
 */

import * as api from "./api.js";
import { CommandForm } from "./command-form.js";
import { matching, signature } from "./commands.js";
import { byId } from "./dom.js";
import { placeName } from "./identity.js";
import { plain } from "./markdown.js";
import { completions, fromWire, mentions, toWire } from "./mentions.js";
import { attempt, complain } from "./notice.js";
import { Palette } from "./palette.js";

export class Composer {
  /** @type {import("./store.js").Message | null} */
  #replyTo = null;
  /** @type {import("./store.js").Message | null} */
  #editing = null;
  /** What was in the field before an edit. */
  #aside = "";
  /** Sends go one after the other, so that quick lines arrive in the order they were written. */
  #sends = Promise.resolve();
  /** @type {Map<string, string>} what was begun elsewhere, by place name: ids end with the sandbox */
  #drafts = new Map();
  #place = "";

  /** @param {import("./store.js").Store} store */
  constructor(store) {
    this.store = store;
    this.form = byId("composer");
    this.field = byId("composer-text");
    this.mention = byId("mention-bot");
    this.palette = new Palette(this.field, byId("palette"));
    this.command = new CommandForm(store, { run: (...what) => this.#run(...what), close: () => this.#closeCommand() });

    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.field.addEventListener("input", () => this.#changed());
    this.field.addEventListener("keydown", (event) => this.#key(event));
    this.field.addEventListener("blur", () => this.palette.hide());
    this.mention.addEventListener("change", () => this.field.focus());
    byId("context-cancel").addEventListener("click", () => this.#leaveContext());
    store.addEventListener("place", () => this.#moveIn());
    // On a phone the focus would bring up the keyboard over what there is to read.
    if (matchMedia("(hover: hover)").matches) this.field.focus();
    store.addEventListener("world", () => this.#label());
    // Whoever types faster than the page reads is offered what there is as soon as it is known.
    for (const read of ["world", "commands"]) store.addEventListener(read, () => this.#complete());
    store.addEventListener("removed", ({ detail }) => {
      if ([this.#editing?.id, this.#replyTo?.id].includes(detail.id)) this.#leaveContext();
    });
  }

  /** Begin an answer to a message. */
  reply(message) {
    if (this.#editing) this.#leaveContext();
    this.#replyTo = message;
    this.#showContext(`Replying to ${message.author.name}: ${plain(message.content, this.store.names)}`);
    this.field.focus();
  }

  /** Take one's own message back into the field, to change it. */
  edit(message) {
    if (!this.#editing) this.#aside = this.field.value;
    this.#editing = message;
    this.#replyTo = null;
    this.#showContext("Editing your message. Enter saves, Escape leaves it as it is.");
    this.#write(fromWire(message.content, this.store.world));
  }

  /** Put a text into the field, ready to be sent. */
  suggest(text) {
    this.#write(text);
    this.#changed();
  }

  #submit() {
    const text = toWire(this.field.value, this.store.world).trim();
    if (!text) return;
    const [editing, replyTo, typed, place] = [this.#editing, this.#replyTo, this.field.value, this.#place];
    const message = this.#message(text, replyTo);
    const call = editing ? () => api.edit(editing, text) : () => api.send(message);
    if (!editing) this.#write("");
    this.#leaveContext();
    this.#sends = this.#sends.then(async () => {
      const { ok } = await attempt(call);
      if (!ok) this.#giveBack(place, typed, editing, replyTo);
    });
  }

  #message(text, replyTo) {
    const { speakerId, channelId } = this.store;
    const content = this.#addressed(text, replyTo);
    return { channel_id: channelId, user_id: speakerId, content, reply_to: replyTo?.id };
  }

  /** Put what could not be sent back where it was written, before anything written since. */
  #giveBack(place, typed, editing, replyTo) {
    if (place !== this.#place) {
      this.#drafts.set(place, [typed, this.#drafts.get(place)].filter(Boolean).join("\n"));
      return;
    }
    if (editing) {
      this.edit(editing);
      this.#write(typed);
      return;
    }
    if (replyTo) this.reply(replyTo);
    this.#write([typed, this.field.value].filter(Boolean).join("\n"));
  }

  /** Add the bot's mention, where it would not answer without and the reader wants it to. */
  #addressed(text, replyTo) {
    const { bot } = this.store.world;
    const wanted = this.mention.checked && !this.store.channel.dm;
    if (!wanted || mentions(text, bot.id) || replyTo?.author.id === bot.id) return text;
    return `<@${bot.id}> ${text}`;
  }

  #key(event) {
    if (this.palette.takeKey(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.#submit();
    } else if (event.key === "Escape") {
      this.#leaveContext();
    } else if (event.key === "ArrowUp" && this.field.value === "") {
      const own = this.store.messages.findLast((message) => message.author.id === this.store.speakerId);
      if (!own) return;
      event.preventDefault();
      this.edit(own);
    }
  }

  #changed() {
    this.#fit();
    this.#complete();
  }

  /** Offer commands and people for what is being written. */
  #complete() {
    if (document.activeElement !== this.field) return;
    const { value, selectionStart } = this.field;
    if (value.startsWith("/") && !value.includes("\n") && !this.#editing) {
      this.palette.show(matching(value, this.store.commands).map((match) => this.#commandChoice(match)));
      return;
    }
    const found = completions(value.slice(0, selectionStart), this.store.world);
    this.palette.show((found?.people ?? []).map((person) => this.#mentionChoice(person, found.start)));
  }

  #commandChoice({ command, rest }) {
    return {
      label: `/${command.name} ${signature(command.options)}`,
      note: command.description,
      pick: () => {
        this.form.hidden = true;
        this.command.open(command, rest);
      },
    };
  }

  #mentionChoice({ name }, start) {
    const pick = () => {
      const after = this.field.value.slice(this.field.selectionStart).trimStart();
      this.#write(`${this.field.value.slice(0, start)}@${name} `, after);
    };
    return { label: `@${name}`, pick };
  }

  async #run(command, options) {
    const { channelId, speakerId } = this.store;
    const call = () => api.interact({ channel_id: channelId, user_id: speakerId, command, options });
    const { ok, value } = await attempt(call);
    if (!ok) return;
    this.field.value = "";
    this.#closeCommand();
    if (!value.responded) complain(`The bot did not respond to /${command}.`);
  }

  #closeCommand() {
    this.command.hide();
    this.form.hidden = false;
    this.field.focus();
  }

  /** Write into the field, with the caret between the two parts. */
  #write(before, after = "") {
    this.field.value = before + after;
    this.field.focus();
    this.field.setSelectionRange(before.length, before.length);
    this.#fit();
  }

  /** Grow with the text; the style sheet says how far. */
  #fit() {
    this.field.style.height = "auto";
    this.field.style.height = `${this.field.scrollHeight}px`;
  }

  #showContext(text) {
    byId("context-text").textContent = text;
    byId("context").hidden = false;
  }

  /** Neither reply nor edit any more. */
  #leaveContext() {
    if (this.#editing) this.field.value = this.#aside;
    this.#fit();
    this.#editing = null;
    this.#replyTo = null;
    byId("context").hidden = true;
  }

  #moveIn() {
    const place = placeName(this.store);
    if (place !== this.#place) {
      this.command.hide();
      this.form.hidden = false;
      this.#leaveContext();
      this.#drafts.set(this.#place, this.field.value);
      this.field.value = this.#drafts.get(place) ?? "";
      this.#place = place;
      this.#fit();
    } else if (this.#editing && this.#editing.author.id !== this.store.speakerId) {
      this.#leaveContext();
    }
    this.#label();
  }

  #label() {
    const { channel, world } = this.store;
    if (channel === null) return;
    this.field.placeholder = `Message ${channel.dm ? "@" : "#"}${channel.name}`;
    byId("mention-row").hidden = channel.dm;
    byId("mention-name").textContent = `Mention @${world.bot.name}`;
  }
}
