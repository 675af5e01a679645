/**
 * Tell newcomers what to try, until they have had enough of it.
 */

import { byId } from "./dom.js";

const HIDDEN = "interlock-sandbox-welcome-hidden";

/** @param {(text: string) => void} suggest puts a text into the composer */
export function showWelcome(suggest) {
  const welcome = byId("welcome");
  welcome.hidden = localStorage.getItem(HIDDEN) !== null;
  welcome.addEventListener("click", ({ target }) => {
    const { suggest: text } = target.closest("button")?.dataset ?? {};
    if (text) suggest(text);
  });
  byId("welcome-hide").addEventListener("click", () => {
    localStorage.setItem(HIDDEN, "yes");
    welcome.hidden = true;
  });
}
