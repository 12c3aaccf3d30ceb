"use strict";
// The live view: parts of the page take the place of others as they come, and whoever reads keeps their place.
(() => {
  const one = (id) => document.getElementById(id);
  const live = one("live");
  const keyOf = (node) => node.nodeType === 1 ? node.id || node.getAttribute("data-key") || "" : "";
  // What this script put there, no server knows of.
  const isOwn = (node) => node.nodeType === 1 && node.hasAttribute("data-live");
  // What the reader did to an element stays.
  const readers = { DETAILS: ["open"], DIALOG: ["open"], INPUT: ["value", "checked"], OPTION: ["selected"] };

  const dress = (old, fresh) => {
    const kept = readers[old.nodeName] ?? [];
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !kept.includes(name)) old.removeAttribute(name);
    for (const { name, value } of [...fresh.attributes]) if (!kept.includes(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  };
  const morph = (old, fresh) => {
    if (old.isEqualNode(fresh)) return;
    if (old.nodeType !== 1) { old.nodeValue = fresh.nodeValue; return; }
    const chosen = old.nodeName === "SELECT" ? old.value : null;
    dress(old, fresh);
    fill(old, fresh);
    if (chosen !== null && [...old.options].some((option) => option.value === chosen)) old.value = chosen;
  };
  const fill = (old, fresh) => {
    const wanted = new Set([...fresh.childNodes].map(keyOf).filter(Boolean));
    for (const node of [...old.childNodes]) if (keyOf(node) && !wanted.has(keyOf(node)) && !isOwn(node)) node.remove();
    const keyed = new Map([...old.childNodes].filter(keyOf).map((node) => [keyOf(node), node]));
    let at = old.firstChild;
    const skip = () => { while (at && isOwn(at)) at = at.nextSibling; };
    for (const next of [...fresh.childNodes]) {
      skip();
      const key = keyOf(next);
      const like = at && !keyOf(at) && at.nodeName === next.nodeName ? at : null;
      const match = key ? keyed.get(key) : like;
      if (!match) { old.insertBefore(next, at); continue; }
      if (match === at) at = at.nextSibling; else old.insertBefore(match, at);
      morph(match, next);
    }
    while (at) { const gone = at; at = at.nextSibling; if (!isOwn(gone)) gone.remove(); }
  };
  const place = (name, html) => {
    const old = one(name), holder = document.createElement("template");
    holder.innerHTML = html;
    const fresh = holder.content.querySelector(`#${CSS.escape(name)}`);
    if (!old || !fresh) return;
    const focused = document.activeElement, near = focused?.closest("article, tr, section");
    morph(old, fresh);
    if (focused && focused !== document.body && !focused.isConnected && near?.isConnected) near.focus();
  };

  // --- what is being done, and for how long
  let under_way = {}, trouble = "";
  const long = (seconds) => seconds < 100 ? `${seconds} s` : seconds < 6000 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s` : `${Math.floor(seconds / 3600)} h ${Math.floor(seconds % 3600 / 60)} min`;
  const tell = () => {
    const doing = trouble ? {} : under_way;
    for (const now of document.querySelectorAll(".now")) if (!(now.dataset.of in doing)) now.remove();
    for (const [id, { text, since }] of Object.entries(doing)) {
      const row = one(id);
      if (!row) continue;
      let now = row.querySelector(".now");
      if (!now) {
        now = document.createElement("p");
        now.className = "now"; now.dataset.of = id; now.setAttribute("data-live", "");
        const host = row.querySelector("[data-now]"), standing = row.querySelector(".standing");
        if (host) host.append(now); else if (standing) standing.after(now); else continue;
      }
      const seconds = Math.max(0, Math.round((Date.now() - Date.parse(since)) / 1000));
      const told = [text, Number.isFinite(seconds) ? long(seconds) : ""].filter(Boolean).join(", ");
      if (now.textContent !== told) now.textContent = told;
    }
  };
  setInterval(tell, 1000);

  // --- cancelling
  const asked = new Set();
  const mark = () => { for (const button of document.querySelectorAll("[data-cancel]")) button.disabled = Boolean(trouble) || asked.has(button.dataset.cancel); };
  const say = (text) => { one("live-said").textContent = text; };
  const confirmed = () => new Promise((resolve) => {
    const ask = one("ask");
    ask.returnValue = "no";
    ask.addEventListener("close", () => resolve(ask.returnValue === "yes"), { once: true });
    ask.showModal();
  });
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-cancel]");
    if (!button || button.disabled) return;
    one("ask-title").textContent = `${button.textContent.trim()}?`;
    if (!await confirmed()) return;
    const address = button.dataset.cancel;
    asked.add(address); mark();
    try {
      const answer = await fetch(address, { method: "POST", headers: { accept: "application/json" } });
      const told = await answer.json();
      say(told.told);
      if (!answer.ok) { asked.delete(address); button.disabled = false; }
    } catch {
      asked.delete(address); button.disabled = false;
      say("The server cannot be reached; nothing was cancelled.");
    }
  });

  // --- two runs to compare
  const chosen = () => [...document.querySelectorAll("input[name=run]:checked")];
  const compare = () => { if (one("compare")) one("compare").disabled = chosen().length !== 2; };
  document.addEventListener("change", compare);

  // --- the stream: closed while nobody sees the page, since a browser keeps few of them for all its pages
  let source = null, seen = live.dataset.mark, is_done = false;
  const state = (text) => { const told = one("live-state"); if (told.textContent !== text) told.textContent = text; };
  const changed = () => { mark(); tell(); compare(); document.dispatchEvent(new Event("outcrop:changed")); };
  const listen = (kind, act) => source.addEventListener(kind, (event) => {
    if (event.lastEventId) seen = event.lastEventId;
    act(JSON.parse(event.data));
  });
  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource(`${live.dataset.events}${live.dataset.events.includes("?") ? "&" : "?"}since=${encodeURIComponent(seen)}`);
    source.onopen = () => state(trouble || "Live");
    source.onerror = () => {
      if (is_done) return;
      // Whoever is answered, but with no stream, is not asked again: the server is another one, or the run is gone.
      const isGivenUp = source.readyState === EventSource.CLOSED;
      state(isGivenUp ? "Not connected. Load this page again, or open the address that “outcrop ui” printed last" : "Not connected; trying again");
      if (isGivenUp) close();
    };
    listen("state", ({ data }) => { trouble = data; state(trouble || "Live"); mark(); tell(); });
    listen("part", ({ name, data }) => { place(name, data); changed(); });
    listen("progress", ({ data }) => { under_way = data; tell(); });
    listen("said", ({ data }) => say(data.text));
    listen("done", () => { is_done = true; state("Ended"); close(); });
  };
  const close = () => { source?.close(); source = null; };
  document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else { is_done = false; open(); } });
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  changed();
  open();
})();
