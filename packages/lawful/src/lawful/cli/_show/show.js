"use strict";
(() => {
  const root = document.documentElement;
  const { stages, tabs, strings, lines, parents } = JSON.parse(document.getElementById("data").textContent);
  const details = document.getElementById("details");
  const MOST = 12; // as many equations are listed in the details
  root.classList.add("js");
  details.hidden = false;

  // Equations and variables: a stage and a number each.

  const element = (stage, number) => document.getElementById(`e${stage}-${number}`);
  const place = (node) => node.id.slice(1).split("-").map(Number);
  const stageOf = (node) => Number(node.closest(".stage").id.slice(1));
  const occurrences = (stage, v) => [...document.querySelectorAll(`#s${stage} [data-v="${v}"]`)];
  const textOf = (node) => node.textContent.trim().replace(/\s+/g, " ");
  const results = (stage, number) => [...element(stage, number).querySelectorAll("b[data-v]")].map((b) => Number(b.dataset.v));

  const became = stages.map(() => null);
  function successors(stage, number) {
    if (stage + 1 >= stages.length) return [];
    if (!became[stage]) {
      const found = became[stage] = new Map();
      stages[stage + 1].from.forEach((from, i) => {
        if (from >= 0) found.has(from) ? found.get(from).push(i) : found.set(from, [i]);
      });
    }
    return became[stage].get(number) || [];
  }

  function descendants(stage, number, to) {
    let numbers = [number];
    for (let s = stage; s < to; s++) numbers = numbers.flatMap((n) => successors(s, n));
    return numbers;
  }

  // Marks, of what is selected and of what the pointer is on.

  const layers = { selected: [], pointed: [] };
  function clear(layer) {
    for (const [node, name] of layers[layer]) node.classList.remove(name);
    layers[layer] = [];
  }
  function mark(layer, node, name) {
    if (!node) return;
    node.classList.add(name);
    layers[layer].push([node, name]);
    for (let fold = node.closest(".f:not([open])"); fold; fold = fold.parentElement.closest(".f:not([open])")) {
      fold.classList.add("hit");
      layers[layer].push([fold, "hit"]);
    }
  }

  function reveal(node) {
    if (!node) return;
    for (let fold = node.closest(".f"); fold; fold = fold.parentElement.closest(".f")) fold.open = true;
    const box = node.closest(".code");
    const center = () => {
      const [inner, outer] = [node.getBoundingClientRect(), box.getBoundingClientRect()];
      if (!outer.height) return;
      if (inner.top < outer.top || inner.bottom > outer.bottom)
        box.scrollTop += inner.top - outer.top - outer.height / 2 + inner.height / 2;
    };
    center();
    requestAnimationFrame(center); // groups that were out of sight have their real height now
  }

  // Details

  const make = (tag, text, name) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (name) node.className = name;
    return node;
  };
  const button = (stage, number) => {
    const text = textOf(element(stage, number));
    const node = make("button", text.length > 110 ? `${text.slice(0, 110)}…` : text);
    node.type = "button";
    node.addEventListener("click", () => select(stage, number, true));
    return node;
  };
  const listed = (stage, numbers) => {
    const nodes = numbers.slice(0, MOST).map((number) => button(stage, number));
    if (numbers.length > MOST) nodes.push(`and ${numbers.length - MOST} more`);
    return nodes;
  };
  function show(title, rows) {
    const list = make("dl");
    for (const [term, ...nodes] of rows) {
      const cell = make("dd");
      cell.append(...nodes);
      list.append(make("dt", term), cell);
    }
    details.replaceChildren(make("h3", title), list);
    details.scrollTop = 0;
  }
  function lineRow(index) {
    if (index < 0) return [["line", "unknown: the equation was recorded without one"]];
    const [file, line, name, text] = lines[index];
    return [["line", `${file}:${line} (${name})  `, make("code", text)]];
  }
  function originRow(stage, number) {
    const { from, rules, title, pass } = stages[stage];
    const rule = strings[rules[number]];
    if (from[number] === -3) return rule ? [["made by", `the ${rule}, inside of the function`]] : [];
    if (from[number] === -1) return [["came from", `no equation: ${title.split("(")[0]} itself made it`]];
    if (from[number] === -2)
      return [["came from", "unknown: the program that it is in was traced once, for several equations"]];
    const how = rule ? `by the ${rule}` : pass ? "the pass kept it" : "as it is: no rule ran";
    return [[`came from`, button(stage - 1, from[number]), make("span", ` ${how}`, "rule")]];
  }
  function becameRow(stage, number) {
    const next = stages[stage + 1];
    if (!next) return [];
    const found = successors(stage, number);
    if (found.length) return [["became", ...listed(stage + 1, found)]];
    const gone = next.gone[number];
    if (!gone) return [["became", `nothing in ${next.title}`]];
    const [instead] = gone[1] < 0 ? [] : occurrences(stage + 1, gone[1]);
    return [["became", `removed: ${strings[gone[0]]}${instead ? ` ${instead.textContent}` : ""}`]];
  }

  function showEquation(stage, number) {
    const rows = [...lineRow(stages[stage].line[number])];
    rows.push(...originRow(stage, number), ...becameRow(stage, number));
    tabs.forEach((tab, i) => {
      if (tab.stage < stage) return;
      const marked = tabLines(i, stage, number);
      const gone = tab.stage === stage ? tab.gone[number] : undefined;
      const inside = marked.length ? [] : linesAround(i, stage, number).map(([, line]) => line);
      const text = !tab.known ? "unknown" : marked.length ? ranges(marked)
        : inside.length ? `inside of ${ranges(inside)}`
        : gone !== undefined ? `no line: ${strings[gone]}` : "no line of its own";
      rows.push([tab.title, text]);
    });
    show(textOf(element(stage, number)), rows);
  }

  function showVariable(stage, v) {
    const here = occurrences(stage, v);
    const name = here[0] ? here[0].textContent : "_";
    const { type, def, inputs, line } = stages[stage];
    const rows = [];
    const input = inputs[v];
    if (def[v] >= 0) rows.push(["made by", button(stage, def[v])], ...lineRow(line[def[v]]), ...originRow(stage, def[v]));
    else if (input) {
      rows.push(["given as", strings[input[0]]]);
    }
    const users = [...new Set(here.filter((node) => node.tagName === "I" && node.closest(".e")).map((node) => place(node.closest(".e"))[1]))];
    const returned = here.some((node) => node.tagName === "I" && node.closest(".l"));
    const uses = users.length ? listed(stage, users) : [returned ? "" : "nowhere"];
    if (returned) uses.push("a result of the program");
    rows.push(["used by", ...uses]);
    show(`${name} : ${strings[type[v]]}`, rows);
  }

  function ranges(numbers) {
    const parts = [];
    for (const n of numbers) {
      const last = parts[parts.length - 1];
      if (last && last[1] === n - 1) last[1] = n;
      else parts.push([n, n]);
    }
    return (numbers.length > 1 ? "lines " : "line ") + parts.map(([a, b]) => (a === b ? a : `${a}–${b}`)).join(", ");
  }

  // Backends

  const panels = tabs.map((_, i) => document.getElementById(`p${i}`));
  const buttons = tabs.map((_, i) => document.getElementById(`t${i}`));
  const indices = panels.map(() => null);
  function linesOf(tab, numbers) {
    if (!indices[tab]) {
      const found = indices[tab] = new Map();
      [...panels[tab].querySelectorAll(".n")].forEach((node, i) => {
        if (node.dataset.e === undefined) return;
        const e = Number(node.dataset.e);
        found.has(e) ? found.get(e).push([node, i + 1]) : found.set(e, [[node, i + 1]]);
      });
    }
    return numbers.flatMap((n) => indices[tab].get(n) || []);
  }
  const tabLines = (tab, stage, number) =>
    linesOf(tab, descendants(stage, number, tabs[tab].stage)).map(([, line]) => line).sort((a, b) => a - b);
  // The lines of the equations around, for an equation without lines: NumPy calls a program inside as one function.
  function linesAround(tab, stage, number) {
    let numbers = descendants(stage, number, tabs[tab].stage);
    while (numbers.length) {
      numbers = [...new Set(numbers.flatMap((n) => parents[stages[tabs[tab].stage].in[n]] || []))];
      const found = linesOf(tab, numbers);
      if (found.length) return found.sort((a, b) => a[1] - b[1]);
    }
    return [];
  }

  function choose(tab, focus) {
    buttons.forEach((node, i) => {
      node.setAttribute("aria-selected", i === tab);
      node.tabIndex = i === tab ? 0 : -1;
      panels[i].hidden = i !== tab;
    });
    if (focus) buttons[tab].focus();
    if (selected && selected.number !== undefined) revealLines(tab);
  }
  function revealLines(tab) {
    const first = panels[tab].querySelector(".here, .near");
    if (first) reveal(first);
  }

  // Selection

  let selected = null;
  function select(stage, number, move) {
    clear("selected");
    clear("pointed");
    selected = { stage, number };
    const node = element(stage, number);
    mark("selected", node, "sel");
    const others = [];
    for (let s = stage, n = stages[s].from[number]; s > 0 && n >= 0; n = stages[--s].from[n])
      others.push(mark("selected", element(s - 1, n), "src") || element(s - 1, n));
    for (let s = stage + 1, numbers = [number]; s < stages.length && numbers.length; s++) {
      numbers = numbers.flatMap((n) => successors(s - 1, n));
      numbers.forEach((n, i) => {
        mark("selected", element(s, n), "dst");
        if (!i) others.push(element(s, n));
      });
      if (!numbers.length && s - 1 === stage) {
        const removed = document.querySelector(`#s${s} .x[data-e="${number}"]`);
        mark("selected", removed, "dst");
        others.push(removed);
      }
    }
    tabs.forEach((tab, i) => {
      if (tab.stage < stage) return;
      const own = linesOf(i, descendants(stage, number, tab.stage));
      for (const [line] of own) mark("selected", line, tab.stage === stage ? "here" : "near");
      if (!own.length) for (const [line] of linesAround(i, stage, number)) mark("selected", line, "near");
      if (!panels[i].hidden) revealLines(i);
    });
    others.forEach((other) => other && reveal(other));
    if (move) {
      reveal(node);
      node.closest(".stage").scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    roving(node);
    showEquation(stage, number);
  }

  function point(stage, v) {
    clear("pointed");
    for (const node of occurrences(stage, v)) mark("pointed", node, node.tagName === "B" ? "def" : "use");
    const { def, from, inputs } = stages[stage];
    const earlier = def[v] >= 0 ? (from[def[v]] >= 0 ? results(stage - 1, from[def[v]]) : [])
      : inputs[v] && inputs[v][1] >= 0 ? [inputs[v][1]] : [];
    for (const w of earlier) for (const node of occurrences(stage - 1, w)) mark("pointed", node, "was");
    if (def[v] >= 0 && from[def[v]] >= 0) mark("pointed", element(stage - 1, from[def[v]]), "src");
    showVariable(stage, v);
  }

  function back() {
    clear("pointed");
    if (!selected) return hint();
    if (selected.v !== undefined) point(selected.stage, selected.v);
    else showEquation(selected.stage, selected.number);
  }

  function hint() {
    const key = make("p", undefined, "key");
    for (const [color, text] of [["--select", "selected"], ["--source", "came from"], ["--result", "became"],
      ["--define", "definition"], ["--use", "use"]]) {
      const span = make("span", text);
      span.style.setProperty("--mark", `var(${color})`);
      key.append(span);
    }
    details.replaceChildren(
      make("p", "Point at a variable, or tap it, to see its type, its line and its uses. Select an equation to see what it came from and what it became.", "hint"),
      make("p", "Keys: ↑ ↓ between equations, ← → between their variables, Escape to end.", "hint"), key);
  }

  function drop() {
    clear("selected");
    clear("pointed");
    selected = null;
    hint();
  }

  // Events

  let rovingNode = null;
  function roving(node) {
    const before = node.closest(".stage").querySelector(".e[tabindex='0']");
    if (before) before.tabIndex = -1;
    node.tabIndex = 0;
    rovingNode = node;
  }
  for (const stage of document.querySelectorAll(".stage")) {
    const first = stage.querySelector(".e");
    if (first) first.tabIndex = 0;
  }

  const main = document.querySelector(".stages");
  main.addEventListener("mouseover", (event) => {
    const variable = event.target.closest("[data-v]");
    if (variable) point(stageOf(variable), Number(variable.dataset.v));
  });
  main.addEventListener("mouseout", (event) => {
    if (event.target.closest("[data-v]") && !(event.relatedTarget && event.relatedTarget.closest
      && event.relatedTarget.closest("[data-v]"))) back();
  });
  main.addEventListener("click", (event) => {
    const variable = event.target.closest("[data-v]");
    const equation = event.target.closest(".e");
    const line = event.target.closest(".n[data-e]");
    const removed = event.target.closest(".x");
    if (variable) {
      clear("selected");
      selected = { stage: stageOf(variable), v: Number(variable.dataset.v) };
      point(selected.stage, selected.v);
    } else if (equation) select(...place(equation), false);
    else if (line) select(tabs[panels.indexOf(line.closest("[role=tabpanel]"))].stage, Number(line.dataset.e), false);
    else if (removed) select(stageOf(removed) - 1, Number(removed.dataset.e), false);
  });
  main.addEventListener("focusin", (event) => {
    const variable = event.target.closest("[data-v]");
    if (variable) point(stageOf(variable), Number(variable.dataset.v));
    else if (event.target.matches(".e") && event.target.matches(":focus-visible")) select(...place(event.target), false);
  });
  main.addEventListener("keydown", (event) => {
    const equation = event.target.closest(".e");
    if (event.key === "Escape") drop();
    if (!equation) return;
    const step = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Enter") select(...place(equation), false);
    if (!step) return;
    event.preventDefault();
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const all = [...equation.closest(".code").querySelectorAll(".e")].filter((node) => !node.closest(".f:not([open])"));
      const next = all[all.indexOf(equation) + step];
      if (next) {
        roving(next);
        reveal(next);
        next.focus({ preventScroll: true });
      }
    } else {
      const all = [equation, ...equation.querySelectorAll("[data-v]")];
      const next = all[all.indexOf(event.target) + step];
      if (next) {
        if (next !== equation) next.tabIndex = -1;
        next.focus({ preventScroll: true });
      }
    }
  });
  buttons.forEach((node, i) => {
    node.addEventListener("click", () => choose(i));
    node.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) choose((i + step + buttons.length) % buttons.length, true);
    });
  });

  // An equation in the address, as #e1-4, is selected.
  function read() {
    const found = /^#e(\d+)-(\d+)$/.exec(location.hash);
    if (found && element(Number(found[1]), Number(found[2]))) select(Number(found[1]), Number(found[2]), true);
  }
  addEventListener("hashchange", read);
  choose(0);
  hint();
  read();
})();
