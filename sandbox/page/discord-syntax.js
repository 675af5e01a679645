/**
 * Teach markdown-it what Discord writes beyond markdown, and unteach what Discord does not know.
 *
 * Every rule makes tokens; text reaches the page through markdown-it's own escaping or `escapeHtml`.
 */

/** Rules of markdown-it for which Discord shows the characters as they are. */
const UNKNOWN_TO_DISCORD = ["table", "code", "hr", "lheading", "reference", "image", "entity"];

/** Link schemes that a message may carry; all others stay text. */
const ALLOWED_LINK = /^https?:\/\//i;

/** `<@1>`, `<@!1>`, `<@&1>`, `<#1>`, `</name:1>`, `<:name:1>`, `<a:name:1>`, `<t:1>`, `<t:1:R>` */
const REFERENCE = /^<(?:(@!?|@&|#)(\d+)|\/([^:<>]+):\d+|a?:(\w+):\d+|t:(-?\d{1,13})(?::([tTdDfFR]))?)>/;

/** A run of text that no inline rule begins in; markdown-it's own run does not stop at spoilers' `|`. */
const TEXT = /[^\n!#$%&*+\-:<=>@[\]\\^_`{}~|]+/y;

const DATE_STYLES = {
  t: { timeStyle: "short" },
  T: { timeStyle: "medium" },
  d: { dateStyle: "short" },
  D: { dateStyle: "long" },
  f: { dateStyle: "long", timeStyle: "short" },
  F: { dateStyle: "full", timeStyle: "short" },
};

/**
 * @typedef {object} Names
 * @property {(id: string) => string} user
 * @property {(id: string) => string} role
 * @property {(id: string) => string} channel
 */

/** @param {import("./vendor/markdown-it/markdown-it.esm.min.mjs").default} md */
export function discordSyntax(md) {
  md.disable(UNKNOWN_TO_DISCORD);
  md.validateLink = (url) => ALLOWED_LINK.test(url);
  md.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  for (const scheme of ["ftp:", "//", "mailto:"]) md.linkify.add(scheme, null);

  md.block.ruler.at("blockquote", quote, { alt: ["paragraph", "blockquote", "list"] });
  md.block.ruler.before("list", "subtext", subtext, { alt: ["paragraph", "blockquote"] });
  md.inline.ruler.at("text", text);
  md.inline.ruler.before("autolink", "reference_to", referenceTo);
  md.inline.ruler.before("emphasis", "spoiler", spoiler);

  md.renderer.rules.strong_open = (tokens, at) => (tokens[at].markup === "__" ? "<u>" : "<strong>");
  md.renderer.rules.strong_close = (tokens, at) => (tokens[at].markup === "__" ? "</u>" : "</strong>");
  md.renderer.rules.link_open = linkOpen;
  md.renderer.rules.fence = (tokens, at) => codeBlock(md, tokens[at]);
}

/**
 * Quote the lines that begin with `> `, or all that follows a `>>> `.
 *
 * CommonMark also draws in an unmarked line below a quote; Discord does not.
 */
function quote(state, startLine, endLine, silent) {
  const rest = marks(state, startLine, ">>> ");
  if (!rest && !marks(state, startLine, "> ")) return false;
  if (silent) return true;
  let end = startLine + 1;
  while (end < endLine && (rest || marks(state, end, "> "))) end += 1;

  const { parentType, lineMax } = state;
  const kept = [state.bMarks, state.tShift, state.sCount].map((marksOfLines) => marksOfLines.slice());
  if (rest) skipMark(state, startLine, ">>> ");
  else for (let line = startLine; line < end; line += 1) skipMark(state, line, "> ");
  state.parentType = "blockquote";
  state.lineMax = end;
  state.push("blockquote_open", "blockquote", 1);
  state.md.block.tokenize(state, startLine, end);
  state.push("blockquote_close", "blockquote", -1);
  [state.bMarks, state.tShift, state.sCount] = kept;
  Object.assign(state, { parentType, lineMax, line: end });
  return true;
}

function marks(state, line, mark) {
  return state.src.startsWith(mark, state.bMarks[line] + state.tShift[line]);
}

/** Let a line begin behind its quote mark, with the indent that follows the mark. */
function skipMark(state, line, mark) {
  const begin = state.bMarks[line] + state.tShift[line] + mark.length;
  const indent = state.src.slice(begin, state.eMarks[line]).search(/\S|$/);
  state.bMarks[line] = begin;
  state.tShift[line] = indent;
  state.sCount[line] = state.blkIndent + indent;
}

/** Make a small line of `-# text`. */
function subtext(state, startLine, _endLine, silent) {
  const begin = state.bMarks[startLine] + state.tShift[startLine];
  if (!marks(state, startLine, "-# ")) return false;
  if (silent) return true;
  state.push("subtext_open", "small", 1).block = true;
  const inline = state.push("inline", "", 0);
  inline.content = state.src.slice(begin + "-# ".length, state.eMarks[startLine]).trim();
  inline.map = [startLine, startLine + 1];
  inline.children = [];
  state.push("subtext_close", "small", -1).block = true;
  state.line = startLine + 1;
  return true;
}

function text(state, silent) {
  TEXT.lastIndex = state.pos;
  const match = TEXT.exec(state.src.slice(0, state.posMax));
  if (match === null) return false;
  if (!silent) state.pending += match[0];
  state.pos += match[0].length;
  return true;
}

/** Show who, where, which command, which emoji or what time is meant by `<…>`. */
function referenceTo(state, silent) {
  if (state.src[state.pos] !== "<") return false;
  const match = REFERENCE.exec(state.src.slice(state.pos, state.posMax));
  if (match === null) return false;
  if (!silent) {
    const [, sigil, id, command, emoji, seconds, style] = match;
    if (sigil) label(state, "mention", mention(state.env.names, sigil, id));
    else if (command) label(state, "mention", `/${command}`);
    else if (emoji) label(state, "custom-emoji", `:${emoji}:`);
    else label(state, "timestamp", moment(Number(seconds) * 1000, style ?? "f"));
  }
  state.pos += match[0].length;
  return true;
}

function label(state, className, text) {
  state.push("label_open", "span", 1).attrs = [["class", className]];
  state.push("text", "", 0).content = text;
  state.push("label_close", "span", -1);
}

/** @param {Names} names */
function mention(names, sigil, id) {
  if (sigil === "#") return `#${names.channel(id)}`;
  return `@${sigil === "@&" ? names.role(id) : names.user(id)}`;
}

function moment(milliseconds, style) {
  if (style !== "R") return new Intl.DateTimeFormat(undefined, DATE_STYLES[style]).format(milliseconds);
  const seconds = Math.round((milliseconds - Date.now()) / 1000);
  const units = [["year", 31_536_000], ["month", 2_592_000], ["day", 86_400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  return new Intl.RelativeTimeFormat(undefined, { numeric: "auto" }).format(Math.trunc(seconds / size), unit);
}

/** Hide the text between two `||` until it is clicked. */
function spoiler(state, silent) {
  if (!state.src.startsWith("||", state.pos)) return false;
  const begin = state.pos + 2;
  const end = state.src.indexOf("||", begin);
  if (end <= begin || end > state.posMax - 2) return false;
  if (!silent) {
    const inside = [];
    state.md.inline.parse(state.src.slice(begin, end), state.md, state.env, inside);
    const open = state.push("spoiler_open", "span", 1);
    open.attrs = [["class", "spoiler"], ["role", "button"], ["tabindex", "0"], ["aria-label", "Spoiler"]];
    state.tokens.push(...inside);
    state.tokens_meta.push(...inside.map(() => null));
    state.push("spoiler_close", "span", -1);
  }
  state.pos = end + 2;
  return true;
}

function linkOpen(tokens, at, options, _env, renderer) {
  tokens[at].attrSet("target", "_blank");
  tokens[at].attrSet("rel", "noopener noreferrer nofollow");
  return renderer.renderToken(tokens, at, options);
}

/** Draw a fenced block with the name of its language and a button that copies it. */
function codeBlock(md, token) {
  const escape = md.utils.escapeHtml;
  const language = token.info.trim().split(/\s/, 1)[0];
  return (
    `<figure class="code"><figcaption><span>${escape(language || "text")}</span>` +
    `<button type="button" class="copy">Copy</button></figcaption>` +
    `<pre tabindex="0"><code>${escape(token.content)}</code></pre></figure>`
  );
}
