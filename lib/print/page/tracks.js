// SPDX-License-Identifier: BSD-2-Clause
// The tracks of a timeline: their rows, lanes and lines, and the tree of their
// names.

let treeNow = []; // what the tree was made of
let besideAt = 0; // when its margins were made

function makeTracks() {
	const lanes = new Map();
	log.track = [];
	log.roots = [];
	for (const t of log.tracks) {
		const up = log.track[t.parent];
		const key = t.use === "ranges" && `${t.parent} ${t.name}`;
		Object.assign(t, { up, children: [], inner: [], series: [], lanes: [t],
			lines: 1, level: up ? up.level + 1 : 0, folded: false,
			unit: t.unit ?? (t.use === "bytes" ? "bytes" : ""),
			path: up ? `${up.path} / ${t.name}` : baseName(t.name),
			// what isn't below a log shows its events a second time
			copy: up ? up.copy : !log.logs.some((l) => l.name === t.name) });
		log.track[t.id] = t;
		if (log.tracks.length > 200 && up?.level)
			up.folded = true;
		// ranges that overlap share a row
		const first = key && lanes.get(key);
		if (first) {
			first.lanes.push(t);
			continue;
		}
		(up ? up.children : log.roots).push(t);
		up?.inner.push(t);
		lanes.set(key, t);
	}
	log.own = log.tracks.filter((t) => !t.copy);
}

// Curves come first, then what is busiest; none is empty.
function orderTracks() {
	const has = (t) => t.lanes.some((l) => l.series.length) ||
		t.children.some(has);
	const weight = (t) => /count|bytes|heat/.test(t.use) ? Infinity
		: sum(descend(t), busy) ||
			sum(countsOf(t, descend(t)), (s) => s.count.at(-1));
	for (const t of log.tracks) {
		t.children = t.children.filter(has).sort(byMost(weight));
		for (const c of t.children.filter(isLone))
			join(t, c);
	}
}

// The only thread of a process, and what has one event, need no row.
const isLone = (t) => /^(thread|cpu|kind)$/.test(t.use) && (
	t.up.use === "kind" && t.up.children.length === 1 && !t.up.series.length ||
	!t.children.length && sum(countsOf(t), (s) => s.count.at(-1)) === 1);

function join(t, c) {
	t.lanes.push(...c.lanes);
	t.inner.splice(t.inner.indexOf(c), 1, ...c.inner);
	t.children.splice(t.children.indexOf(c), 1, ...c.children);
	for (const d of c.inner.flatMap(descend))
		d.level--;
	for (const d of c.children)
		d.up = t;
}

const heightOf = (t) => t.height ?? (t.use === "ranges"
	? LINE * sum(t.lanes, (l) => l.lines) + 4
	: t.use === "heat" ? between(t.series.length * 4, 40, 120)
		: t.curve ? 44 : t.series.length || t.folded ? 30 : 22);

// Places the rows.  In view are the first ones, and some below.
function arrange() {
	const open = (t) => [t, ...t.folded ? [] : t.children.flatMap(open)];
	rows = log.roots.flatMap(open).map((track) =>
		({ track, height: heightOf(track) }));
	// narrow pages have names above tracks, and lists below them
	const narrow = innerWidth <= 700;
	let y = 0;
	document.body.classList.toggle("narrow", narrow);
	place = [];
	for (const row of rows) {
		let lane = 2;
		row.start = y;
		y += narrow ? HEAD : 0;
		for (const t of row.track.lanes) {
			place[t.id] = { row, y: lane };
			lane += LINE * t.lines;
		}
		row.y = y;
		row.end = y += row.height + (narrow ? listHeight(row.track) : 0);
	}
	$("plot").style.height = `${y + RULER}px`;
}

// How much of the tracks is above the window, where the ruler sticks.
const topOf = (id) => $(id).getBoundingClientRect().top;
const scrolled = () => topOf("area") - topOf("plot");

// Where a page has a first screen, many rows below that are folded.
function foldMany() {
	const kept = keep("folded").split(","), [first] = log.roots;
	arrange();
	const many = first?.first && rows.filter((r) => !r.track.first).length > 12;
	for (const t of log.tracks)
		t.folded = kept.length > 1 ? kept.includes(String(t.id))
			: t.folded || many && !t.up && t.children.length > 0;
}

// How high a margin is below its track: a list in two columns, while a single
// number is above; and bars.
function listHeight(t) {
	const list = el("p", besideOf(t)), n = (tag) =>
		list.querySelectorAll(tag).length;
	const bars = t.open && list.querySelector("svg")?.getAttribute("height");
	return (n("li") > 1 ? LINE * (n("p") + Math.ceil(n("li") / 2)) + 4 : 0) +
		(bars ? Number(bars) + 4 : 0);
}

function besideOf(t, at) {
	const s = t.curve;
	return [t.beside ? t.beside(at, t) : el("ul", s ? at === undefined
		? item("at most", show(s.high, t.unit))
		: item(`at ${time(at)}`, show(valueAt(s, at), t.unit))
		: item("", countIn(countsOf(t, descend(t)))))].flat();
}

