// SPDX-License-Identifier: BSD-2-Clause
// The tracks of a timeline: their rows, lanes and lines, and the tree of their
// names.
"use strict";

function makeTracks() {
	const lanes = new Map();
	log.track = [];
	log.roots = [];
	for (const t of log.tracks) {
		const up = log.track[t.parent];
		Object.assign(t, { up, children: [], series: [], lanes: [t],
			depth: 1, folded: false, level: up ? up.level + 1 : 0,
			// what isn't below a log shows its events a second time
			copy: up ? up.copy : !log.logs.some((l) => l.name === t.name) });
		log.track[t.id] = t;
		const key = `${t.parent} ${t.name}`;
		if (t.use === "ranges" && lanes.has(key)) {
			// ranges that overlap share a row
			lanes.get(key).lanes.push(t);
			continue;
		}
		if (t.use === "ranges")
			lanes.set(key, t);
		(up ? up.children : log.roots).push(t);
	}
	const many = log.tracks.length > 200;
	for (const t of log.tracks)
		t.folded = many && t.level > 0 && t.children.length > 0;
}

const isPlot = (t) => /^(count|bytes|heat)$/.test(t.use);

function heightOf(t) {
	if (t.use === "ranges")
		return LINE * t.lanes.reduce((n, l) => n + l.depth, 0) + 4;
	if (t.use === "heat")
		return Math.min(Math.max(t.series.length * 4, 40), 120);
	return isPlot(t) ? 44 : t.series.length || t.folded ? 30 : 22;
}

// Places the rows; where there is room to spare, plots take it.
function arrange() {
	rows = [];
	const visit = (t) => {
		rows.push({ track: t, height: heightOf(t) });
		if (!t.folded)
			t.children.forEach(visit);
	};
	log.roots.forEach(visit);
	const room = $("area").clientHeight - RULER -
		rows.reduce((n, r) => n + r.height, 0);
	const grow = rows.filter((r) => isPlot(r.track) || r.height === 30);
	for (const r of grow)
		if (room > 0)
			r.height += Math.floor(Math.min(room / grow.length,
				r.height * (isPlot(r.track) ? 4 : 1)));
	let y = 0;
	place = [];
	for (const r of rows) {
		r.y = y;
		y += r.height;
		let lane = 2;
		for (const t of r.track.lanes) {
			place[t.id] = { row: r, y: lane };
			lane += LINE * t.depth;
		}
	}
	$("spacer").style.height = `${y + RULER}px`;
}

// Ranges that overlap on a track: each takes the first free line.
function stack() {
	const lists = new Map();
	for (const block of used) {
		for (const g of block.groups) {
			for (let i = 0; i < g.n; i++) {
				if (!g.length[i])
					continue;
				if (!lists.has(g.track[i]))
					lists.set(g.track[i], []);
				lists.get(g.track[i]).push({ g, i, from: g.time[i],
					to: g.time[i] + g.length[i] - 1 });
			}
		}
	}
	for (const [id, list] of lists) {
		const free = [];
		let last = {};
		list.sort((a, b) => a.from - b.from || b.to - a.to);
		for (const r of list) {
			// the longest are in a block of their own a second time
			if (r.from === last.from && r.to === last.to &&
				r.g.block !== last.g.block &&
				r.g.type === last.g.type) {
				r.g.depth[r.i] = -1;
				continue;
			}
			last = r;
			let d = free.findIndex((end) => end <= r.from);
			if (d < 0)
				d = free.length;
			free[d] = Math.max(r.to, r.from + 1);
			r.g.depth[r.i] = d;
		}
		if (log.track[id])
			log.track[id].depth = Math.min(free.length, 32);
	}
}

// Decides what is drawn event by event, and gets it.
function choose() {
	const list = blocksIn(view.from, view.to);
	const n = eventsIn(list, view.from, view.to);
	const want = log.blocks.filter((b) => b.long)
		.concat(n <= LIMIT ? list : []);
	const missing = want.filter((b) => !b.groups);
	const coming = Promise.all(missing.map(load));
	if (missing.length)
		coming.then(refresh, fail);
	const now = want.filter((b) => b.groups);
	for (const b of now)
		b.age = ++log.age;
	if (now.length !== used.length || now.some((b, i) => b !== used[i])) {
		used = now;
		stack();
		arrange();
	}
	return coming;
}

// The names of the tracks: a tree that keys and screen readers can walk.
function drawTree() {
	const scroll = $("scroll").scrollTop, h = $("tree").clientHeight;
	const focused = document.activeElement?.dataset?.track;
	$("span").textContent = `${time(view.to - view.from)} shown`;
	const shownRows = rows.filter((r) =>
		r.y + r.height > scroll && r.y < scroll + h);
	$("tree").replaceChildren(...shownRows.map((r) => {
		const t = r.track, up = t.up ? t.up.children : log.roots;
		const fold = t.children.length ? (t.folded ? "▸" : "▾") : "";
		const e = el("div", {
			class: `row ${t.use}${t.id === chosenTrack ? " chosen" : ""}`,
			role: "treeitem", "data-track": t.id, title: t.name,
			"aria-level": t.level + 1, "aria-setsize": up.length,
			"aria-posinset": up.indexOf(t) + 1,
			"aria-selected": t.id === chosenTrack,
			"aria-expanded": fold ? String(!t.folded) : undefined,
			tabindex: t.id === (chosenTrack || rows[0].track.id) ? 0 : -1,
			click: () => chooseTrack(t.id),
			dblclick: () => setFold(t, !t.folded),
			keydown: (event) => treeKey(event, t),
		}, el("span", { class: "fold", "aria-hidden": "true",
			click: (event) => {
				event.stopPropagation();
				setFold(t, !t.folded);
			} }, fold), el("span", { class: "name" },
			t.name.replace(/^\/.*\//, "")),
		el("span", { class: "value" }, summary(t)));
		e.style.top = `${r.y - scroll}px`;
		e.style.height = `${r.height}px`;
		e.style.paddingLeft = `${6 + 12 * t.level}px`;
		return e;
	}));
	if (focused)
		$("tree").querySelector(`[data-track="${focused}"]`)?.focus();
}

// The top of a counter's scale.
function summary(t) {
	const s = t.series.find((s) => s.counter);
	return !s ? "" : t.use === "bytes" ? bytes(s.high) : show(s.high);
}

function setFold(t, folded) {
	if (t.children.length)
		t.folded = folded;
	arrange();
	refresh();
}

function chooseTrack(id) {
	chosenTrack = id;
	const r = place[id]?.row, box = $("scroll");
	const room = box.clientHeight - RULER;
	if (r && (r.y < box.scrollTop || r.y + r.height > box.scrollTop + room))
		box.scrollTop = Math.max(r.y - room / 2, 0);
	refresh();
}

function treeKey(e, t) {
	const i = rows.findIndex((r) => r.track === t);
	const to = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0,
		End: rows.length - 1 }[e.key];
	if (to !== undefined && rows[to]) {
		chooseTrack(rows[to].track.id);
		drawTree();
		$("tree").querySelector(".chosen")?.focus();
	} else if (e.key === "ArrowLeft") {
		if (t.children.length && !t.folded)
			setFold(t, true);
		else if (t.up)
			chooseTrack(t.up.id);
	} else if (e.key === "ArrowRight") {
		setFold(t, false);
	} else if (e.key !== "Enter") {
		return;
	}
	e.preventDefault();
	e.stopPropagation();
}
