/**
 * Know the bot's slash commands and ask for their options.
 */

import { el } from "./dom.js";

/** Option types of Discord. */
const SUB_COMMAND = 1;
const GROUP = 2;
const INTEGER = 4;
const BOOLEAN = 5;
const USER = 6;
const CHANNEL = 7;
const ROLE = 8;
const MENTIONABLE = 9;
const NUMBER = 10;

/** Application command type of Discord: typed with a slash, rather than chosen from a menu. */
const CHAT_INPUT = 1;

/**
 * Spread commands into what can be run: a command with subcommands is run as `name subcommand`.
 *
 * @returns {{name: string, description: string, options: object[]}[]}
 */
export function runnable(commands) {
  return commands.filter(({ type }) => (type ?? CHAT_INPUT) === CHAT_INPUT).flatMap((command) => spread(command, ""));
}

function spread({ name, description, options = [] }, prefix) {
  const path = prefix + name;
  const below = options.filter(({ type }) => type === SUB_COMMAND || type === GROUP);
  if (below.length) return below.flatMap((option) => spread(option, `${path} `));
  return [{ name: path, description, options }];
}

/**
 * Find the commands that a text that begins with `/` may mean, the exact one first.
 *
 * @returns {{command: object, rest: string}[]} `rest` is what was typed behind the name
 */
export function matching(text, commands) {
  const typed = text.slice(1);
  return runnable(commands)
    .filter(({ name }) => name.startsWith(typed) || `${typed} `.startsWith(`${name} `))
    .map((command) => ({ command, rest: typed.slice(command.name.length).trim() }))
    .sort((a, b) => Number(b.command.name === typed) - Number(a.command.name === typed));
}

/** @param {object[]} options */
export function signature(options) {
  return options.map(({ name, required }) => (required ? name : `[${name}]`)).join(" ");
}

/**
 * Draw the fields for a command's options.
 *
 * @param {object[]} options
 * @param {import("./store.js").World} world
 * @param {string} rest goes into the first field
 * @returns {HTMLElement[]}
 */
export function fields(options, world, rest) {
  return options.map((option, at) => {
    const input = field(option, world);
    if (at === 0 && rest) input.value = rest;
    const note = option.required ? null : el("small", {}, "optional");
    return el("label", { title: option.description }, el("span", {}, option.name, " ", note), input);
  });
}

function field(option, world) {
  const attributes = { name: option.name, required: option.required, data: { testid: `option-${option.name}` } };
  const choices = choicesOf(option, world);
  if (choices) {
    const none = option.required ? [] : [el("option", { value: "" }, "—")];
    const offered = choices.map(([value, label]) => el("option", { value }, label));
    return el("select", attributes, ...none, ...offered);
  }
  const numeric = option.type === INTEGER || option.type === NUMBER;
  return el("input", {
    ...attributes,
    type: numeric ? "number" : "text",
    step: { [INTEGER]: "1", [NUMBER]: "any" }[option.type],
    min: option.min_value,
    max: option.max_value,
    minlength: option.min_length,
    maxlength: option.max_length,
    placeholder: option.description,
    autocomplete: "off",
  });
}

/** @returns {[string, string][] | null} value and label of each choice; null for a free text or number */
function choicesOf({ type, choices }, world) {
  if (choices?.length) return choices.map(({ name, value }) => [value, name]);
  const named = (list) => list.map(({ id, name }) => [id, name]);
  const people = [...world.users, world.bot];
  const roles = world.guilds.flatMap((guild) => guild.roles ?? []);
  switch (type) {
    case BOOLEAN:
      return [["true", "yes"], ["false", "no"]];
    case USER:
      return named(people);
    case CHANNEL:
      return named(world.guilds.flatMap((guild) => guild.channels));
    case ROLE:
      return named(roles);
    case MENTIONABLE:
      return named([...people, ...roles]);
    default:
      return null;
  }
}

/**
 * Read the fields back, each value in the type that its option has; empty ones are left out.
 *
 * @param {object[]} options
 * @param {FormData} form
 */
export function values(options, form) {
  const given = options.filter(({ name }) => (form.get(name) ?? "") !== "");
  return Object.fromEntries(given.map(({ name, type }) => [name, typed(type, form.get(name))]));
}

function typed(type, value) {
  if (type === INTEGER || type === NUMBER) return Number(value);
  if (type === BOOLEAN) return value === "true";
  return value;
}
