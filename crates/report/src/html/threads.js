  // The threads side by side as code. Time goes down; each step shows the line that its thread executes, and the value.
  function interleaving(finding, sources) {
    const box = element("section", { class: "interleaving", "aria-label": "Interleaving" });
    const heading = element("h3", {}, "");
    const field = element("div", { class: "lanes-box" });
    const slider = element("input", { type: "range", min: "1", "aria-label": "Step" });
    const said = element("p", { class: "said", "aria-live": "polite" });
    const back = element("button", { type: "button", class: "back" }, "Back");
    const next = element("button", { type: "button", class: "next" }, "Next");
    const player = element("div", { class: "player" }, back, slider, next, element("span", { class: "keys" }, "← → keys"));
    let order = finding.orders[0];
    let cells = [];
    function show() {
      const at = Number(slider.value) - 1;
      cells.forEach((cell, index) => {
        cell.classList.toggle("later", index > at);
        cell.classList.toggle("now", index === at);
      });
      const step = order.steps[at];
      said.textContent = `Step ${at + 1} of ${order.steps.length}: ${step.does}${at === order.decisive ? ". This is the decisive step." : "."}`;
      slider.setAttribute("aria-valuetext", said.textContent);
      sources.mark(step);
      back.disabled = at === 0;
      next.disabled = at === order.steps.length - 1;
    }
    function choose(chosen, at) {
      order = chosen;
      heading.textContent = order.name;
      slider.max = String(order.steps.length);
      slider.value = String(at);
      const drawn = lanes(finding, order);
      cells = drawn.cells;
      field.replaceChildren(drawn.node);
      player.hidden = order.steps.length < 2;
      cards.forEach((card) => card.classList.toggle("chosen", card.dataset.order === String(finding.orders.indexOf(order))));
      show();
    }
    const move = (by) => {
      const before = slider.value;
      slider.value = String(Number(slider.value) + by);
      show();
      if (slider.value !== before && cells[slider.value - 1]) cells[slider.value - 1].scrollIntoView({ block: "nearest" });
    };
    slider.addEventListener("input", show);
    back.addEventListener("click", () => move(-1));
    next.addEventListener("click", () => move(1));
    const cards = orderCards(finding, choose);
    box.append(heading, player, said);
    box.append(cards.length ? element("div", { class: "stage" }, field, element("aside", { class: "orders", "aria-label": "Other orders" }, ...cards)) : field);
    choose(order, order.steps.length);
    box.move = move;
    return box;
  }

  // The broken order, and beside it the recorded one and the serial ones: each with its outcome, as far as it is known.
  function orderCards(finding, choose) {
    if (finding.orders.length + finding.serial.length < 2) return [];
    const cards = finding.orders.map((order, index) => {
      const button = element("button", { type: "button", class: `card ${order.kind}`, "data-order": String(index) },
        element("strong", {}, order.title), ...stretches(finding, order.steps));
      if (order.end) button.append(element("span", { class: `end ${order.kind === "broken" ? "bad" : "good"}` }, `${order.kind === "broken" ? "✖" : "✔"} ${order.end}`));
      button.addEventListener("click", () => choose(order, index === 0 ? order.steps.length : 1));
      return button;
    });
    for (const serial of finding.serial) {
      cards.push(element("div", { class: "card serial" }, element("strong", {}, serial.title),
        ...serial.units.map(([thread, unit]) => element("span", { class: "stretch", style: `--c:${color(finding, thread)}` }, `${thread}: ${unit}`)),
        element("span", { class: "end good" }, `✔ ${serial.end}`)));
    }
    return cards;
  }

  // Who runs when, a line for each turn.
  function stretches(finding, steps) {
    const turns = [];
    for (const step of steps) {
      const last = turns[turns.length - 1];
      if (!last || last.thread !== step.thread) turns.push({ thread: step.thread, deeds: [step.deed] });
      else if (last.deeds[last.deeds.length - 1] !== step.deed) last.deeds.push(step.deed);
    }
    return turns.map(({ thread, deeds }) => element("span", { class: "stretch", style: `--c:${color(finding, thread)}` }, `${thread}: ${deeds.join(", ")}`));
  }

  function lanes(finding, order) {
    const threads = finding.threads;
    const node = element("div", { class: `lanes ${order.kind}`, role: "group", "aria-label": `${order.name}: ${order.steps.map((s) => s.does).join("; ")}`,
      style: `--lanes:${threads.length}` });
    const column = (thread) => threads.indexOf(thread) + 1;
    for (const thread of threads) {
      node.append(element("div", { class: "head", style: `--c:${color(finding, thread)};grid-column:${column(thread)}` },
        element("strong", {}, thread || "a thread")));
    }
    const notes = new Map(edges(order.steps).map((edge) => [edge.to, edge.text]));
    const cells = order.steps.map((step, row) => {
      const cell = stepCell(finding, order, step, row, notes.get(row));
      cell.style.gridColumn = String(column(step.thread));
      cell.style.gridRow = String(row + 2);
      return cell;
    });
    const before = new Map();
    for (const gap of gaps(order)) {
      const mark = element("div", { class: gap.bad ? "gap bad" : "gap", style: `--c:${color(finding, gap.thread)};--lane:${column(gap.thread) - 1};grid-column:${column(gap.thread)};grid-row:${gap.from + 2} / ${gap.to + 2}` },
        element("span", {}, gap.text));
      before.set(gap.from, mark);
    }
    // In the order of time, so that a phone and a screen reader have it right.
    for (const [row, cell] of cells.entries()) {
      if (before.has(row)) node.append(before.get(row));
      node.append(cell);
    }
    if (order.end) {
      const bad = order.kind === "broken" && finding.bad;
      node.append(element("div", { class: `end ${bad ? "bad" : order.kind === "broken" ? "" : "good"}`, style: `grid-row:${order.steps.length + 2}` },
        `${bad ? "✖ " : order.kind === "broken" ? "" : "✔ "}${order.end}`));
    }
    return { node, cells };
  }

  function stepCell(finding, order, step, row, note) {
    const decisive = row === order.decisive;
    const cell = element("div", { class: decisive ? "step decisive" : "step", style: `--c:${color(finding, step.thread)};--lane:${finding.threads.indexOf(step.thread)}` });
    cell.append(element("span", { class: "no" }, String(row + 1)), element("span", { class: "who" }, step.thread));
    if (step.via) cell.append(...sourceLine(step.via, null, true));
    cell.append(...sourceLine(step, step.word, false));
    const deed = element("div", { class: "deed" }, element("strong", {}, step.deed));
    for (const text of [step.holding, step.inside && `inside ${step.inside}`].filter(Boolean)) deed.append(element("span", { class: "holding" }, text));
    if (note) deed.append(element("span", { class: "note" }, note));
    cell.append(deed);
    return cell;
  }

  // The line, under the name of its method; only the place if there is no source.
  function sourceLine(at, word, calls) {
    const text = lineOf(at.path, at.line);
    const method = element("div", { class: "method" }, [at.method, text === null && at.place ? `${at.place} (source not found)` : ""].filter(Boolean).join(", "));
    if (text === null) return calls ? [] : [method];
    return [method, element("div", { class: calls ? "line calls" : "line" }, element("span", { class: "n" }, String(at.line)), code(text.trim(), word))];
  }

  // Where other threads run between two steps of one thread.
  function gaps(order) {
    const found = [];
    order.steps.forEach((step, to) => {
      const from = order.steps.findLastIndex((s, i) => i < to && s.thread === step.thread);
      if (from < 0 || from === to - 1) return;
      const others = [...new Set(order.steps.slice(from + 1, to).map((s) => s.thread))].join(", ");
      const bad = order.cuts && order.decisive > from && order.decisive < to;
      const kept = order.steps[from].locks.filter((lock) => step.locks.includes(lock));
      const cuts = `${others} cut${others.includes(", ") ? "" : "s"} in here`;
      const text = bad ? cuts : order.holds && kept.length ? `still holds ${kept.join(", ")}` : "";
      if (text) found.push({ thread: step.thread, from: from + 1, to, bad, text });
    });
    return found;
  }

  // Whose value a step sees, overwrites or invalidates.
  function edges(steps) {
    const found = [];
    steps.forEach((step, to) => {
      if (step.op === "block") {
        const from = steps.findLastIndex((s, i) => i < to && s.thread !== step.thread && s.locks.includes(step.lock));
        if (from >= 0) found.push({ to, text: `${steps[from].thread} holds it` });
        return;
      }
      if (!["read", "write", "update"].includes(step.op)) return;
      const before = (test) => steps.findLastIndex((s, i) => i < to && s.variable === step.variable && test(s));
      const write = before((s) => s.op === "write" || s.op === "update");
      if (write >= 0 && steps[write].thread !== step.thread) {
        found.push({ to, text: `${step.op === "read" ? "sees" : "overwrites"} what ${steps[write].thread} wrote` });
      } else if (step.op !== "read") {
        const read = before((s) => s.op === "read" && s.thread !== step.thread);
        if (read >= 0 && read > write) found.push({ to, text: `changes what ${steps[read].thread} read` });
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
    const places = finding.steps.flatMap((step, index) => [{ ...step, index }, ...(step.via ? [{ ...step.via, index, thread: step.thread, calls: true }] : [])]);
    for (const path of new Set(places.map((s) => s.path).filter((p) => data.sources[p]))) {
      const table = element("table", {});
      let last = null;
      const here = places.filter((s) => s.path === path);
      for (const [number, text] of data.sources[path].filter(([number]) => here.some((s) => Math.abs(s.line - number) <= 2))) {
        if (last !== null && number > last + 1) table.append(element("tr", {}, element("td", { class: "n" }, "⋮"), element("td", {}, ""), element("td", {}, "")));
        last = number;
        const steps = here.filter((s) => s.line === number);
        const who = [...new Set(steps.map((s) => [s.index + 1, s.thread, s.calls && "calls"].filter(Boolean).join(" ")))].join(", ");
        const own = steps.find((s) => !s.calls);
        const line = element("tr", steps.length ? { class: own ? "marked" : "calls" } : {}, element("td", { class: "n" }, String(number)),
          element("td", {}, code(text, own && own.word)), element("td", { class: "who" }, who));
        if (own) marked.push({ path, number, line });
        table.append(line);
      }
      views.push(element("div", { class: "where mono" }, path), element("div", { class: "source mono", tabindex: "0", role: "region", "aria-label": `Source ${path}` }, table));
    }
    const mark = (step) => marked.forEach((m) => m.line.classList.toggle("now", m.path === step.path && m.number === step.line));
    return { views, mark };
  }

  function stacks(finding) {
    return element("ol", { class: "steps" }, ...finding.steps.map((step, index) => {
      const item = element("li", index === finding.decisive ? { class: "decisive" } : {});
      if (step.stack.length) item.append(element("details", {}, element("summary", {}, step.does), element("pre", {}, step.stack.join("\n"))));
      else item.append(element("span", {}, step.does));
      return item;
    }));
  }
