  // The recording as a whole: a line per thread in its colour, the higher the busier, an axis of events, and where the findings lie.
  const marks = new Map();
  const zooms = [1, 2, 4, 8, 16];
  function timeline() {
    const section = document.getElementById("timeline");
    const recordings = (data.recordings || []).filter((r) => r.events > 0 && r.lanes.length);
    if (!recordings.length) return;
    section.hidden = false;
    const box = element("details", { class: "timeline" }, element("summary", {}, "The whole recording"));
    for (const recording of recordings) box.append(recordingView(recording, recordings.length > 1));
    section.append(box);
  }

  function recordingView(recording, named) {
    const total = recording.events.toLocaleString("en");
    const view = element("div", { class: "recording" });
    if (named) view.append(element("div", { class: "where mono" }, recording.trace));
    const names = element("div", { class: "names" });
    const plot = element("div", { class: "plot" });
    const rows = new Map();
    const length = recording.cell * Math.max(...recording.lanes.map((lane) => lane.cells.length));
    recording.lanes.forEach((lane) => {
      const sum = lane.cells.reduce((a, b) => a + b, 0);
      const bars = shape("svg", { viewBox: `0 0 ${length / recording.cell} 10`, preserveAspectRatio: "none", "aria-hidden": "true" });
      const path = lane.cells.map((count, at) => {
        if (!count) return "";
        const height = 2 + 8 * Math.min(1, count / recording.cell);
        return `M${at} 10V${10 - height}H${at + 1}V10Z`;
      }).join("");
      bars.append(shape("path", { d: path }));
      const track = element("div", { class: "track", role: "img", style: `--c:${threadColor(lane.thread)}`, "aria-label": `${lane.thread}: ${sum} of ${total} events` });
      track.append(bars);
      names.append(element("div", { class: "name", title: lane.thread }, lane.thread));
      plot.append(track);
      rows.set(lane.thread, track);
    });
    for (const lock of recording.locks || []) {
      const holders = [...new Set(lock.holds.map(([thread]) => thread))].join(", ");
      const track = element("div", { class: "track lock", role: "img", "aria-label": `Lock ${lock.name}: held ${lock.holds.length} times, by ${holders}` });
      for (const [thread, from, to] of lock.holds) {
        track.append(element("span", { style: `left:${100 * from / length}%;width:${100 * (to + 1 - from) / length}%;--c:${threadColor(thread)}`,
          title: `${thread} holds ${lock.name} from event ${from + 1} to ${to + 1}` }));
      }
      if (lock.until) track.append(element("span", { class: "unknown", style: `left:${100 * lock.until / length}%;right:0`, title: `Too many holds to draw from event ${lock.until + 1} on` }));
      names.append(element("div", { class: "name lock", title: `lock ${lock.name}` }, `lock ${lock.name}`));
      plot.append(track);
    }
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
    const axis = element("div", { class: "axis", "aria-hidden": "true" });
    names.append(element("div", { class: "name axis" }, "event"));
    plot.append(axis);
    let zoom = 0;
    const fewer = element("button", { type: "button", "aria-label": "Zoom out" }, "−");
    const more = element("button", { type: "button", "aria-label": "Zoom in" }, "+");
    function draw() {
      plot.style.width = `${100 * zooms[zoom]}%`;
      const ticks = 5 * zooms[zoom];
      axis.replaceChildren(...Array.from({ length: ticks }, (_, at) => element("span", { style: `left:${100 * at / ticks}%` },
        Math.round(1 + length * at / ticks).toLocaleString("en"))));
      fewer.disabled = zoom === 0;
      more.disabled = zoom === zooms.length - 1;
    }
    fewer.addEventListener("click", () => { zoom -= 1; draw(); });
    more.addEventListener("click", () => { zoom += 1; draw(); });
    draw();
    view.append(element("div", { class: "zoom" }, fewer, more),
      element("div", { class: "threads" }, names, element("div", { class: "window", tabindex: "0", role: "region", "aria-label": "Threads over time" }, plot)),
      element("p", { class: "where" }, `${total} events, the first on the left, the last on the right. The numbers mark the steps of findings as recorded.` +
        ((recording.locks || []).length ? " A lock lane has the colour of the thread that holds the lock." : "") +
        (recording.more_threads ? ` ${recording.more_threads} less busy threads are left out.` : "")));
    return view;
  }
