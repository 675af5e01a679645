/**
 * Make elements without ever going through HTML text.
 */

/**
 * Make one element.
 *
 * Strings among the children become text nodes, so what people write can never become markup.
 *
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes] `on` holds listeners by event name, `data` goes to
 *   the dataset, a boolean switches an attribute, null and undefined leave it out.
 * @param {...(Node | string | null | undefined)} children
 * @returns {HTMLElement}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "data") {
      Object.assign(element.dataset, value);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Find an element of index.html; a missing one is a mistake in this page. */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`index.html has no #${id}`);
  return element;
}

/**
 * Make a button that acts on a click and never submits a form.
 *
 * @param {string} label what is written on it
 * @param {() => void} action
 * @param {Record<string, unknown>} [attributes]
 */
export function button(label, action, attributes = {}) {
  return el("button", { type: "button", on: { click: action }, ...attributes }, label);
}
