  // The list: a light row per finding, its details made when it is opened.
  const players = new Map();
  let current = null;
  const rows = data.findings.map((finding) => {
    const summary = element("summary", {},
      element("span", { class: "badge" }, `${finding.evidence} · ${finding.rule}`),
      element("span", { class: "where" }, [finding.where, finding.id].filter(Boolean).join(" · ")),
      element("span", { class: "sentence" }, finding.message));
    const row = element("details", { class: `finding ${finding.evidence}`, id: finding.id }, summary);
    row.addEventListener("toggle", () => {
      if (row.open) fill(row, finding);
      current = row.open ? finding.id : current;
      for (const mark of marks.get(finding.id) || []) mark.classList.toggle("on", row.open);
    });
    return { finding, row, words: JSON.stringify(finding).toLowerCase() };
  });

  function fill(row, finding) {
    if (row.querySelector(".body")) return;
    const body = element("div", { class: "body" });
    row.append(body);
    if (finding.outcome) body.append(element("p", { class: finding.bad ? "outcome bad" : "outcome" }, `${finding.run}: ${finding.outcome}`));
    if (finding.help) body.append(element("p", { class: "fix" }, element("strong", {}, "Fix: "), finding.help));
    const sources = sourceViews(finding);
    if (finding.steps.length) {
      const player = interleaving(finding, sources);
      players.set(finding.id, player);
      player.addEventListener("pointerdown", () => { current = finding.id; });
      body.append(player);
    }
    if (finding.tests.length) body.append(element("h3", {}, "Tests"), element("p", {}, finding.tests.join(", ")));
    if (finding.replay) body.append(element("h3", {}, "See it again"), command(finding.replay));
    const details = [];
    if (finding.thrown.length) details.push(element("h3", {}, "Thrown"), element("pre", {}, finding.thrown.join("\n")));
    if (finding.printed && finding.printed.length) details.push(element("h3", {}, "Last lines printed"), element("pre", {}, finding.printed.join("\n")));
    if (details.length) body.append(fold(finding.thrown.length ? "Exception stack and last lines printed" : "Last lines printed", false, ...details));
    if (sources.views.length) body.append(fold("Source", true, ...sources.views));
    const more = [facts(finding)];
    if (finding.schedule.length) more.push(turns(finding));
    if (finding.steps.length) more.push(element("h3", {}, "Steps and stacks"), stacks(finding));
    body.append(fold("Evidence, patterns, schedule and stacks", false, ...more));
  }

  function fold(title, open, ...children) {
    const box = element("details", { class: "fold" }, element("summary", {}, title), ...children);
    box.open = open;
    return box;
  }

  function facts(finding) {
    const facts = element("dl", { class: "facts" });
    const add = (name, value, style) => {
      if (!value || !value.length) return;
      facts.append(element("dt", {}, name), element("dd", style ? { class: style } : {}, value));
    };
    const reached = ladder.indexOf(finding.evidence);
    const rungs = ladder.map((name, index) => {
      const rung = element("li", index <= reached ? { class: "reached" } : {}, name);
      if (index === reached) rung.setAttribute("aria-current", "step");
      return rung;
    });
    facts.append(element("dt", {}, "Evidence"),
      element("dd", {}, element("ol", { class: "ladder" }, ...rungs), finding.meaning));
    add(finding.limit_label.replace(/^./, (letter) => letter.toUpperCase()), finding.limit, "limit");
    add("Should be atomic", finding.units.join("; "));
    add(finding.rule === "lock-order" ? "Locks" : "Variables", finding.names);
    add("Pattern", finding.patterns.join(", "));
    add("Found by", finding.analyses.join(", "));
    add("Also seen as", finding.also);
    return facts;
  }

  function command(text) {
    const code = element("code", {}, text);
    const button = element("button", { type: "button", class: "copy" }, "Copy");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        // A page from disk may not use the clipboard directly.
        const range = document.createRange();
        range.selectNodeContents(code);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        document.execCommand("copy");
      }
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    return element("div", { class: "command" }, code, button);
  }

  // Filters.
  const control = (name) => form.elements.namedItem(name);
  function options(name, first, values) {
    control(name).append(element("option", { value: "" }, first), ...values.map((v) => element("option", { value: v }, v || "(default)")));
  }
  const distinct = (of) => [...new Set(data.findings.flatMap(of))].sort();
  options("evidence", "any", [...ladder].reverse().slice(0, -1).map((e) => e));
  for (const option of [...control("evidence").options].slice(1)) if (option.value !== "harmful") option.textContent += " or more";
  options("rule", "any", distinct((f) => [f.rule]));
  options("package", "any", distinct((f) => f.packages));
  options("thread", "any", distinct((f) => f.threads));
  const held = data.findings.filter((f) => !f.shown).length;
  const few = data.findings.length <= fewFindings;
  control("held").checked = held === data.findings.length;
  control("held").closest("label").hidden = held === 0;
  form.classList.toggle("few", few);
  form.hidden = few && held === 0;

  function filter() {
    const least = ladder.indexOf(control("evidence").value);
    const text = control("text").value.trim().toLowerCase();
    let count = 0;
    for (const { finding, row, words } of rows) {
      const keep = (finding.shown || control("held").checked)
        && ladder.indexOf(finding.evidence) >= least
        && (!control("rule").value || finding.rule === control("rule").value)
        && (!control("package").value || finding.packages.includes(control("package").value))
        && (!control("thread").value || finding.threads.includes(control("thread").value))
        && (!text || words.includes(text));
      row.hidden = !keep;
      for (const mark of marks.get(finding.id) || []) mark.hidden = !keep;
      count += keep ? 1 : 0;
    }
    nothing.hidden = count > 0;
    control("count").value = `${count} of ${rows.length} finding${rows.length === 1 ? "" : "s"}`;
  }
  const nothing = element("p", { class: "none" }, rows.length ? "No finding matches the filters." : "No finding.");
  list.append(...rows.map(({ row }) => row), nothing);
  timeline();
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();

  function openFromAddress() {
    const wanted = rows.find(({ finding }) => finding.id === decodeURIComponent(location.hash.slice(1)));
    if (!wanted) return false;
    if (wanted.row.hidden) { form.reset(); control("held").checked = true; filter(); }
    wanted.row.open = true;
    wanted.row.scrollIntoView();
    return true;
  }
  addEventListener("hashchange", openFromAddress);
  if (!openFromAddress()) {
    // The worst comes first, and a reader should not have to click to see it.
    const visible = rows.filter(({ row, finding }) => !row.hidden && finding.shown);
    const first = visible[0] || (rows.length === 1 ? rows[0] : null);
    if (first && !first.row.hidden) { first.row.open = true; fill(first.row, first.finding); current = first.finding.id; }
  }

  // Arrow keys step through the finding that the reader looks at.
  addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target instanceof Element && event.target.closest("input, select, textarea, .source, .window, .turns")) return;
    const player = players.get(current);
    if (!player || !player.checkVisibility()) return;
    event.preventDefault();
    player.move(by);
  });

  // Paper has nothing to open: print the details of what is visible, as far as that is a document and not a stack.
  addEventListener("beforeprint", () => {
    for (const { row, finding } of rows.filter((r) => !r.row.hidden).slice(0, 50)) { row.open = true; fill(row, finding); }
  });
