"use strict";
/* The data of the page, the verdicts, and their files. Nothing here touches the page itself. */
const WITH_POINT = /^[-+]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$/; /* 1,234.5 */
const WITH_COMMA = /^[-+]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$/; /* 1.234,5 */

class Review {
  constructor(data) {
    this.data = data;
    this.verdicts = new Map(); /* place on the page: { kind, label, time } */
    this.past = []; /* for undo: lists of [place, verdict before] */
    this.reviewer = "";
    this.placeOfRow = new Map(data.rows.map((row, place) => [row, place]));
    this.placeOfId = new Map(data.ids.map((id, place) => [id, place]));
    this.restore();
  }

  /* Rows */

  wrong(place) { return this.data.wrong[place] / 10000; }
  given(place) { return this.data.classes[this.data.given[place]]; }
  other(place) { return this.data.classes[this.data.other[place]]; }
  value(column, place) {
    const { values, levels, codes } = this.data.columns[column];
    return values ? values[place] : levels[codes[place]];
  }
  /* From texts of a column, as they are written in the file, to numbers. */
  reader(column) {
    const { values, levels } = this.data.columns[column];
    const known = (values ?? levels).filter((text) => /\d/.test(text));
    const areAll = (form) => known.every((text) => form.test(text.trim()));
    if (areAll(WITH_POINT)) return (text) => Number(text.replaceAll(",", ""));
    if (areAll(WITH_COMMA)) return (text) => Number(text.replaceAll(".", "").replace(",", "."));
    return Number;
  }
  /* Classes by probability: the key 1 is the first. */
  ranked(place) {
    const { n_top: n, top, shares } = this.data;
    return Array.from({ length: n }, (_, k) => [top[n * place + k], shares[n * place + k] / 10000]);
  }
  status(place) { return this.verdicts.get(place)?.kind ?? "open"; }

  /* Verdicts */

  verdictOf(place, action) {
    const time = new Date().toISOString();
    const settled = (label) => ({ kind: label === this.data.given[place] ? "keep" : "change", label, time });
    if (action === "accept") return settled(this.data.other[place]);
    if (action === "keep") return settled(this.data.given[place]);
    if (typeof action === "number") return settled(action);
    return { kind: action, label: -1, time };
  }

  judge(places, action) {
    this.past.push(places.map((place) => [place, this.verdicts.get(place)]));
    for (const place of places) this.verdicts.set(place, this.verdictOf(place, action));
    this.keepSoon();
  }

  /* Takes back the last verdict, or all of a bulk; returns the place to look at. */
  undo() {
    const before = this.past.pop();
    if (!before) return null;
    for (const [place, verdict] of before) {
      if (verdict) this.verdicts.set(place, verdict); else this.verdicts.delete(place);
    }
    this.keepSoon();
    return before[0][0];
  }

  counts() {
    const found = { keep: 0, change: 0, unsure: 0, drop: 0 };
    for (const { kind } of this.verdicts.values()) found[kind] += 1;
    return found;
  }

  /* Labels found wrong among those settled, and how many were expected. */
  soFar() {
    let settled = 0, wrong = 0, expected = 0;
    for (const [place, { kind }] of this.verdicts) {
      if (kind !== "keep" && kind !== "change") continue;
      settled += 1;
      wrong += kind === "change";
      expected += this.wrong(place);
    }
    return { settled, wrong, expected };
  }

  /* Wrong labels among some open rows, as expected from the audit and from the verdicts so far. */
  expectedIn(places) {
    const { wrong, expected } = this.soFar();
    const factor = (wrong + Review.BELIEF) / (expected + Review.BELIEF);
    return Math.min(places.length, factor * places.reduce((sum, place) => sum + this.wrong(place), 0));
  }

  /* A mix-up: flagged rows of one given and one suggested label. */
  mixups() {
    const found = new Map();
    for (let place = 0; place < this.data.n_review; place += 1) {
      if (!this.data.flagged[place]) continue;
      const key = `${this.data.given[place]} ${this.data.other[place]}`;
      if (!found.has(key)) found.set(key, { given: this.data.given[place], other: this.data.other[place], places: [] });
      found.get(key).places.push(place);
    }
    return [...found.values()].sort((a, b) => b.places.length - a.places.length);
  }

  /* What accepting the open rest of a mix-up is expected to break: rows whose suggestion is not right. */
  bulk({ other, places }) {
    const rest = places.filter((place) => !this.verdicts.has(place));
    const settled = places.filter((place) => ["keep", "change"].includes(this.status(place)));
    const accepted = settled.filter((place) => this.verdicts.get(place).label === other).length;
    const prior = rest.reduce((sum, place) => sum + this.wrong(place), 0) / Math.max(rest.length, 1);
    /* The checked rows and the audit's own probability, which counts like so many rows. */
    const n = settled.length + Review.PRIOR, right = accepted + Review.PRIOR * prior;
    const share = 1 - right / n, spread = Math.sqrt((share * (1 - share)) / (n + 1));
    const most = Math.min(1, share + 1.645 * spread);
    return { rest, checked: settled.length, accepted, broken: share * rest.length, atMost: most * rest.length };
  }

