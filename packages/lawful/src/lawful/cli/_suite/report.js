"use strict";
(() => {
  const root = document.documentElement;
  const table = document.getElementById("matrix");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[1].cells];
  const controls = ["filter", "state", "group"].map((id) => document.getElementById(id));
  const [filter, state, group] = controls;

  // What is shown stands in the address, so that a view can be kept and sent.
  const parameters = () => new URLSearchParams(location.hash.slice(1));

  function read() {
    const wanted = parameters();
    for (const control of controls) {
      if (wanted.has(control.id)) control.value = wanted.get(control.id);
    }
    if (wanted.has("sort")) sort(Number(wanted.get("sort")));
    if (wanted.has("theme")) root.dataset.theme = wanted.get("theme");
  }

  function write() {
    const wanted = new URLSearchParams();
    for (const control of controls) if (control.value) wanted.set(control.id, control.value);
    history.replaceState(null, "", wanted.size ? `#${wanted}` : location.pathname + location.search);
    apply();
  }

  function apply() {
    const word = filter.value.trim().toLowerCase();
    const isLaw = (head) => head.dataset.group !== undefined;
    const laws = heads.filter(isLaw);
    // A word that no primitive has is looked for among the laws.
    const inRows = !word || [...body.rows].some((row) => row.dataset.name.includes(word));
    let rows = 0, columns = 0;
    for (const row of body.rows) {
      row.hidden = (inRows && !row.dataset.name.includes(word)) || (state.value && row.dataset.state !== state.value);
      rows += !row.hidden;
    }
    heads.forEach((head, place) => {
      const hidden = isLaw(head)
        && ((group.value && head.dataset.group !== group.value) || (!inRows && !head.textContent.includes(word)));
      columns += isLaw(head) && !hidden;
      head.hidden = hidden;
      for (const row of body.rows) row.cells[place].hidden = hidden;
    });
    for (const head of [...table.tHead.rows[0].cells].slice(1)) {
      const own = laws.filter((law) => law.dataset.group === head.textContent && !law.hidden).length;
      head.hidden = own === 0;
      head.colSpan = Math.max(own, 1);
    }
    document.getElementById("shown").value = `${rows} primitives × ${columns} laws`;
  }

  function sort(place) {
    const head = heads[place];
    if (!head) return;
    const ascending = place === 0 || head.dataset.group !== undefined;
    const down = head.getAttribute("aria-sort") === (ascending ? "ascending" : "descending");
    const sign = (ascending ? 1 : -1) * (down ? -1 : 1);
    const key = (row) => place === 0 ? row.dataset.name : Number(row.cells[place].dataset.value);
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      return sign * (x < y ? -1 : x > y ? 1 : 0);
    });
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    body.append(...rows);
  }

  function open() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) {
      target.open = true;
      target.scrollIntoView();
    }
  }

  heads.forEach((head, place) => head.addEventListener("click", () => sort(place)));
  for (const control of controls) control.addEventListener("input", write);
  document.querySelector(".controls").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => { read(); apply(); open(); });
  read();
  apply();
  open();
})();
