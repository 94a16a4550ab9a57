/* What is shown of a review, and what keys and buttons do. Text goes into the page as text only. */
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const review = new Review(data);
  const $ = (id) => document.getElementById(id);
  const make = (tag, props = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), props);
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
  const drawn = (tag, attributes, ...children) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const percent = (share) => {
    const digits = share > 0.001 && share < 0.999 ? 1 : 2;
    return `${(100 * share).toFixed(share === 0 || share === 1 ? 0 : digits)}\u00a0%`;
  };
  /* A probability is never certain, however it is rounded. */
  const chance = (p) => (p >= 0.9999 ? "> 99.99\u00a0%" : p <= 0.0001 ? "< 0.01\u00a0%" : percent(p));
  const count = (n) => n.toLocaleString("en");
  const counted = (number, what) => `${count(number)} ${what}${number === 1 ? "" : "s"}`;
  const WORDS = { open: "open", keep: "kept", change: "changed", unsure: "not sure", drop: "left out" };
  const ROW_HEIGHT = 38, MARGIN = 10; /* of the list: pixels, as in the style sheet, and rows beyond the window */
  const NEXT = 50; /* rows that the advice looks at */
  const SAMPLE = 5; /* rows of a mix-up to be checked before the rest may be accepted */
  const FIRST_COLUMNS = 14; /* of the table of values */

  /* Columns but that of identifiers, and an index without a name. */
  const OTHERS = [...data.columns.keys()].filter((k) => data.columns[k].name.trim() && data.columns[k].name !== data.id);

  let shown = []; /* places on the page that pass the filters */
  let at = 0; /* the current one among them */
  let isList = false;
  const place = () => shown[at];

  /* The card of a row */

  const bar = (share, kind = "") => {
    const filled = make("i", { className: kind });
    filled.style.width = `${100 * share}%`;
    return make("span", { className: "bar" }, filled);
  };

  const button = (text, key, action, kind = "") => {
    const node = make("button", { type: "button", className: kind, title: `Key ${key}` }, text, " ", make("kbd", {}, key));
    node.dataset.action = action;
    node.addEventListener("click", () => act(action));
    return node;
  };

  /* In a list, what the suggestion says is not said again. */
  const verdictBadge = (row, isShort = false) => {
    const { label } = review.verdicts.get(row) ?? {}, kind = review.status(row);
    const text = kind !== "change" || (isShort && label === data.other[row]) ? WORDS[kind] : `${isShort ? "→" : "changed to"} ${data.classes[label]}`;
    return make("span", { className: `badge ${{ change: "yes", keep: "no" }[kind] ?? ""}`, textContent: text });
  };

  const classBars = (row) => {
    const list = make("ol", { className: "classes" });
    review.ranked(row).forEach(([label, share], k) => {
      const chosen = review.verdicts.get(row)?.label === label;
      const line = make("button", { type: "button", className: chosen ? "chosen" : "", title: `Key ${k + 1}` },
        make("kbd", {}, k + 1), make("span", { className: "name" }, data.classes[label]), bar(share), make("span", { className: "number" }, chance(share)));
      line.dataset.label = label;
      line.addEventListener("click", () => act(label));
      list.append(make("li", {}, line));
    });
    return list;
  };

  const head = (row) => make("header", {},
    make("p", { className: "quiet" }, `${count(at + 1)} of ${count(shown.length)} · row ${data.rows[row]}`,
      data.id ? ` · ${data.id} ${data.ids[row]}` : "", " ", verdictBadge(row)),
    make("p", { className: "question" }, make("b", { className: "given" }, review.given(row)), " → ",
      make("b", { className: "other" }, review.other(row)), "?"),
    make("p", { className: "quiet" }, `The label ${review.given(row)} is wrong with probability ${chance(review.wrong(row))}`,
      data.flagged[row] ? "." : "; it is not flagged."));

  const actions = () => make("div", { className: "actions" },
    button("Accept", "A", "accept", "yes"), button("Keep", "K", "keep", "no"), button("Not sure", "N", "unsure"),
    button("Leave out", "X", "drop"), button("Undo", "U", "undo"), button("Previous", "←", "previous"), button("Next", "→", "next"));

  const members = (row) => {
    const own = data.evidence[row]?.members ?? [];
    if (!own.length) return null;
    const rows = own.map((shares, k) => make("tr", {}, make("th", { scope: "row" }, data.members[k]),
      ...[data.given[row], data.other[row]].map((label) => make("td", {}, make("div", { className: "share" }, bar(shares[label] / 10000), make("span", { className: "number" }, chance(shares[label] / 10000)))))));
    return make("section", {}, make("h3", {}, "What each model says"), make("table", { className: "members" },
      make("thead", {}, make("tr", {}, make("th"), make("th", { scope: "col" }, review.given(row)), make("th", { scope: "col" }, review.other(row)))),
      make("tbody", {}, ...rows)));
  };

  const columnsFor = (row) => {
    const own = data.evidence[row]?.columns ?? [];
    if (!own.length) return null;
    const most = Math.max(...own.map(([, , worth]) => Math.abs(worth)));
    const lines = own.map(([name, value, worth]) => {
      const filled = make("i", { className: worth > 0 ? "for" : "against" });
      filled.style.width = `${(50 * Math.abs(worth)) / most}%`;
      return make("tr", {}, make("th", { scope: "row" }, name), make("td", { className: "value" }, value),
        make("td", {}, make("span", { className: "two-sided" }, filled)), make("td", { className: "number" }, `${worth > 0 ? "+" : "−"}${Math.abs(worth).toFixed(2)}`));
    });
    return make("section", {}, make("h3", {}, "Columns for and against"), make("p", { className: "quiet" },
      `Contribution to the log-odds of ${review.other(row)} (right) against ${review.given(row)} (left).`),
      make("table", { className: "contributions" }, make("tbody", {}, ...lines)));
  };

  const texts = (row) => data.columns.flatMap((column, k) => (column.kind !== "long" ? [] :
    [make("section", {}, make("h3", {}, column.name), make("blockquote", {}, review.value(k, row)))]));

  const picture = (row) => {
    const source = data.pictures[row];
    return source ? make("img", { src: source, alt: `Picture of row ${data.rows[row]}`, className: "picture" }) : null;
  };

  const values = (row) => {
    const near = data.evidence[row]?.near ?? [];
    const told = (data.evidence[row]?.columns ?? []).map(([name]) => name);
    const rank = (k) => (told.includes(data.columns[k].name) ? told.indexOf(data.columns[k].name) : told.length + k);
    const order = OTHERS.filter((k) => data.columns[k].kind !== "long").sort((a, b) => rank(a) - rank(b));
    if (!order.length && !near.length) return null;
    const table = make("table", { className: "near" });
    const heads = near.map(([other, share]) => make("th", { scope: "col", title: `Row ${data.rows[other]}` },
      make("span", { className: data.given[other] === data.given[row] ? "given" : data.given[other] === data.other[row] ? "other" : "" }, review.given(other)),
      make("small", {}, `row ${data.rows[other]}, ${percent(share)}`)));
    table.append(make("thead", {}, make("tr", {}, make("th"), make("th", { scope: "col" }, review.given(row), make("small", {}, "this row")), ...heads)));
    const fill = (some) => some.map((k) => make("tr", {}, make("th", { scope: "row" }, data.columns[k].name),
      ...[row, ...near.map(([other]) => other)].map((one) => make("td", { className: `${data.columns[k].kind}${one !== row && review.value(k, one) === review.value(k, row) ? " same" : ""}` }, review.value(k, one)))));
    table.append(make("tbody", {}, ...fill(order.slice(0, FIRST_COLUMNS))));
    const section = make("section", {}, make("h3", {}, near.length ? "Values, and the nearest rows" : "Values"),
      near.length ? make("p", { className: "quiet" }, "The rows that most often share a leaf with this one in the forests, with their given labels.") : null,
      make("div", { className: "scroll" }, table));
    if (order.length > FIRST_COLUMNS) {
      const more = make("button", { type: "button", className: "more" }, `All ${order.length} columns`);
      more.addEventListener("click", () => { table.tBodies[0].append(...fill(order.slice(FIRST_COLUMNS))); more.remove(); });
      section.append(more);
    }
    return section;
  };

  const same = (row) => {
    const own = data.evidence[row]?.same ?? [];
    if (!own.length) return null;
    const told = own.map((other) => `row ${data.rows[other]} (${review.given(other)})`).join(", ");
    return make("p", { className: "note" }, `Same values, another label: ${told}.`);
  };

  const drawCard = () => {
    const row = place();
    if (row === undefined) { $("card").replaceChildren(make("p", {}, "No row matches the filters.")); return; }
    $("card").replaceChildren(...[head(row), picture(row), ...texts(row), classBars(row), actions(), same(row),
      make("div", { className: "evidence" }, ...[columnsFor(row), members(row)].filter(Boolean)), values(row)].filter(Boolean));
  };

  /* The list: only rows in the window exist */

  const PREVIEWED = OTHERS.slice(0, 4);
  const preview = (row) => PREVIEWED.map((k) => `${data.columns[k].name} ${review.value(k, row)}`).join(" · ");

  const listRow = (number) => {
    const row = shown[number];
    const line = make("div", { className: `line${number === at ? " current" : ""}` },
      make("span", { className: "number" }, count(number + 1)), make("span", { className: "number row" }, data.id ? data.ids[row] : data.rows[row]),
      make("span", {}, review.given(row)), make("span", {}, review.other(row)), make("span", { className: "number" }, chance(review.wrong(row))),
      make("span", {}, verdictBadge(row, true)), make("span", { className: "preview" }, preview(row)));
    line.style.top = `${number * ROW_HEIGHT}px`;
    line.addEventListener("click", () => { at = number; draw(); });
    line.addEventListener("dblclick", () => { at = number; show(false); });
    return line;
  };

  const drawList = () => {
    $("list-actions").replaceChildren(actions());
    const scroller = $("scroller"), from = Math.floor(scroller.scrollTop / ROW_HEIGHT) - MARGIN;
    const first = Math.max(0, from), last = Math.min(shown.length, from + Math.ceil(scroller.clientHeight / ROW_HEIGHT) + 2 * MARGIN);
    $("spacer").style.height = `${shown.length * ROW_HEIGHT}px`;
    $("spacer").replaceChildren(...Array.from({ length: Math.max(0, last - first) }, (_, k) => listRow(first + k)));
  };

  const scrollToCurrent = () => {
    const scroller = $("scroller"), top = at * ROW_HEIGHT;
    if (top < scroller.scrollTop || top + ROW_HEIGHT > scroller.scrollTop + scroller.clientHeight) {
      scroller.scrollTop = top - scroller.clientHeight / 2;
    }
  };

  /* How far to go */

  const found = [0]; /* wrong labels expected among the first rows, by rank */
  for (let row = 0; row < data.n_review; row += 1) found.push(found[row] + review.wrong(row));
  const slider = make("input", { type: "range", min: 0, max: data.n_review, ariaLabel: "Rows to review" });
  slider.value = Math.max(1, data.flagged.slice(0, data.n_review).lastIndexOf(1) + 1);
  const sliderText = make("p", { className: "told" }), soFarText = make("p", { className: "told" });
  const adviceText = make("p", { className: "told advice" });
  const worth = make("input", { type: "number", min: 2, max: 1000, value: 20 });
  const marker = drawn("line", { y1: 0, y2: 120, class: "marker" }), done = drawn("circle", { r: 4, class: "so-far" });

  const buildCurve = () => {
    const points = Array.from({ length: 101 }, (_, k) => Math.round((k * data.n_review) / 100));
    const total = Math.max(data.n_wrong, found[data.n_review], 1e-9);
    const path = points.map((n, k) => `${3 * k},${(120 - (116 * found[n]) / total).toFixed(1)}`).join(" ");
    const chart = drawn("svg", { viewBox: "-2 -16 304 154", role: "img", "aria-label": "Expected wrong labels found by rows reviewed" },
      drawn("line", { x1: 0, x2: 300, y1: 120, y2: 120, class: "axis" }), drawn("line", { x1: 0, x2: 300, y1: 120, y2: 4, class: "random" }),
      drawn("polyline", { points: path, class: "curve" }), marker, done,
      drawn("text", { x: 0, y: 134 }, "0"), drawn("text", { x: 300, y: 134, "text-anchor": "end" }, `${count(data.n_review)} rows`),
      drawn("text", { x: 300, y: -6, "text-anchor": "end" }, `about ${count(Math.round(total))} wrong`));
    slider.addEventListener("input", drawCurve);
    worth.addEventListener("input", drawCurve);
    $("curve").append(make("p", { className: "quiet" }, "Wrong labels expected among the rows reviewed, most suspicious first; dashed: in random order."),
      chart, slider, sliderText, soFarText, adviceText, make("label", { className: "quiet" }, "A row is worth a look if one in ", worth, " is wrong."));
  };

  const drawCurve = () => {
    const n = Number(slider.value), total = Math.max(data.n_wrong, found[data.n_review], 1e-9);
    const x = (300 * n) / Math.max(data.n_review, 1);
    marker.setAttribute("x1", x); marker.setAttribute("x2", x);
    sliderText.textContent = `The first ${count(n)} rows: ${found[n].toFixed(0)} of about ${total.toFixed(0)} wrong labels (${percent(found[n] / total)}); ${percent(found[n] / Math.max(n, 1))} of these rows.`;
    const { settled, wrong, expected } = review.soFar();
    done.setAttribute("cx", (300 * settled) / Math.max(data.n_review, 1));
    done.setAttribute("cy", 120 - (116 * Math.min(wrong, total)) / total);
    soFarText.textContent = settled ? `So far ${count(wrong)} of ${count(settled)} labels were wrong (${percent(wrong / settled)}); ${percent(expected / settled)} were expected.` : "No label has been decided yet.";
    const next = [];
    for (let row = 0; row < data.n_review && next.length < NEXT; row += 1) if (!review.verdicts.has(row)) next.push(row);
    const expectedNext = review.expectedIn(next), least = 1 / Math.max(Number(worth.value), 1);
    adviceText.textContent = !next.length ? "All rows are judged." :
      `Of the next ${next.length} open rows about ${expectedNext.toFixed(expectedNext < 10 ? 1 : 0)} are expected to be wrong: ${expectedNext / next.length >= least ? "go on." : "you may stop here."}`;
    adviceText.classList.toggle("stop", expectedNext / Math.max(next.length, 1) < least);
  };

  /* Mix-ups, and the bulk */

  const MIXUPS = review.mixups();
  const drawMixups = () => {
    const lines = MIXUPS.slice(0, 12).map((mixup) => {
      const { rest, checked, accepted } = review.bulk(mixup);
      const pick = make("button", { type: "button", className: "link" }, `${data.classes[mixup.given]} → ${data.classes[mixup.other]}`);
      pick.addEventListener("click", () => { $("f-given").value = mixup.given; $("f-other").value = mixup.other; filter(); });
      const all = make("button", { type: "button", disabled: checked < SAMPLE || !rest.length, title: checked < SAMPLE ? `Check ${SAMPLE} of them first` : "" }, `Accept ${count(rest.length)}`);
      all.addEventListener("click", () => askBulk(mixup));
      return make("tr", {}, make("td", {}, pick), make("td", { className: "number", title: "accepted of those checked" }, `${accepted}/${checked}`), make("td", {}, all));
    });
    const table = make("table", {}, make("thead", {}, make("tr", {}, make("th", {}, "given → suggested"), make("th", { className: "number" }, "right"), make("th", {}, "rest"))), make("tbody", {}, ...lines));
    const told = MIXUPS.length ? [make("p", { className: "quiet" }, `Check ${SAMPLE} rows of a mix-up, then accept the rest at once.`), table] : [make("p", { className: "quiet" }, "No label is flagged.")];
    $("mixups").replaceChildren($("mixups").firstElementChild, ...told);
  };

  const ask = (title, texts, answers) => {
    const buttons = answers.map(([text, then]) => {
      const node = make("button", { type: "button" }, text);
      node.addEventListener("click", () => { $("dialog").close(); then?.(); });
      return node;
    });
    $("dialog").replaceChildren(make("h2", {}, title), ...texts.map((text) => make("p", {}, text)), make("div", { className: "actions" }, ...buttons));
    $("dialog").showModal();
  };

  const askBulk = (mixup) => {
    const { rest, checked, accepted, broken, atMost } = review.bulk(mixup);
    const names = `${data.classes[mixup.given]} → ${data.classes[mixup.other]}`;
    ask(`Accept ${count(rest.length)} suggestions ${names}?`, [
      `You checked ${checked} of them, and the suggestion was right for ${accepted}.`,
      `About ${broken.toFixed(1)} of the other rows are expected to get a wrong label (at most ${Math.ceil(atMost)}, with 95 % confidence). One undo takes all of them back.`,
    ], [["Accept", () => { review.judge(rest, "accept"); draw(); }], ["Cancel"]]);
  };

  /* Filters */

  const options = (id, named) => $(id).replaceChildren(...named.map(([value, text]) => make("option", { value, textContent: text })));

  const buildFilters = () => {
    const labels = data.classes.map((name, k) => [k, name]);
    options("f-given", [["", "all"], ...labels]);
    options("f-other", [["", "all"], ...labels]);
    options("f-status", [["", "all"], ["flagged", "suspects"], ...Object.entries(WORDS)]);
    options("f-column", [["", "all"], ...data.columns.map((column, k) => [k, column.name]).filter(([, name]) => name.trim())]);
    $("filters").addEventListener("input", filter);
    $("filters").addEventListener("submit", (event) => event.preventDefault());
    $("filters").addEventListener("reset", () => setTimeout(filter));
  };

  /* A comparison, where the text is one and a column is chosen; else what contains the text. */
  const matcher = (text, column) => {
    const compared = /^\s*(<=|>=|<|>|=)\s*(.+)$/.exec(text);
    if (column !== "" && compared) {
      const [, sign, wanted] = compared, read = review.reader(column), number = read(wanted);
      const tests = { "<": (v) => v < number, ">": (v) => v > number, "<=": (v) => v <= number, ">=": (v) => v >= number };
      return (row) => {
        const value = review.value(column, row);
        return sign === "=" ? value === wanted.trim() : value !== "" && tests[sign](read(value));
      };
    }
    const wanted = text.toLowerCase(), places = column === "" ? data.columns.keys() : [Number(column)], all = [...places];
    const matches = (value) => String(value).toLowerCase().includes(wanted);
    return (row) => all.some((k) => matches(review.value(k, row))) || (column === "" && (matches(data.ids[row] ?? "") || String(data.rows[row]) === text.trim()));
  };

  const filter = () => {
    const given = $("f-given").value, other = $("f-other").value, status = $("f-status").value, text = $("f-text").value;
    const matches = text.trim() ? matcher(text, $("f-column").value) : null;
    const current = place();
    shown = [];
    for (let row = 0; row < data.n_review; row += 1) {
      if (given !== "" && data.given[row] !== Number(given)) continue;
      if (other !== "" && data.other[row] !== Number(other)) continue;
      if (status === "flagged" ? !data.flagged[row] : status !== "" && review.status(row) !== status) continue;
      if (matches && !matches(row)) continue;
      shown.push(row);
    }
    at = Math.max(0, shown.indexOf(current));
    $("found").textContent = `${count(shown.length)} of ${count(data.n_review)} rows`;
    $("scroller").scrollTop = 0;
    draw();
  };

  /* Verdicts */

  const say = (text) => { $("message").textContent = text; $("message").hidden = !text; };

  const nextOpen = () => {
    for (let step = 1; step <= shown.length; step += 1) {
      const number = (at + step) % shown.length;
      if (!review.verdicts.has(shown[number])) return number;
    }
    return at;
  };

  const goTo = (row) => {
    if (!shown.includes(row)) $("filters").reset();
    at = shown.indexOf(row);
    if (at < 0) { shown = Array.from({ length: data.n_review }, (_, k) => k); at = row; }
  };

  const act = (action) => {
    say("");
    if (action === "undo") {
      const row = review.undo();
      if (row === null) say("There is nothing to undo."); else goTo(row);
    } else if (action === "next") at = Math.min(at + 1, shown.length - 1);
    else if (action === "previous") at = Math.max(at - 1, 0);
    else if (place() !== undefined) {
      review.judge([place()], action);
      at = nextOpen();
      if (review.verdicts.has(place())) say("All rows that are shown have a verdict.");
    }
    draw();
    if (!isList && action !== "undo") window.scrollTo({ top: Math.min(window.scrollY, $("card").offsetTop) });
  };

  const KEYS = {
    a: "accept", Enter: "accept", k: "keep", n: "unsure", x: "drop", u: "undo",
    ArrowRight: "next", ArrowLeft: "previous", j: "next", " ": "next",
  };
  const onKey = (event) => {
    if ($("dialog").open || event.target.closest("input:not([type=range]), select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if ((event.ctrlKey || event.metaKey) && event.key === "z") { event.preventDefault(); act("undo"); return; }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const onButton = event.target.closest("button, label.button") && (event.key === "Enter" || event.key === " ");
    const inList = isList && { ArrowDown: "next", ArrowUp: "previous" }[event.key];
    const [label] = review.ranked(place() ?? 0)[Number(event.key) - 1] ?? [];
    if (onButton) return;
    if (/^[1-9]$/.test(event.key) && label !== undefined) act(label);
    else if (inList || KEYS[event.key]) { event.preventDefault(); act(inList || KEYS[event.key]); }
    else if (event.key === "l") show(!isList);
    else if (event.key === "/") { event.preventDefault(); $("f-text").focus(); }
    else if (event.key === "?") help();
  };

  const help = () => ask("Keys", [
    "A or Enter accepts the suggestion, K keeps the label, 1 to 9 choose a class in order of probability.",
    "N: not sure. X: leave the row out. U or Ctrl+Z: undo. ← → or space: previous and next row.",
    "L: cards or list. /: search. Verdicts are kept in this browser; export them to apply them: steadyboost apply TABLE VERDICTS -o CLEAN.",
  ], [["Close"]]);

  /* Files */

  const save = (text, kind, ending) => {
    const address = URL.createObjectURL(new Blob([text], { type: kind }));
    const name = data.name.replace(/\.[a-z]+(\.gz)?$/i, "").replace(/[^\w.-]+/g, "-");
    make("a", { href: address, download: `${name}-verdicts.${ending}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  };

  const load = async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    try {
      const { taken, kept, misfit } = review.read(await file.text(), /\.csv$/i.test(file.name));
      say(`${counted(taken, "verdict")} imported; ${counted(kept, "row")} kept the earlier verdict; ${counted(misfit, "verdict")} not fitting this table.`);
    } catch (error) { say(`${file.name} cannot be read: ${error.message}.`); }
    event.target.value = "";
    draw();
  };

  /* All of it */

  const draw = () => {
    const { keep, change, unsure, drop } = review.counts(), n = review.verdicts.size;
    $("done-bar").firstElementChild.style.width = `${(100 * n) / Math.max(data.n_review, 1)}%`;
    $("done").textContent = `${count(n)} judged: ${count(change)} changed, ${count(keep)} kept, ${count(unsure)} not sure, ${count(drop)} left out`;
    if (isList) { scrollToCurrent(); drawList(); } else drawCard();
    drawCurve();
    drawMixups();
  };

  const show = (list) => {
    isList = list;
    $("list").hidden = !list; $("card").hidden = list;
    $("show-list").setAttribute("aria-selected", list); $("show-card").setAttribute("aria-selected", !list);
    draw();
    (list ? $("scroller") : $("card")).focus({ preventScroll: true });
  };

  $("tools").open = innerWidth > 600;
  $("notes").append(...data.notes.map((note) => make("p", { className: "note", textContent: note })));
  $("list-head").append(...["", data.id || "row", "label", "suggestion", "P(wrong)", "verdict", "values"].map((name) => make("span", {}, name)));
  $("reviewer").value = review.reviewer;
  $("reviewer").addEventListener("input", () => { review.reviewer = $("reviewer").value.trim(); review.keepSoon(); });
  review.onStorage = (works) => { if (!works) say("This browser does not keep the verdicts: export them before you close the page."); };
  $("show-card").addEventListener("click", () => show(false));
  $("show-list").addEventListener("click", () => show(true));
  $("save-json").addEventListener("click", () => save(review.toJSON(), "application/json", "json"));
  $("save-csv").addEventListener("click", () => save(review.toCSV(), "text/csv", "csv"));
  $("import").addEventListener("change", load);
  $("help").addEventListener("click", help);
  let waiting = false;
  $("scroller").addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; drawList(); });
  });
  addEventListener("resize", () => { if (isList) drawList(); });
  addEventListener("keydown", onKey);
  addEventListener("pagehide", () => review.keep());
  buildFilters();
  buildCurve();
  $("app").hidden = false;
  filter();
  if (review.verdicts.size) { at = shown.length - 1; at = nextOpen(); } /* the first open row */
  show(false);
})();
