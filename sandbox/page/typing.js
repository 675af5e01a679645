/**
 * Say who is typing, below the messages.
 */

import { byId, el } from "./dom.js";

/** @param {import("./store.js").Store} store */
export function showTyping(store) {
  const line = byId("typing");
  store.addEventListener("typing", () => {
    const names = store.typing;
    line.classList.toggle("shown", names.length > 0);
    const dots = el("span", { class: "dots", "aria-hidden": "true" }, el("i"), el("i"), el("i"));
    line.replaceChildren(...(names.length ? [dots, `${joined(names)} typing…`] : []));
  });
}

function joined(names) {
  if (names.length > 3) return "Several people are";
  return `${names.join(" and ")} ${names.length === 1 ? "is" : "are"}`;
}
