"use strict";
/* Tables of class "data": sorting by a heading, filters, and few rows at a time. */
(() => {
  const collator = new Intl.Collator(undefined, { numeric: true });
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value ?? cell.textContent.trim();
  };
  const inOrder = (one, other, isNumber) =>
    isNumber ? Number(one) - Number(other) : collator.compare(one, other);

  class DataTable {
    constructor(table) {
      this.body = table.tBodies[0];
      this.rows = [...this.body.rows];
      this.headings = [...table.tHead.rows[0].cells];
      this.step = Number(table.dataset.step) || Infinity;
      this.limit = this.step;
      this.addMoreButton(table);
      this.headings.forEach((heading, column) => this.makeSortable(heading, column));
      this.connectFilters(document.querySelector(`.filters[data-table="${table.id}"]`));
      this.show();
    }

    addMoreButton(table) {
      this.more = document.createElement("button");
      this.more.className = "more";
      this.more.type = "button";
      this.more.addEventListener("click", () => { this.limit += this.step; this.show(); });
      table.parentElement.after(this.more);
    }

    makeSortable(heading, column) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => this.sort(heading, column));
    }

    sort(heading, column) {
      const first = heading.dataset.first ?? "ascending";
      const second = first === "ascending" ? "descending" : "ascending";
      const direction = heading.getAttribute("aria-sort") === first ? second : first;
      this.headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", direction);
      const isNumber = heading.classList.contains("number");
      const sign = direction === "ascending" ? 1 : -1;
      const keyed = this.rows.map((row) => [valueOf(row, column), row]);
      /* What has no value comes last, whichever way the rest is sorted. */
      keyed.sort(([one], [other]) => (one === "") - (other === "") || sign * inOrder(one, other, isNumber));
      this.rows = keyed.map(([, row]) => row);
      this.body.append(...this.rows);
      this.show();
    }

    connectFilters(bar) {
      if (!bar) return;
      this.bar = bar;
      bar.hidden = false;
      this.count = bar.querySelector("output");
      for (const input of bar.querySelectorAll("input, select")) {
        input.addEventListener("input", () => { this.limit = this.step; this.show(); });
      }
      bar.querySelector("button").addEventListener("click", () => this.pick({}));
    }

    pick(wanted) {
      for (const input of this.bar.querySelectorAll("input, select")) {
        input.value = wanted[input.dataset.column] ?? "";
      }
      this.limit = this.step;
      this.show();
    }

    matches(row) {
      if (!this.bar) return true;
      return [...this.bar.querySelectorAll("input, select")].every((input) => {
        if (input.value === "") return true;
        if (input.tagName === "SELECT") return valueOf(row, Number(input.dataset.column)) === input.value;
        return row.textContent.toLowerCase().includes(input.value.toLowerCase());
      });
    }

    show() {
      const found = this.rows.filter((row) => this.matches(row));
      const shown = new Set(found.slice(0, this.limit));
      for (const row of this.rows) row.hidden = !shown.has(row);
      const left = found.length - shown.size;
      this.more.hidden = left === 0;
      this.more.textContent = `Show more (${left} left)`;
      if (this.count) this.count.textContent = `${found.length} of ${this.rows.length} rows`;
    }
  }

  const tables = new Map();
  for (const table of document.querySelectorAll("table.data")) tables.set(table.id, new DataTable(table));
  for (const cell of document.querySelectorAll("[data-pick]")) {
    const choose = () => {
      const { table, ...wanted } = JSON.parse(cell.dataset.pick);
      tables.get(table).pick(wanted);
      document.getElementById(table).scrollIntoView({ block: "center" });
    };
    cell.addEventListener("click", choose);
    cell.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(); });
  }
})();
