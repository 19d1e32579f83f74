// SPDX-License-Identifier: BSD-2-Clause
// The tracks of a timeline: their rows, lanes and lines, and the tree of their
// names.
"use strict";

function makeTracks() {
	const lanes = new Map(), many = log.tracks.length > 200;
	log.track = [];
	log.roots = [];
	for (const t of log.tracks) {
		const up = log.track[t.parent], key = `${t.parent} ${t.name}`;
		Object.assign(t, { up, children: [], series: [], lanes: [t],
			lines: 1, folded: false, level: up ? up.level + 1 : 0,
			// what isn't below a log shows its events a second time
			copy: up ? up.copy : !log.logs.some((l) => l.name === t.name) });
		log.track[t.id] = t;
		if (many && up?.level)
			up.folded = true;
		// ranges that overlap share a row
		if (t.use === "ranges" && lanes.has(key)) {
			lanes.get(key).lanes.push(t);
			continue;
		}
		if (t.use === "ranges")
			lanes.set(key, t);
		(up ? up.children : log.roots).push(t);
	}
}

const isPlot = (t) => /^(count|bytes|heat)$/.test(t.use);

const heightOf = (t) => t.use === "ranges"
	? LINE * t.lanes.reduce((n, l) => n + l.lines, 0) + 4
	: t.use === "heat" ? Math.min(Math.max(t.series.length * 4, 40), 120)
		: isPlot(t) ? 44 : t.series.length || t.folded ? 30 : 22;

// Places the rows; where there is room to spare, plots take it.
function arrange() {
	const open = (t) => [t, ...t.folded ? [] : t.children.flatMap(open)];
	rows = log.roots.flatMap(open).map((track) =>
		({ track, height: heightOf(track) }));
	const sum = (list) => list.reduce((n, r) => n + r.height, 0);
	const grow = rows.filter((r) => isPlot(r.track) || r.height === 30);
	const room = $("area").clientHeight - RULER - sum(rows);
	for (const r of grow)
		r.height += Math.max(Math.floor(Math.min(room / grow.length,
			r.height * (isPlot(r.track) ? 4 : 1))), 0);
	let y = 0;
	place = [];
	for (const row of rows) {
		row.y = y;
		y += row.height;
		let lane = 2;
		for (const t of row.track.lanes) {
			place[t.id] = { row, y: lane };
			lane += LINE * t.lines;
		}
	}
	$("spacer").style.height = `${y + RULER}px`;
}

// Ranges that overlap on a track: each takes the first free line.
function stack() {
	const lists = new Map();
	visit(used, (g, i) => {
		const id = g.track[i];
		if (!g.length[i])
			return;
		if (!lists.has(id))
			lists.set(id, []);
		lists.get(id).push({ g, i, from: g.time[i],
			to: g.time[i] + g.length[i] - 1 });
	});
	for (const [id, list] of lists) {
		const free = [];
		let last = {};
		list.sort((a, b) => a.from - b.from || b.to - a.to);
		for (const r of list) {
			// the longest are in a block of their own a second time
			const again = r.from === last.from && r.to === last.to &&
				r.g.block !== last.g.block && r.g.type === last.g.type;
			let d = free.findIndex((end) => end <= r.from);
			if (d < 0)
				d = free.length;
			if (!again)
				free[d] = Math.max(r.to, r.from + 1);
			r.g.depth[r.i] = again ? -1 : d;
			last = again ? last : r;
		}
		if (log.track[id])
			log.track[id].lines = Math.min(free.length, LINES);
	}
}

// Decides what is drawn event by event, and gets it.
function choose() {
	const list = blocksIn(view.from, view.to);
	const few = eventsIn(list, view.from, view.to) <= LIMIT;
	const want = log.blocks.filter((b) => b.long).concat(few ? list : []);
	const coming = Promise.all(want.filter((b) => !b.groups).map(load));
	const now = want.filter((b) => b.groups);
	if (now.length < want.length)
		coming.then(refresh, fail);
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
	$("tree").replaceChildren(...rows.filter((r) =>
		r.y + r.height > scroll && r.y < scroll + h).map((r) => {
		const t = r.track, up = t.up ? t.up.children : log.roots;
		const isChosen = t.id === chosenTrack, inner = t.children.length > 0;
		const turn = () => setFold(t, !t.folded);
		const e = el("div", {
			class: `row ${t.use}${isChosen ? " chosen" : ""}`,
			role: "treeitem", "data-track": t.id, title: t.name,
			"aria-level": t.level + 1, "aria-setsize": up.length,
			"aria-posinset": up.indexOf(t) + 1,
			"aria-selected": String(isChosen),
			"aria-expanded": inner && String(!t.folded),
			tabindex: t.id === (chosenTrack || rows[0].track.id) ? 0 : -1,
			click: (event) => event.target.className === "fold" ? turn()
				: chooseTrack(t.id),
			dblclick: turn, keydown: (event) => treeKey(event, t),
		}, el("span", { class: "fold", "aria-hidden": "true" },
			inner ? (t.folded ? "▸" : "▾") : ""),
		el("span", { class: "name" }, baseName(t.name)),
		el("span", { class: "value" }, scaleOf(t)));
		e.style = `top: ${r.y - scroll}px; height: ${r.height}px; ` +
			`padding-left: ${6 + 12 * t.level}px`;
		return e;
	}));
	if (focused)
		$("tree").querySelector(`[data-track="${focused}"]`)?.focus();
}

const unitOf = (t) => t.unit ?? (t.use === "bytes" ? "bytes" : "");

// The top of a counter's scale.
function scaleOf(t) {
	const s = t.series.find((s) => s.last);
	return s ? show(s.high, unitOf(t)) : "";
}

function setFold(t, folded) {
	t.folded = folded && t.children.length > 0;
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
	const to = rows[{ ArrowDown: i + 1, ArrowUp: i - 1, Home: 0,
		End: rows.length - 1 }[e.key]];
	if (to) {
		chooseTrack(to.track.id);
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