// Ranges that overlap on a track: each takes the first free line.
function stack() {
	const ranges = [], ends = [];
	visit(used, (g, i) => {
		if (g.length[i])
			ranges.push({ g, i, from: g.time[i],
				to: g.time[i] + g.length[i] - 1 });
	});
	ranges.sort((a, b) => a.from - b.from || b.to - a.to);
	for (const { g, i, from, to } of ranges) {
		const lines = ends[g.track[i]] ??= [];
		const free = lines.findIndex((end) => end <= from);
		g.depth[i] = free < 0 ? lines.length : free;
		lines[g.depth[i]] = Math.max(to, from + 1);
		log.track[g.track[i]].lines = Math.min(lines.length, LINES);
	}
}

// Decides what is drawn event by event, and gets it.
function choose() {
	const list = blocksIn(view.from, view.to);
	const few = eventsIn(list, view.from, view.to) <= LIMIT;
	const want = log.blocks.filter((b) => b.long).concat(few ? list : []);
	const missing = want.filter((b) => !b.groups);
	const now = want.filter((b) => b.groups);
	const coming = Promise.all(missing.map(load));
	if (missing.length)
		coming.then(refresh, fail);
	if (now.length !== used.length || now.some((b, i) => b !== used[i])) {
		used = now;
		stack();
		arrange();
	}
	return coming;
}

// The margins of the first rows; what is slow to make waits for pauses.
function drawBeside() {
	besideAt = performance.now();
	for (const e of $("tree").querySelectorAll(".beside"))
		e.replaceChildren(...besideOf(log.track[e.parentNode.dataset.track],
			hairline ?? undefined));
}

// The texts of axes: at the right of the names, or in narrow plots.
function drawAxes(dpr) {
	const now = log.picture.axes.filter(([y]) => y > RULER * dpr);
	if (now.join() === $("axes").dataset.now)
		return;
	$("axes").dataset.now = now.join();
	$("axes").replaceChildren(...now.map(([y, text]) =>
		el("span", { style: `top: ${y / dpr}px` }, text)));
}

function drawTree() {
	const tree = $("tree"), top = scrolled();
	const inside = tree.contains(document.activeElement);
	const now = [rows, top, chosenTrack, tree.clientHeight];
	if (now.every((v, i) => v === treeNow[i])) {
		if (performance.now() - besideAt > 150)
			drawBeside();
		return;
	}
	treeNow = now;
	tree.replaceChildren(...rows.filter((r) => r.end > top &&
		r.start < top + tree.clientHeight).map((row) => {
		const { track: t, start, end } = row, lone = row.y + row.height === end;
		const beside = t.up ? t.up.children : log.roots;
		const isChosen = t.id === chosenTrack, inner = t.children.length > 0;
		return el("div", { role: "treeitem", "data-track": t.id,
			style: `top: ${start - top}px; height: ${end - start}px; --level: ${
				t.level}`,
			class: ["row", t.use, isChosen && "chosen", t.first && "first",
				end - start >= 40 && "high", lone && "lone",
				t.open && "open"].filter(Boolean).join(" "),
			title: t.sentence ?? t.name,
			"aria-level": t.level + 1, "aria-setsize": beside.length,
			"aria-posinset": beside.indexOf(t) + 1,
			"aria-selected": String(isChosen),
			"aria-expanded": inner && String(!t.folded),
			tabindex: t.id === (chosenTrack || rows[0].track.id) ? 0 : -1 },
		el("div.head", t.first ? [el("b", t.name), " ",
			el("span", t.below)] : [el("span.fold",
			{ "aria-hidden": "true" }, inner && (t.folded ? "▸" : "▾")),
		el("span.name", baseName(t.name))]),
		el("div.beside"));
	}));
	drawBeside();
	if (inside)
		tree.querySelector("[tabindex='0']")?.focus();
}

function setFold(t, folded) {
	t.folded = folded && t.children.length > 0;
	arrange();
	refresh();
}

function chooseTrack(id) {
	const r = place[id]?.row, y = r && topOf("plot") + RULER + r.y;
	if (y < RULER || y + r?.height > innerHeight)
		scrollBy(0, y - innerHeight / 2);
	chosenTrack = r?.track.id ?? id;
	refreshMarks();
}

function onTree(e) {
	const t = log.track[e.target.closest(".row")?.dataset.track];
	const i = rows.findIndex((r) => r.track === t), open = !t?.folded;
	const to = { ArrowDown: rows[i + 1], ArrowUp: rows[i - 1], Home: rows[0],
		End: rows.at(-1), click: rows[i] }[e.key ?? e.type]?.track;
	if (!t)
		return;
	if (e.type === "click" && innerWidth <= 700) {
		t.open = !t.open;
		arrange();
	}
	if (e.type === "dblclick" || e.target.className === "fold")
		setFold(t, open);
	else if (e.key === "ArrowRight" || e.key === "ArrowLeft" && open &&
		t.children.length)
		setFold(t, e.key === "ArrowLeft");
	else if (to || e.key === "ArrowLeft" && t.up)
		chooseTrack((to ?? t.up).id);
	else
		return;
	e.preventDefault();
	e.stopPropagation();
}
