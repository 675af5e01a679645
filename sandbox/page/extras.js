/**
 * Draw what a message carries besides its text: embeds, files, buttons.
 */

import { button, el } from "./dom.js";
import { renderInto } from "./markdown.js";

/** Component types and the button style of Discord that this page knows. */
const ACTION_ROW = 1;
const BUTTON = 2;
const STRING_SELECT = 3;
const LINK_STYLE = 5;
const BUTTON_STYLES = { 1: "primary", 2: "secondary", 3: "success", 4: "danger", 5: "link-out" };

const KIB = 1024;

/** An address that may be opened or loaded: other schemes could run code in this page. */
function safe(url) {
  return /^https?:\/\//i.test(url ?? "") ? url : null;
}

function outward(url, attributes, ...children) {
  const href = safe(url);
  if (href === null) return el("span", attributes, ...children);
  return el("a", { href, target: "_blank", rel: "noopener noreferrer", ...attributes }, ...children);
}

export function drawComponents(message, { actions }) {
  return (message.components ?? [])
    .filter((row) => row.type === ACTION_ROW)
    .map((row) => el("div", { class: "row" }, ...row.components.map((part) => drawComponent(part, message, actions))));
}

function drawComponent(part, message, actions) {
  if (part.type === BUTTON) return drawButton(part, message, actions);
  if (part.type === STRING_SELECT) return drawSelect(part, message, actions);
  return el("span", { class: "unsupported" }, `(a component of type ${part.type}, which this page cannot show)`);
}

function drawSelect(part, message, actions) {
  const hint = el("option", { value: "", disabled: true, selected: true }, part.placeholder ?? "Choose…");
  const options = part.options.map(({ value, label }) => el("option", { value }, label));
  const select = el("select", { class: "component", disabled: part.disabled, data: { testid: "component" } }, hint, ...options);
  select.addEventListener("change", () => actions.press(message, part.custom_id, select, [select.value]));
  return select;
}

function drawButton(part, message, actions) {
  const label = [part.emoji?.id ? `:${part.emoji.name}:` : part.emoji?.name, part.label].filter(Boolean).join(" ");
  if (part.style === LINK_STYLE) return outward(part.url, { class: "component link-out" }, `${label} ↗`);
  const made = button(label, () => actions.press(message, part.custom_id, made), {
    class: `component ${BUTTON_STYLES[part.style] ?? "secondary"}`,
    disabled: part.disabled,
    data: { testid: "component", customId: part.custom_id },
  });
  return made;
}

export function drawAttachments(message) {
  return (message.attachments ?? []).map((file) => {
    const picture = file.content_type?.startsWith("image/") && safe(file.url);
    return outward(
      file.url,
      { class: picture ? "picture" : "file", data: { testid: "attachment" } },
      picture
        ? el("img", { src: file.url, alt: file.description ?? file.filename, loading: "lazy" })
        : el("span", {}, file.filename),
      picture ? null : el("small", {}, size(file.size)),
    );
  });
}

function size(bytes) {
  if (bytes < KIB) return `${bytes} bytes`;
  return bytes < KIB * KIB ? `${(bytes / KIB).toFixed(1)} KiB` : `${(bytes / KIB / KIB).toFixed(1)} MiB`;
}

export function drawEmbeds(message, { store }) {
  return (message.embeds ?? []).map((embed) => {
    const box = el(
      "article",
      { class: "embed", data: { testid: "embed" } },
      embed.author ? outward(embed.author.url, { class: "embed-author" }, embed.author.name) : null,
      embed.title ? outward(embed.url, { class: "embed-title" }, embed.title) : null,
      embed.description ? text(embed.description, store) : null,
      embed.fields?.length ? el("dl", {}, ...embed.fields.map((field) => drawField(field, store))) : null,
      picture(embed.image, "embed-image"),
      picture(embed.thumbnail, "embed-thumbnail"),
      embed.footer ? el("footer", {}, embed.footer.text) : null,
    );
    if (embed.color) box.style.setProperty("--edge", `#${embed.color.toString(16).padStart(6, "0")}`);
    return box;
  });
}

function drawField(field, store) {
  const name = el("dt");
  renderInto(name, field.name, store.names);
  return el("div", { class: field.inline ? "inline" : null }, name, text(field.value, store, "dd"));
}

function text(content, store, tag = "div") {
  const element = el(tag, { class: "embed-text" });
  renderInto(element, content, store.names);
  return element;
}

function picture(image, className) {
  return safe(image?.url) ? el("img", { class: className, src: image.url, alt: "", loading: "lazy" }) : null;
}
