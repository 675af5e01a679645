/**
 * Give each person a face and a colour.
 */

import { el } from "./dom.js";

/** How many `person-N` colours style/base.css defines. */
const COLORS = 6;

/** @returns {string} a class; the same person has the same one everywhere */
export function personColor(person) {
  if (person.bot) return "person-bot";
  let sum = 0;
  for (const character of person.name) sum += character.codePointAt(0);
  return `person-${sum % COLORS}`;
}

/** @param {{name: string, bot?: boolean}} person */
export function avatar(person) {
  if (person.bot) return el("img", { class: "avatar", src: "/page/logo.svg", alt: "" });
  return el("span", { class: `avatar ${personColor(person)}`, "aria-hidden": "true" }, person.name[0].toUpperCase());
}
