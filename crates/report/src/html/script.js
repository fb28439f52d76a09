"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const list = document.getElementById("list");
  const form = document.querySelector(".filters");
  const ladder = ["suspected", "predicted", "witnessed", "confirmed", "harmful"];
  const svgSpace = "http://www.w3.org/2000/svg";

  // Everything from the program is set as text, never as markup.
  function element(name, attributes = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children.filter((child) => child !== null));
    return node;
  }
  function shape(name, attributes = {}, text) {
    const node = document.createElementNS(svgSpace, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  }
  const color = (finding, thread) => `var(--t${finding.threads.indexOf(thread) % 6})`;

  // The list: a light row per finding, its details made when it is opened.
  const rows = data.findings.map((finding) => {
    const summary = element("summary", {},
      element("span", { class: "badge" }, `${finding.evidence} · ${finding.rule}`),
      finding.message, " ",
      element("span", { class: "where" }, [finding.where, finding.id].filter(Boolean).join(" · ")));
    const row = element("details", { class: `finding ${finding.evidence}`, id: finding.id }, summary);
    row.addEventListener("toggle", () => {
      if (row.open) fill(row, finding);
      for (const mark of marks.get(finding.id) || []) mark.classList.toggle("on", row.open);
    });
    return { finding, row, words: JSON.stringify(finding).toLowerCase() };
  });

  function fill(row, finding) {
    if (row.querySelector(".body")) return;
    const body = element("div", { class: "body" });
    row.append(body);
    body.append(facts(finding));
    const sources = sourceViews(finding);
    if (finding.steps.length) body.append(interleaving(finding, sources));
    if (sources.views.length) body.append(element("h3", {}, "Source"), ...sources.views);
    if (finding.steps.length) body.append(element("h3", {}, "Steps and stacks"), steps(finding));
    if (finding.replay) body.append(element("h3", {}, "See it again"), command(finding.replay));
  }

  function facts(finding) {
    const facts = element("dl", { class: "facts" });
    const add = (name, value, style) => {
      if (!value || !value.length) return;
      facts.append(element("dt", {}, name), element("dd", style ? { class: style } : {}, value));
    };
    add("Forced run", finding.outcome, "outcome");
    add("Fix", finding.help, "fix");
    add("Expected as one step", finding.units.join("; "));
    add(finding.rule === "lock-order" ? "Locks" : "Variables", finding.names);
    add("Pattern", finding.patterns.join(", "));
    add("Found by", finding.analyses.join(", "));
    const reached = ladder.indexOf(finding.evidence);
    const rungs = ladder.map((name, index) => {
      const rung = element("li", index <= reached ? { class: "reached" } : {}, name);
      if (index === reached) rung.setAttribute("aria-current", "step");
      return rung;
    });
    facts.append(element("dt", {}, "Evidence"),
      element("dd", {}, element("ol", { class: "ladder" }, ...rungs), finding.meaning));
    add("No further", finding.limit, "limit");
    return facts;
  }

  // The slider steps through one order at a time: the one that breaks it, the recorded one, the serial ones.
  function interleaving(finding, sources) {
    const box = element("section", { "aria-label": "Interleaving" });
    const heading = element("h3", {}, "Interleaving");
    const scroll = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Drawing of the threads" });
    const slider = element("input", { type: "range", min: "1", max: String(finding.steps.length), value: String(finding.steps.length),
      "aria-label": "Step" });
    const said = element("p", { class: "said", "aria-live": "polite" });
    const back = element("button", { type: "button", class: "back" }, "Back");
    const next = element("button", { type: "button", class: "next" }, "Next");
    const player = element("div", { class: "player" }, back, slider, next);
    let order = finding.orders[0];
    let groups = [];
    function show() {
      const at = Number(slider.value) - 1;
      groups.forEach((group, index) => {
        group.forEach((node) => {
          node.classList.toggle("later", index > at);
          node.classList.toggle("now", index === at);
        });
      });
      const index = order.steps[at];
      const step = finding.steps[index];
      const decisive = order.broken && index === finding.decisive;
      said.textContent = `Step ${at + 1} of ${order.steps.length}: ${step.does}` +
        (decisive ? ". This is the decisive step." : ".");
      slider.setAttribute("aria-valuetext", said.textContent);
      sources.mark(step);
      back.disabled = at === 0;
      next.disabled = at === order.steps.length - 1;
    }
    function draw() {
      const drawing = lanes(finding, order);
      groups = drawing.groups;
      scroll.replaceChildren(drawing.svg);
      show();
    }
    const move = (by) => { slider.value = String(Number(slider.value) + by); show(); };
    slider.addEventListener("input", show);
    back.addEventListener("click", () => move(-1));
    next.addEventListener("click", () => move(1));
    box.append(heading);
    if (finding.orders.length > 1) {
      box.append(element("fieldset", { class: "orders" }, element("legend", {}, "Order"), ...finding.orders.map((choice, index) => {
        const radio = element("input", { type: "radio", name: `order-${finding.id}`, value: String(index) });
        radio.checked = index === 0;
        radio.addEventListener("change", () => { order = choice; slider.value = "1"; draw(); });
        return element("label", {}, radio, ` ${choice.name}`);
      })));
    }
    box.append(player, said, scroll);
    if (finding.schedule.length) box.append(turns(finding));
    draw();
    return box;
  }

  // Time goes down; a lane per thread; bars beside a lane are locks held; arrows say whose value is read or overwritten.
  function lanes(finding, order) {
    const room = Math.min(document.documentElement.clientWidth || 1100, 1150) - 80;
    const least = room < 560 ? 165 : 230;
    const laneWidth = Math.max(least, Math.min(460, Math.floor((room - 44) / finding.threads.length)));
    const rowHeight = 72, top = 58, left = 44;
    const letters = Math.floor((laneWidth - 26) / 6.6);
    const steps = order.steps.map((index) => finding.steps[index]);
    const x = (thread) => left + finding.threads.indexOf(thread) * laneWidth;
    const y = (row) => top + row * rowHeight;
    const width = left + finding.threads.length * laneWidth;
    const end = ending(finding, order);
    const height = top + steps.length * rowHeight + (end ? 24 : -10);
    const svg = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `${order.name}: ${steps.map((s) => s.does).join("; ")}${end ? `; ${end}` : ""}` });
    const groups = steps.map(() => []);
    for (const thread of finding.threads) {
      svg.append(shape("text", { x: x(thread) - 8, y: 20, class: "head", style: `fill:${color(finding, thread)}` }, shorten(thread, letters)));
      svg.append(shape("line", { x1: x(thread), x2: x(thread), y1: 32, y2: top + steps.length * rowHeight - 14, class: "lane" }));
    }
    for (const span of lockSpans(finding, steps)) {
      const at = x(span.thread) - 15 - span.column * 8;
      const bar = shape("rect", { x: at, y: y(span.from) - 14, width: 5, height: (span.to - span.from) * rowHeight + 28, rx: 2,
        fill: color(finding, span.thread), class: "lock" });
      bar.append(shape("title", {}, `${span.thread} holds ${span.lock}`));
      svg.append(bar);
    }
    for (const edge of edges(steps)) {
      const group = shape("g", { class: "edge" });
      const fromX = x(steps[edge.from].thread) + 5, toX = x(steps[edge.to].thread);
      const level = y(edge.to) - 26, side = Math.sign(toX - fromX);
      group.append(shape("path", { class: "arrow",
        d: `M${fromX} ${y(edge.from) + 9} V${level - 6} Q${fromX} ${level} ${fromX + side * 6} ${level} H${toX - side * 6} Q${toX} ${level} ${toX} ${level + 6} V${y(edge.to) - 14}` }));
      group.append(shape("path", { class: "tip", d: `M${toX - 4} ${y(edge.to) - 16} L${toX + 4} ${y(edge.to) - 16} L${toX} ${y(edge.to) - 9} Z` }));
      group.append(shape("text", { x: (fromX + toX) / 2, y: level - 4, class: "small", "text-anchor": "middle" }, edge.text));
      groups[edge.to].push(group);
      svg.append(group);
    }
    steps.forEach((step, row) => {
      const decisive = order.broken && order.steps[row] === finding.decisive;
      const group = shape("g", { class: decisive ? "step decisive" : "step" });
      group.append(shape("circle", { cx: x(step.thread), cy: y(row), r: 7, fill: color(finding, step.thread) }));
      if (decisive) group.append(shape("circle", { cx: x(step.thread), cy: y(row), r: 11, class: "ring" }));
      group.append(shape("text", { x: x(step.thread) + 16, y: y(row) + 1, class: "what" }, shorten(`${order.steps[row] + 1}  ${step.label}`, letters)));
      const notes = [step.place, step.holding].filter(Boolean);
      const lines = notes.join(", ").length <= letters ? [notes.join(", ")] : notes;
      lines.forEach((line, index) => group.append(shape("text", { x: x(step.thread) + 16, y: y(row) + 16 + 14 * index, class: "small" },
        shorten(line, letters + 4))));
      groups[row].push(group);
      svg.append(group);
    });
    if (end && steps.length) {
      const text = shape("text", { x: 12, y: height - 12, class: order.broken ? "end bad" : "end good" },
        `${order.broken ? "✖" : "✔"} ${shorten(end, Math.floor(width / 7))}`);
      groups[steps.length - 1].push(text);
      svg.append(text);
    }
    return { svg, groups };
  }

  // What the order came to, as far as forced runs have shown it.
  function ending(finding, order) {
    if (finding.evidence !== "harmful" || !finding.outcome) return "";
    if (order.broken) return finding.outcome;
    return order.name.startsWith("serial") ? "no serial order ends like the forced one" : "";
  }

  function shorten(text, limit) {
    return text.length <= limit ? text : `${text.slice(0, Math.max(1, limit - 1))}…`;
  }

  // A span ends where its thread is seen without the lock, or another thread with it: then it was given up in between.
  // In a circle of locks nothing is given up, and two locks may bear one name.
  function lockSpans(finding, steps) {
    const spans = [];
    const open = new Map();
    steps.forEach((step, row) => {
      for (const [key, span] of [...open]) {
        const own = span.thread === step.thread;
        if (own ? !step.locks.includes(span.lock) : finding.rule !== "lock-order" && step.locks.includes(span.lock)) open.delete(key);
      }
      step.locks.forEach((lock, column) => {
        const key = JSON.stringify([step.thread, lock]);
        if (open.has(key)) {
          open.get(key).to = row;
        } else {
          const span = { thread: step.thread, lock, column: Math.min(column, 2), from: row, to: row };
          open.set(key, span);
          spans.push(span);
        }
      });
    });
    return spans;
  }

  function edges(steps) {
    const found = [];
    steps.forEach((step, to) => {
      if (step.op === "block") {
        const from = steps.findLastIndex((s, i) => i < to && s.thread !== step.thread && s.locks.includes(step.lock));
        if (from >= 0) found.push({ from, to, text: `waits for ${steps[from].thread}` });
        return;
      }
      if (!["read", "write", "update"].includes(step.op)) return;
      const before = (test) => steps.findLastIndex((s, i) => i < to && s.variable === step.variable && test(s));
      const write = before((s) => s.op === "write" || s.op === "update");
      if (write >= 0 && steps[write].thread !== step.thread) {
        const verb = step.op === "read" ? "sees what" : "overwrites what";
        found.push({ from: write, to, text: `${verb} ${steps[write].thread} wrote` });
      } else if (step.op !== "read") {
        const read = before((s) => s.op === "read" && s.thread !== step.thread);
        if (read >= 0 && read > write) found.push({ from: read, to, text: `changes what ${steps[read].thread} read` });
      }
    });
    return found;
  }

  function turns(finding) {
    // A turn without a point only says that the thread may go on.
    const schedule = finding.schedule.filter(([, points]) => points > 0);
    const bar = element("div", { class: "turns", tabindex: "0", role: "img",
      "aria-label": `Schedule: ${schedule.map(([t, n]) => `${t} ${n}`).join(", ")}` });
    for (const [thread, points] of schedule) {
      const at = finding.threads.indexOf(thread);
      const turn = element("span", { style: `background:${at < 0 ? "var(--soft)" : color(finding, thread)};flex-grow:${Math.ceil(Math.sqrt(points))}`,
        title: `${thread} runs for ${points} points` }, `${thread} ${points}`);
      bar.append(turn);
    }
    return element("div", {}, element("h3", {}, "Schedule: whose turn, for how many points"), bar);
  }

  function sourceViews(finding) {
    const marked = [];
    const views = [];
    for (const path of new Set(finding.steps.map((s) => s.path).filter((p) => data.sources[p]))) {
      const table = element("table", {});
      let last = null;
      for (const [number, text] of windows(finding, path)) {
        if (last !== null && number > last + 1) table.append(element("tr", {}, element("td", { class: "n" }, "⋮"), element("td", {}, ""), element("td", {}, "")));
        last = number;
        const here = finding.steps.map((s, i) => [s, i]).filter(([s]) => s.path === path && s.line === number);
        const who = here.map(([s, i]) => `${i + 1} ${s.thread}`).join(", ");
        const line = element("tr", here.length ? { class: "marked" } : {}, element("td", { class: "n" }, String(number)),
          element("td", {}, text), element("td", { class: "who" }, who));
        if (here.length) marked.push({ path, number, line });
        table.append(line);
      }
      views.push(element("div", { class: "where mono" }, path), element("div", { class: "source mono", tabindex: "0", role: "region", "aria-label": `Source ${path}` }, table));
    }
    const mark = (step) => marked.forEach((m) => m.line.classList.toggle("now", m.path === step.path && m.number === step.line));
    return { views, mark };
  }

  function windows(finding, path) {
    const wanted = finding.steps.filter((s) => s.path === path).map((s) => s.line);
    return data.sources[path].filter(([number]) => wanted.some((line) => Math.abs(line - number) <= 2));
  }

  function steps(finding) {
    return element("ol", { class: "steps" }, ...finding.steps.map((step, index) => {
      const text = step.does;
      const item = element("li", index === finding.decisive ? { class: "decisive" } : {});
      if (step.stack.length) item.append(element("details", {}, element("summary", {}, text), element("pre", {}, step.stack.join("\n"))));
      else item.append(element("span", {}, text));
      return item;
    }));
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

  // The recording as a whole: a line per thread, the higher the busier, and where in it the findings lie.
  const marks = new Map();
  function timeline() {
    const section = document.getElementById("timeline");
    const recordings = (data.recordings || []).filter((r) => r.events > 0 && r.lanes.length);
    if (!recordings.length) return;
    section.hidden = false;
    const lanesInAll = recordings.reduce((sum, r) => sum + r.lanes.length, 0);
    const box = element("details", { class: "timeline" }, element("summary", {}, "The whole recording"));
    box.open = lanesInAll <= 16;
    for (const recording of recordings) box.append(recordingView(recording, recordings.length > 1));
    section.append(box);
  }

  function recordingView(recording, named) {
    const total = recording.events.toLocaleString("en");
    const view = element("div", { class: "recording" });
    if (named) view.append(element("div", { class: "where mono" }, recording.trace));
    const grid = element("div", { class: "threads" });
    const rows = new Map();
    for (const lane of recording.lanes) {
      const sum = lane.cells.reduce((a, b) => a + b, 0);
      const bars = shape("svg", { viewBox: `0 0 ${lane.cells.length} 10`, preserveAspectRatio: "none", "aria-hidden": "true" });
      const path = lane.cells.map((count, at) => {
        if (!count) return "";
        const height = 2 + 8 * Math.min(1, count / recording.cell);
        return `M${at} 10V${10 - height}H${at + 1}V10Z`;
      }).join("");
      bars.append(shape("path", { d: path }));
      const track = element("div", { class: "track", role: "img", "aria-label": `${lane.thread}: ${sum} of ${total} events` });
      track.append(bars);
      grid.append(element("div", { class: "name", title: lane.thread }, lane.thread), track);
      rows.set(lane.thread, track);
    }
    const length = recording.cell * Math.max(...recording.lanes.map((lane) => lane.cells.length));
    let drawn = 0;
    for (const finding of data.findings) {
      const moments = recording.moments && recording.moments[finding.id];
      if (!moments || drawn > 400) continue;
      const own = [];
      finding.steps.forEach((step, index) => {
        const track = rows.get(step.thread);
        if (!track || moments[index] === undefined) return;
        const mark = element("a", { href: `#${finding.id}`, class: `mark ${finding.evidence}`, style: `left:${100 * (moments[index] + 0.5) / length}%`,
          "aria-label": `Step ${index + 1} of ${finding.rule} ${finding.names}, event ${moments[index] + 1}`,
          title: `${step.does}\nstep ${index + 1} of: ${finding.message}` }, String(index + 1));
        mark.hidden = !finding.shown;
        track.append(mark);
        own.push(mark);
        drawn += 1;
      });
      marks.set(finding.id, [...(marks.get(finding.id) || []), ...own]);
    }
    view.append(grid, element("p", { class: "where" }, `${total} events, from the first on the left to the last on the right; numbers are the steps of findings as they were recorded.` +
      (recording.more_threads ? ` ${recording.more_threads} more threads did less than these.` : "")));
    return view;
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
  control("held").checked = !data.findings.some((f) => f.shown);
  if (!data.findings.some((f) => !f.shown)) control("held").closest("label").hidden = true;

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
    if (!wanted) return;
    if (wanted.row.hidden) { form.reset(); control("held").checked = true; filter(); }
    wanted.row.open = true;
    wanted.row.scrollIntoView();
  }
  addEventListener("hashchange", openFromAddress);
  openFromAddress();
  const visible = rows.filter(({ row }) => !row.hidden);
  if (visible.length === 1) visible[0].row.open = true;
  // Paper has nothing to open: print the details of what is visible, as far as that is a document and not a stack.
  addEventListener("beforeprint", () => {
    for (const { row, finding } of rows.filter((r) => !r.row.hidden).slice(0, 50)) { row.open = true; fill(row, finding); }
  });
})();
