// SPDX-License-Identifier: BSD-2-Clause
// The timeline of a log: tracks over time, drawn from sums where many events
// share a pixel, and from the events themselves where they do not.
"use strict";

const LIMIT = 60000; // events that a frame draws one by one
const CACHE = 1 << 18; // events that stay decoded
const RULER = 26, LINE = 18; // pixels of CSS
const PALETTE = 10; // colours --c0 to --c9

let log; // the head of the page
let rows = []; // what is shown: {track, y, height, level}
let place = []; // by track: {row, y: of its lane}; undefined if folded away
let used = []; // decoded blocks that are drawn
let colours; // by the names in the style sheet, as pixels
let view = { from: 0, to: 1 };
let undo = [], redo = [];
let selection = null; // {from, to, track: or 0}
let marks = []; // up to two times
let chosen = null; // a LogEvent
let chosenTrack = 0;
let query = null; // {text, test, version}
let pointer = null; // where it is, {x, y}
let frames = []; // how long the last ones took, in ms

// Puts the view in the address, and says it, when it keeps still.
function settle() {
	clearTimeout(log.timer);
	log.timer = setTimeout(() => {
		const { from, to } = view, round = Math.round, parts = [];
		if (from !== log.first.from || to !== log.first.to)
			parts.push(`v=${round(from)},${to >= log.span
				? "end" : round(to)}`);
		if (selection)
			parts.push(`s=${round(selection.from)},${round(selection.to)
			},${selection.track}`);
		if (marks.length)
			parts.push(`m=${marks.map(round)}`);
		if (query)
			parts.push(`q=${encodeURIComponent(query.text)}`);
		const hash = `#${parts.join("&")}`;
		if (hash !== (location.hash || "#"))
			history.replaceState(null, "", hash);
		keep("folded", log.tracks.filter((t) => t.folded).map((t) => t.id));
		keep("scroll", $("scroll").scrollTop);
		keep("tab", tabNow);
		const s = selection;
		say(`${time(from, (to - from) / 1000)} to ${
			time(to, (to - from) / 1000)}${s ? `; selected ${
			time(s.to - s.from)}` : ""}${marks.length === 2
			? `; A to B: ${time(marks[1] - marks[0])}`
			: marks.length ? `; mark A at ${time(marks[0])}` : ""}`);
		if (tabNow !== 2 && log.told !== hash + tabNow + !!query)
			log.shown = tab();
		log.told = hash + tabNow + !!query;
		log.timer = 0;
	}, 200);
}

// What the address says, as a link that somebody was given.
function recall() {
	const parts = new URLSearchParams(location.hash.slice(1));
	const list = (name) => (parts.get(name) || "").split(",").map((v) =>
		v === "end" ? log.span : Number(v));
	if (parts.has("v"))
		view = bounded(...list("v"));
	selection = null;
	if (parts.has("s")) {
		const [from, to, track] = list("s");
		selection = { from, to, track: log.track[track] ? track : 0 };
	}
	marks = parts.has("m") ? list("m").slice(0, 2) : [];
	find(parts.get("q") || "");
}

views.timeline = async function timeline(head) {
	log = Object.assign(head, { age: 0, decoded: 0, changed: -Infinity,
		lines: [], context: $("canvas").getContext("2d",
			{ alpha: false, willReadFrequently: true }) });
	log.types.forEach((t, i) => {
		t.color = (t.color ?? i) % PALETTE;
	});
	makeTracks();
	for (const s of log.series)
		await loadSeries(s);
	for (const l of log.links) {
		const b = new Bytes(await bytesOf(`b${l.block}`)), n = l.n;
		const from = b.deltas(n), source = b.plain(n);
		const to = b.plain(n).map(unzig), target = b.plain(n);
		for (let i = 0; i < n; i++)
			log.lines.push({ from: from[i], to: from[i] + to[i],
				source: source[i], target: target[i] });
	}
	$("plot").hidden = false;
	log.first = view = bounded(0, log.span);
	readColours();
	onTheme = () => {
		readColours();
		tab();
		refresh();
	};
	matchMedia("(prefers-color-scheme: dark)")
		.addEventListener("change", () => onTheme());
	for (const id of (keep("folded") ?? "").split(",").filter(Boolean))
		if (log.track[id])
			log.track[id].folded = true;
	arrange();
	tabs([["Statistics", statisticsTab], ["Events", eventsTab],
		["Event", eventTab], ["Tracks", tracksTab], ["Types", typesTab],
		["About", aboutTab]]);
	listen();
	makeKeys();
	recall();
	addEventListener("hashchange", recall);
	if (keep("tab"))
		tab(Number(keep("tab")) % tabList.length);
	await choose();
	choose();
	draw();
	drawTree();
	settle();
	$("scroll").scrollTop = Number(keep("scroll")) || 0;
};

Object.assign(window.teltools, {
	view: () => ({ ...view }), setView, csv, svg, png, search: find,
	visible: () => rows.map((r) => ({ track: r.track.id, name: r.track.name,
		use: r.track.use, y: r.y + RULER - $("scroll").scrollTop,
		h: r.height })),
	at(t, track) {
		const e = eventAt(t, place[track].row, null, 0);
		return e && { name: e.name, type: e.group.type.name, time: e.time,
			duration: e.get("duration"),
			fields: Object.fromEntries(e.texts()) };
	},
	async select(from, to, track = 0) {
		setSelection(from, to, track);
		return statistics(region(), measured || "duration");
	},
	frameTimes: () => [...frames],
	// resolves when nothing is left to draw
	async settled() {
		while (asked || log.timer)
			await new Promise(requestAnimationFrame);
		await log.shown;
	},
	marks: () => [...marks], selection: () => selection,
});
