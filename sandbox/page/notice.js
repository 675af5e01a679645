/**
 * Show what went wrong, in one line above the composer.
 */

import { byId } from "./dom.js";

/** @param {unknown} error an error of this page's api, or a line of text */
export function complain(error) {
  byId("notice-text").textContent = error instanceof Error ? error.message : String(error);
  byId("notice").hidden = false;
}

export function clearNotice() {
  byId("notice").hidden = true;
}

/**
 * Run an action of the reader; its failure becomes the notice, its success clears an older one.
 *
 * @template T
 * @param {() => Promise<T>} action
 * @returns {Promise<{ok: true, value: T} | {ok: false}>}
 */
export async function attempt(action) {
  try {
    const value = await action();
    clearNotice();
    return { ok: true, value };
  } catch (error) {
    complain(error);
    return { ok: false };
  }
}
