/**
 * Choose who this window speaks as.
 */

import { byId, el } from "./dom.js";
import { avatar } from "./people.js";

/**
 * @param {import("./store.js").Store} store
 * @param {(userId: string) => void} choose
 */
export function showSpeakers(store, choose) {
  const choices = byId("speakers");
  const draw = () => {
    const focused = choices.contains(document.activeElement);
    choices.replaceChildren(...store.world.users.map((user) => drawSpeaker(user, user.id === store.speakerId)));
    if (focused) choices.querySelector("input:checked").focus();
  };
  choices.addEventListener("change", ({ target }) => choose(target.value));
  store.addEventListener("world", draw);
  store.addEventListener("place", draw);
}

function drawSpeaker(user, checked) {
  const input = el("input", { type: "radio", name: "speaker", value: user.id, data: { testid: `speak-as-${user.name}` } });
  input.checked = checked;
  return el("label", { class: "speaker" }, input, avatar(user), el("span", {}, user.name));
}