  /* Storage in the browser, by row: another audit of the same table goes on from it. */

  keepSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.keep(), 150);
  }
  keep() {
    clearTimeout(this.timer);
    const verdicts = [...this.verdicts].map(([place, { kind, label, time }]) => [this.data.rows[place], kind, this.data.classes[label] ?? "", time]);
    try {
      localStorage.setItem(`steadyboost-review-${this.data.key}`, JSON.stringify({ reviewer: this.reviewer, verdicts }));
      this.onStorage?.(true);
    } catch { this.onStorage?.(false); }
  }
  restore() {
    try {
      const kept = JSON.parse(localStorage.getItem(`steadyboost-review-${this.data.key}`) ?? "{}");
      this.reviewer = kept.reviewer ?? "";
      for (const [row, kind, label, time] of kept.verdicts ?? []) {
        const place = this.placeOfRow.get(row);
        if (place !== undefined) this.verdicts.set(place, { kind, label: this.data.classes.indexOf(label), time });
      }
    } catch { /* Without storage, or with a damaged entry, the review begins anew. */ }
  }

  /* Files, in the format of steadyboost.noise.read_verdicts */

  entries() {
    const { data } = this;
    return [...this.verdicts].sort(([a], [b]) => data.rows[a] - data.rows[b]).map(([place, verdict]) => ({
      row: data.rows[place], verdict: verdict.kind, given: this.given(place),
      label: data.classes[verdict.label] ?? "", id: data.ids[place] ?? "", hash: data.hashes[place] ?? "",
      reviewer: this.reviewer, time: verdict.time,
    }));
  }
  toJSON() {
    const { format, version, name: table, target, id } = this.data;
    const verdicts = this.entries().map((entry) => Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== "")));
    return `${JSON.stringify({ format, version, table, target, id, verdicts }, null, 1)}\n`;
  }
  toCSV() {
    const quoted = (value) => (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
    const lines = this.entries().map((entry) => Review.COLUMNS.map((name) => quoted(entry[name])).join(","));
    return `${[Review.COLUMNS.join(","), ...lines].join("\n")}\n`;
  }

  /* Takes in the verdicts of a file; own verdicts stay. Returns how many came in, and how many do not fit. */
  read(text, isCSV) {
    const file = isCSV ? { format: this.data.format, verdicts: Review.parseCSV(text) } : JSON.parse(text);
    if (file.format !== this.data.format || !Array.isArray(file.verdicts)) throw new Error("it is no file of verdicts");
    const taken = [], told = { taken: 0, kept: 0, misfit: 0 };
    for (const entry of file.verdicts) {
      const place = this.placeOf(entry), label = this.data.classes.indexOf(entry.label ?? "");
      const settled = entry.verdict === "keep" || entry.verdict === "change";
      if (place === undefined || !Review.KINDS.includes(entry.verdict) || (settled && label < 0)) told.misfit += 1;
      else if (this.verdicts.has(place)) told.kept += 1;
      else taken.push([place, { kind: entry.verdict, label: settled ? label : -1, time: entry.time ?? "" }]);
    }
    if (taken.length) this.past.push(taken.map(([place]) => [place, undefined]));
    for (const [place, verdict] of taken) this.verdicts.set(place, verdict);
    told.taken = taken.length;
    this.keepSoon();
    return told;
  }
  placeOf(entry) {
    const byId = this.data.id && entry.id;
    const place = byId ? this.placeOfId.get(entry.id) : this.placeOfRow.get(Number(entry.row));
    if (place === undefined || entry.given !== this.given(place)) return undefined;
    return byId || !entry.hash || entry.hash === this.data.hashes[place] ? place : undefined;
  }

  static parseCSV(text) {
    const rows = [[""]];
    let quoted = false;
    for (let at = text.charCodeAt(0) === 0xfeff ? 1 : 0; at < text.length; at += 1) {
      const sign = text[at], row = rows.at(-1);
      if (quoted && sign === '"' && text[at + 1] === '"') { row[row.length - 1] += '"'; at += 1; }
      else if (sign === '"') quoted = !quoted;
      else if (sign === "," && !quoted) row.push("");
      else if (sign === "\n" && !quoted) rows.push([""]);
      else if (sign !== "\r" || quoted) row[row.length - 1] += sign;
    }
    const [names, ...lines] = rows.filter((row) => row.length > 1);
    return lines.map((line) => Object.fromEntries(names.map((name, k) => [name, line[k]])));
  }
}
Review.BELIEF = 5; /* wrong labels' worth of belief in what the audit expects */
Review.PRIOR = 5; /* checked rows' worth of belief in the audit's probabilities of a mix-up */
Review.KINDS = ["keep", "change", "unsure", "drop"];
Review.COLUMNS = ["row", "verdict", "given", "label", "id", "hash", "reviewer", "time"];
