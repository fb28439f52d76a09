  const data = JSON.parse(document.getElementById("data").textContent);
  const list = document.getElementById("list");
  const form = document.querySelector(".filters");
  const ladder = ["suspected", "predicted", "witnessed", "confirmed", "harmful"];
  const svgSpace = "http://www.w3.org/2000/svg";
  // With so few findings there is nothing to filter.
  const fewFindings = 5;

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

  // A thread has one colour on the whole page; two threads of one finding never share one while there are enough.
  const hues = 6;
  const hueOf = new Map();
  for (const finding of data.findings) {
    for (const thread of finding.threads) {
      if (hueOf.has(thread)) continue;
      const taken = finding.threads.map((t) => hueOf.get(t));
      const free = [...Array(hues).keys()].map((n) => (n + hueOf.size) % hues).find((n) => !taken.includes(n));
      hueOf.set(thread, free === undefined ? hueOf.size % hues : free);
    }
  }
  const threadColor = (thread) => hueOf.has(thread) ? `var(--t${hueOf.get(thread)})` : "var(--soft)";
  const color = (finding, thread) => threadColor(thread);

  // Orders name steps by their numbers; those of a serial run are its own.
  for (const finding of data.findings) {
    for (const order of finding.orders) order.steps = order.own || order.steps.map((index) => finding.steps[index]);
  }
