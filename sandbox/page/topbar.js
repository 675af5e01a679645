/**
 * Say where one is and how the bot is, and let it be crashed and restarted.
 */

import * as api from "./api.js";
import { byId } from "./dom.js";
import { attempt } from "./notice.js";

const UNSUPERVISED = "The bot was started by itself, so this page cannot kill or start it.";

/** @param {import("./store.js").Store} store */
export function showTopbar(store) {
  const [status, crash, restart] = ["bot-status", "crash", "restart"].map(byId);

  crash.addEventListener("click", () => act(api.crashBot));
  restart.addEventListener("click", () => act(api.restartBot));
  store.addEventListener("bot", draw);
  store.addEventListener("world", draw);
  store.addEventListener("place", drawPlace);
  store.addEventListener("world", drawPlace);

  async function act(call) {
    crash.disabled = true;
    restart.disabled = true;
    await attempt(call);
    const now = await attempt(api.bot);
    if (now.ok) store.setBot(now.value);
    draw();
  }

  function draw() {
    const { bot: { online, supervised }, connected } = store;
    const word = online ? "online" : "offline";
    status.dataset.state = connected ? word : "unknown";
    byId("bot-status-text").textContent = connected ? `${store.world.bot.name} ${word}` : "sandbox not reachable";
    crash.disabled = !supervised || !online || !connected;
    restart.disabled = !supervised || !connected;
    crash.title = supervised ? "Kill the bot's process with SIGKILL, as a crash would" : UNSUPERVISED;
    restart.title = supervised ? "Start the bot again" : UNSUPERVISED;
  }

  function drawPlace() {
    const { channel } = store;
    if (channel === null) return;
    byId("channel-name").textContent = `${channel.dm ? "@" : "#"} ${channel.name}`;
    document.title = `${channel.name} · ${store.speaker.name} · ${store.world.bot.name} sandbox`;
  }
}
