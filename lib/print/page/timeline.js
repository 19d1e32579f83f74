// SPDX-License-Identifier: BSD-2-Clause
// The timeline of a log: tracks over time, drawn from sums where many events
// share a pixel, else from the events.

const LIMIT = 60000; // events that a frame draws one by one
const CACHE = 64; // blocks that stay decoded
const RULER = 26, LINE = 18, HEAD = 20; // CSS pixels
const LINES = 32; // of ranges of a track that overlap

let log; // the head of the page
let rows = []; // shown: {track, y, height}
let place = []; // by track: {row, y: of its lane}; undefined: folded
let used = []; // decoded blocks that are drawn
let view = { from: 0, to: 1 };
const undo = [];
let selection = null; // {from, to}
let chosen = null; // a LogEvent
let chosenTrack = 0;
let query = null; // {text, test, types: that match}
let only = false; // others are hidden
let pointer = null; // at {x, y}
let hairline = null; // a time, that of the pointer or of keys

// What the tab below depends on.
const state = () => location.hash.replace(/&?[af]=\w*/g, "") + tabNow + only;

// Puts the view in the address, and says it, when it keeps still.
function settle() {
	clearTimeout(log.timer);
	log.timer = setTimeout(() => {
		const { from, to } = view, at = (t) => time(t, (to - from) / 1000);
		const hash = Object.entries({
			v: view !== log.first && [from, to < log.span ? to : "end"],
			s: selection && Object.values(selection),
			q: query && [query.text],
			m: memory && mode !== "peak" && [mode],
			a: memory?.alone && [memory.alone],
			f: memory && flame.top.length && [flame.zoomed.key],
		}).filter(([, v]) => v).map(([name, list]) => `${name}=${
			list.map((v) => typeof v === "string" ? encodeURIComponent(v)
				: Math.round(v))}`).join("&");
		if (`#${hash}` !== (location.hash || "#"))
			history.replaceState(null, "", `#${hash}`);
		keep("folded", [0, ...log.tracks.filter((t) => t.folded)
			.map((t) => t.id), 0]);
		keep("scroll", scrollY);
		say([`${at(from)} to ${at(to)}`,
			selection && `selected ${time(selection.to - selection.from)}`,
			hairline !== null && !pointer && `at ${at(hairline)}`,
		].filter(Boolean).join("; "));
		if (log.told !== state())
			log.shown = tab();
		log.told = state();
		drawBeside();
		log.timer = 0;
	}, 200);
}

// What the address says, which may be a link.
function recall() {
	const parts = new URLSearchParams(location.hash.slice(1));
	const list = (name) => (parts.get(name)?.split(",") ?? []).map((v) =>
		v === "end" ? log.span : Number(v));
	const [from, to] = list("s");
	const [start, end] = list("v");
	if (Number.isFinite(start) && end > start)
		view = bounded(start, end);
	select(to >= from ? from : undefined, to);
	if (memory)
		recallMemory(parts);
	find(parts.get("q") || "");
}

views.timeline = async function timeline(head) {
	log = Object.assign(head, { lines: [],
		context: $("canvas").getContext("2d",
			{ alpha: false, willReadFrequently: true }) });
	const lost = sum(log.logs, (l) => l.lost);
	$("about").textContent = [...new Set(log.logs.map((l) => l.format)),
		clock !== "events" && time(log.span), count(log.events, "event"),
		lost && `${show(lost)} lost`,
		log.damaged && `${count(log.damaged, "damaged place")}, ${
			count(log.skipped, "byte")}`].filter(Boolean).join(" · ");
	makeTracks();
	await loadSeries();
	for (const l of log.links)
		await loadLinks(l);
	orderTracks();
	readColours();
	if (log.memory)
		await loadMemory(log.memory);
	else if (log.collector)
		loadCollector(log.collector);
	else if (log.overview)
		loadOverview(log.overview);
	$("plot").hidden = false;
	log.first = view = bounded(0, log.span);
	onTheme = () => {
		readColours();
		refresh();
		flame.paint();
		drawAll(); // paper does not wait for a frame
	};
	foldMany();
	arrange();
	listen();
	recall();
	window.onhashchange = recall;
	flame.moved = settle;
	await choose();
	asked = false;
	drawAll();
	tabs([...memory ? [["Memory", memoryTab]] : collector
		? [["Collections", collectorTab]] : [],
		["Statistics", statisticsTab], ["Events", eventsTab]],
	Number(keep("tab")));
	log.told = state();
	scrollTo(0, Number(keep("scroll")));
};
