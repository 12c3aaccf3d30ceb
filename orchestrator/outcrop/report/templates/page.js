"use strict";
(() => {
  const one = (id) => document.getElementById(id);
  const all = (selector, under = document) => [...under.querySelectorAll(selector)];

  // --- light and dark
  const root = document.documentElement;
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const remembered = (write) => {
    // A page from a file may have no storage.
    try { return write === undefined ? localStorage.getItem("outcrop-theme") : localStorage.setItem("outcrop-theme", write); } catch { return null; }
  };
  if (["light", "dark"].includes(remembered())) root.dataset.theme = remembered();
  const dress = () => { const button = one("theme"); button.hidden = false; button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", button.textContent + " colours"); };

  // --- search and filters: whatever is on the page, also what is put there later
  const value = (id) => one(id)?.value ?? "";
  const counted = (shown, whole, word, more) => whole ? `${shown} of ${whole} ${whole === 1 ? word : more}` : "";
  const words = { dispatch: "dispatches", file: "files", finding: "findings", job: "jobs", hypothesis: "hypotheses", message: "messages" };
  const sift = () => {
    const query = value("query").trim().toLowerCase().split(/\s+/).filter(Boolean);
    const status = value("by-status"), specialist = value("by-specialist");
    const counts = {};
    for (const item of all("[data-find]")) {
      const kind = item.dataset.find, text = query.length ? item.textContent.toLowerCase() : "";
      const isFound = query.every((word) => text.includes(word))
        && (kind !== "dispatch" || ((!status || item.dataset.status === status) && (!specialist || item.dataset.specialist === specialist)));
      item.hidden = !isFound;
      counts[kind] ??= [0, 0];
      counts[kind][0] += isFound; counts[kind][1] += 1;
    }
    const isSifted = query.length || status || specialist;
    const told = Object.entries(words).map(([word, more]) => counted(...(counts[word] ?? [0, 0]), word, more)).filter(Boolean).join(", ");
    if (one("found")) one("found").textContent = isSifted ? `Shown: ${told || "nothing"}` : "";
  };
  const choose = () => { for (const agent of all(".agent")) agent.hidden = agent.dataset.agent !== value("by-agent"); };

  // --- large pictures, and what is behind a figure
  const show = (title, body) => {
    one("large-title").textContent = title;
    one("large").querySelector(".large-body").replaceChildren(body);
    one("large").showModal();
  };
  const enlarge = (link) => {
    const small = link.querySelector("img"), large = new Image();
    large.src = small.src; large.alt = small.alt;
    show(link.closest("figure").querySelector("figcaption b").textContent, large);
  };
  const explain = (row, figure) => {
    const list = document.createElement("dl"), names = all("thead th", row.closest("table")), cells = all("td", row);
    names.forEach((name, place) => {
      if (!cells[place].textContent.trim()) return;
      const term = document.createElement("dt"), told = document.createElement("dd");
      term.textContent = name.textContent; told.textContent = cells[place].textContent;
      list.append(term, told);
    });
    show(`The figure ${figure}`, list);
  };

  const open = (state) => { for (const each of all(".dispatch > details")) each.open = state; };
  const ready = () => {
    for (const id of ["search", "filters", "agents"]) if (one(id)) one(id).hidden = false;
    dress(); choose(); sift();
  };
  document.addEventListener("click", (event) => {
    const large = event.target.closest("[data-large]"), figure = event.target.closest("a.figure");
    if (large) { event.preventDefault(); enlarge(large); return; }
    const row = figure && document.getElementById(figure.hash.slice(1));
    if (row) { event.preventDefault(); explain(row, figure.firstChild.textContent); return; }
    // What a link leads to is shown, whatever was searched for. Those of the timeline are of SVG, and have no hash.
    const inside = event.target.closest("a[href^='#']");
    if (inside && document.getElementById(inside.getAttribute("href").slice(1))?.hidden) {
      for (const id of ["query", "by-status", "by-specialist"]) if (one(id)) one(id).value = "";
      sift();
    }
    if (event.target.id === "theme") { root.dataset.theme = isDark() ? "light" : "dark"; remembered(root.dataset.theme); dress(); }
    if (event.target.id === "unfold") {
      const state = event.target.textContent.startsWith("Unfold");
      open(state); event.target.textContent = state ? "Fold all" : "Unfold all";
    }
    if (event.target.id === "large") event.target.close();
  });
  document.addEventListener("input", (event) => {
    if (["query", "by-status", "by-specialist"].includes(event.target.id)) sift();
    if (event.target.id === "by-agent") choose();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.matches("input, select, textarea") && one("query")) { event.preventDefault(); one("query").focus(); }
    if (event.key === "Escape" && event.target.id === "query") { event.target.value = ""; sift(); }
  });
  // On paper nothing can be unfolded.
  let folded = [];
  addEventListener("beforeprint", () => { folded = all("details:not([open])"); for (const each of folded) each.open = true; for (const agent of all(".agent")) agent.hidden = false; });
  addEventListener("afterprint", () => { for (const each of folded) each.open = false; choose(); });
  // A live view puts sections in place of others, and calls this.
  document.addEventListener("outcrop:changed", ready);
  ready();
})();
