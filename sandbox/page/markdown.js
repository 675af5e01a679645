/**
 * Turn the text of a message into elements.
 */

import MarkdownIt from "./vendor/markdown-it/markdown-it.esm.min.mjs";
import { discordSyntax } from "./discord-syntax.js";

/** How long "Copied" stands on the button, long enough to be read. */
const COPIED_MS = 1500;

const markdown = new MarkdownIt({ html: false, breaks: true, linkify: true }).use(discordSyntax);

/**
 * The only way by which text becomes markup: the page's Content-Security-Policy refuses every other
 * assignment of HTML, and this one holds what markdown-it made with HTML switched off.
 */
const policy = globalThis.trustedTypes?.createPolicy("markdown", { createHTML: (html) => html }) ?? {
  createHTML: (html) => html,
};

/**
 * @param {string} text
 * @param {import("./discord-syntax.js").Names} names
 * @returns {DocumentFragment}
 */
export function render(text, names) {
  const template = document.createElement("template");
  template.innerHTML = policy.createHTML(markdown.render(text, { names }));
  return template.content;
}

/** @type {WeakMap<Element, string[]>} the blocks that each element was last given */
const drawn = new WeakMap();

/**
 * Draw a text into an element, touching only the blocks that changed.
 *
 * The common beginning stays: a reply that grows keeps its selection and its opened spoilers, because
 * only its last blocks are replaced. The blocks are compared as they were made, not as they stand in
 * the page, where a reader may have opened a spoiler.
 *
 * @param {Element} element holds nothing else
 * @param {string} text
 * @param {import("./discord-syntax.js").Names} names
 */
export function renderInto(element, text, names) {
  const blocks = [...render(text, names).children];
  const wanted = blocks.map((block) => block.outerHTML);
  const had = drawn.get(element) ?? [];
  let same = 0;
  while (same < had.length && had[same] === wanted[same]) same += 1;
  while (element.childNodes.length > same) element.lastChild.remove();
  element.append(...blocks.slice(same));
  drawn.set(element, wanted);
}

/**
 * Reduce a text to one plain line, for quotes and announcements.
 *
 * @param {string} text
 * @param {import("./discord-syntax.js").Names} names
 */
export function plain(text, names) {
  const content = render(text, names);
  content.querySelectorAll("figcaption").forEach((caption) => caption.remove());
  content.querySelectorAll(".spoiler").forEach((hidden) => hidden.replaceChildren("(spoiler)"));
  return content.textContent.replace(/\s+/g, " ").trim();
}

/**
 * Let spoilers open and code be copied, wherever in `root` they appear.
 *
 * @param {HTMLElement} root
 */
export function listen(root) {
  root.addEventListener("click", ({ target }) => {
    openSpoiler(target);
    const copy = target.closest("button.copy");
    if (copy) copyCode(copy);
  });
  root.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") openSpoiler(event.target);
  });
}

/** @param {Element} target a spoiler or something in one */
function openSpoiler(target) {
  const spoiler = target.closest(".spoiler");
  spoiler?.classList.add("open");
  for (const attribute of ["role", "tabindex", "aria-label"]) spoiler?.removeAttribute(attribute);
}

/** @param {HTMLButtonElement} copy */
async function copyCode(copy) {
  await navigator.clipboard.writeText(copy.closest("figure").querySelector("code").textContent);
  copy.textContent = "Copied";
  setTimeout(() => {
    copy.textContent = "Copy";
  }, COPIED_MS);
}
