// SPDX-License-Identifier: BSD-2-Clause
// What lies below a timeline: statistics and tables; and the search.
"use strict";

// Which events of a group match the search.
function matches(g) {
	if (g.query !== query) {
		g.query = query;
		g.match = Uint8Array.from({ length: g.n }, (_, i) =>
			query.test(new LogEvent(g, i)) === true);
	}
	return g.match;
}

const shown = (g, i) => !only || !query || matches(g)[i] > 0;

// What a search says of all events of a type: undefined if it depends on them.
function ofType(test, type) {
	let unsure = false;
	const missing = () => { unsure = true; };
	const result = test({
		get: (name, isField) => !isField && /^(kind|name|code)$/.test(name)
			? type[name] : missing(),
		label: missing,
		labels: () => (missing(), []),
		strings: () => (missing(), [type.name]),
	});
	return unsure && result !== true ? undefined : result === true;
}

async function find(text) {
	text = text.trim();
	$("q").value = text;
	$("hits").className = $("hits").textContent = "";
	query = null;
	if (text) {
		try {
			const test = search(text, new Set(log.types.flatMap((t) =>
				t.fields.map((f) => f.name))));
			query = { text, test, types: new Map(
				log.types.map((t) => [t, ofType(test, t)])) };
		} catch (error) {
			$("hits").className = "error";
			$("hits").textContent = error.message;
		}
	}
	refresh();
	const now = query;
	let n = 0;
	if (!query)
		return 0;
	await each(0, log.span, 0, (g, i) => {
		n += query === now && matches(g)[i];
	});
	if (query === now)
		$("hits").textContent = `${grouped.format(n)} found${
			log.exact < log.events ? ` in ${grouped.format(log.exact)}` : ""}`;
	return n;
}

// Goes to the next or previous event that matches, or to any.
async function step(forward, test = query ? query.test : () => true) {
	const at = chosen ? chosen.time : forward ? view.from : view.to;
	let best = null;
	const blocks = forward ? blocksIn(at, log.span)
		: blocksIn(0, at).reverse();
	for (const block of blocks) {
		visit([{ groups: await load(block) }], (g, i) => {
			const d = (g.time[i] - at) * (forward ? 1 : -1);
			const e = new LogEvent(g, i);
			if (d > 0 && (!best || d < Math.abs(best.time - at)) &&
				test(e) === true)
				best = e;
		});
		if (best) {
			goTo(best);
			return;
		}
	}
	say("No further event found");
}

function goTo(event) {
	chooseEvent(event);
	if (event.time < view.from || event.time > view.to)
		centre(event.time);
	chooseTrack(event.track.id);
}

// A time, the name of a track, or of an event.
function goWhere(text) {
	const t = /^\s*([\d.]+)\s*(ns|us|µs|ms|s)?\s*$/.exec(text);
	const has = (s) => s.toLowerCase().includes(text.toLowerCase());
	const track = log.tracks.find((t) => has(t.name));
	if (t) {
		centre(Number(t[1]) * SCALE[(t[2] || "ns").replace("µ", "u")]);
	} else if (track) {
		for (let up = track.up; up; up = up.up)
			setFold(up, false);
		chooseTrack(track.id);
	} else {
		step(true, (e) => e.strings().some(has));
	}
}

// What is described: the selection, or else what is visible.
const region = () => selection || { from: view.from, to: view.to, track: 0 };
const regionName = () => selection ? "Selected" : "Visible";

// The events of a region, by time.
async function eventsOf({ from, to, track }, most = Infinity) {
	const list = [];
	await each(from, to, track, (g, i) =>
		list.length < most && list.push(new LogEvent(g, i)));
	return list.sort((a, b) => a.time - b.time);
}

// Counts of the sums, and all numbers of the events that are there.
async function statistics({ from, to, track }, what) {
	// a view of many blocks would decode them all for each move
	const deep = selection ||
		eventsIn(blocksIn(from, to), from, to) <= LIMIT;
	const exact = deep && isExact(from, to), types = new Map();
	const entry = (type) => {
		if (!types.has(type))
			types.set(type, { type, count: 0, sums: 0, values: [] });
		return types.get(type);
	};
	if (deep)
		await each(from, to, track, (g, i) => {
			const t = entry(g.type), e = new LogEvent(g, i);
			const v = what === "duration" ? e.duration : e.get(what, true);
			t.count++;
			if (v !== undefined && typeof v !== "string")
				t.values.push(Number(v));
		});
	if (!exact)
		for (const s of (track ? descend(log.track[track])
			: log.tracks.filter((t) => !t.copy)).flatMap((t) => countsOf(t)))
			if (s.kind)
				entry(s.kind).sums += total(s, "count", from, to);
	const seconds = (to - from) / 1e9;
	const list = [...types.values()].map(({ type, count, sums, values }) => {
		const v = Float64Array.from(values).sort(), n = v.length;
		const at = (q) => v[Math.min(Math.floor(q * n), n - 1)];
		count = exact ? count : Math.round(sums);
		return { type, count, values: v, rate: count / seconds,
			sum: n ? v.reduce((a, b) => a + b) : undefined,
			min: at(0), p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
	}).sort((a, b) => b.count - a.count);
	const count = list.reduce((n, t) => n + t.count, 0);
	return { from, to, track, exact, count, rate: count / seconds,
		types: list };
}

let measured = "";

// The numbers that events of the log have, and their units.
function measures() {
	const names = new Map();
	if (log.tracks.some((t) => t.use === "ranges"))
		names.set("duration", "ns");
	for (const f of log.types.flatMap((t) => t.fields))
		if (/^(u?int|double|time)$/.test(f.type) && !names.has(f.name))
			names.set(f.name, f.unit);
	if (!names.has(measured))
		measured = ["size", "duration", ...names.keys()].find((n) =>
			names.has(n)) || "";
	return names;
}

// Columns of a table: * for text, > for times.
const heads = (...names) => names.map((name) => ({
	name: name.replace(/^[*>]/, ""), text: name[0] === "*",
	unit: name[0] === ">" ? "ns" : "" }));

function histogram(values, unit) {
	const buckets = new Map();
	for (const v of values) {
		const b = v >= 1 ? Math.floor(Math.log2(v)) : v < 0 ? -2 : -1;
		buckets.set(b, (buckets.get(b) || 0) + 1);
	}
	const most = Math.max(...buckets.values());
	return table("Histogram", heads("*Value", "Count", "*Share"),
		[...buckets].sort((a, b) => a[0] - b[0]).map(([b, n]) => [
			b < -1 ? "below 0" : b < 0 ? "0" : `${show(2 ** b, unit)} and more`,
			n, el("meter", { value: n, max: most,
				"aria-label": `${(100 * n / most).toFixed(0)} %` })]));
}

function swatch(type) {
	const i = el("i", { class: "swatch" });
	i.style.background = log.css[shade(type.color, 1)];
	return el("span", {}, i, type.name);
}

async function statisticsTab() {
	const names = measures(), s = await statistics(region(), measured);
	const unit = names.get(measured), timed = clock === "ns";
	const pick = el("select", { id: "measure", change: () => {
		measured = pick.value;
		tab();
	} }, ...[...names.keys()].map((n) =>
		el("option", { selected: n === measured }, n)));
	const rates = (list, rate) => timed ? list.toSpliced(2, 0, rate) : list;
	const values = s.types.flatMap((t) => [...t.values]);
	if (!s.count)
		return el("p", {}, "No event starts in this part of the log.");
	return el("div", { class: "side" }, el("div", {},
		el("label", {}, "Numbers of ", pick),
		table(`${regionName()}: ${grouped.format(s.count)} events in ${
			time(s.to - s.from)}${timed ? `, ${
			grouped.format(Math.round(s.rate))} a second` : ""}${
			s.exact ? "" : "; counts are of the sums, the numbers of " +
			"those events that the page holds"}`,
		rates([...heads("*Type", "Count"), ...["Sum", "Min", "p50", "p90",
			"p99", "Max"].map((name) => ({ name, unit }))],
		{ name: "Per second" }),
		s.types.map((t) => rates([swatch(t.type), t.count, t.sum, t.min,
			t.p50, t.p90, t.p99, t.max], Math.round(t.rate))))),
	values.length ? histogram(values, unit) : "");
}

async function eventsTab() {
	const where = region(), most = 20000, list = await eventsOf(where, most);
	return table(`${regionName()}: ${list.length < most ? "" : "the first "}${
		grouped.format(list.length)} events${isExact(where.from, where.to)
		? "" : " of those that the page holds"}`,
	heads(">Time", ">Duration", "*Track", "*Event", "*Fields"),
	list.map((e) => Object.assign([time(e.time, 1), e.duration,
		e.track.name, e.name === e.type.name ? e.name
			: `${e.name}: ${e.type.name}`, e.texts().map(([k, v]) =>
			`${k}=${v}`).join(" ")], { event: e })),
	(row) => goTo(row.event));
}

// Buttons for what an event was sent to, or received from.
const linksOf = (e) => log.lines.filter((l) =>
	[[l.from, l.source], [l.to, l.target]].some(([t, track]) =>
		t === e.time && track === e.track.id)).slice(0, 20).map((l) => {
	const sent = l.from === e.time;
	const [t, id] = sent ? [l.to, l.target] : [l.from, l.source];
	return [sent ? "Received" : "Sent", el("button", { click: () => {
		centre(t);
		chooseTrack(id);
	} }, `${time(t, 1)}: ${log.track[id].name}`)];
});

function eventTab() {
	if (!chosen)
		return el("p", {}, "Click an event, or press n for the next one.");
	return el("div", { class: "side" }, facts([["Event", chosen.name],
		["Type", chosen.type.name], ["Kind", chosen.type.kind],
		["Track", chosen.track.name], ["Time", time(chosen.time, 1)],
		["Duration", show(chosen.duration, "ns")], ...linksOf(chosen)]),
	facts(chosen.texts()));
}

const ups = (t) => t ? [...ups(t.up), t] : [];

function tracksTab() {
	const { from, to } = region();
	const sum = (t, column) => countsOf(t).reduce((n, s) =>
		n + total(s, column, from, to), 0);
	return table("Tracks in this part of the log", heads("*Track", "*Shows",
		"Events", ">Busy", "Smallest", "Largest", "Last"),
	log.tracks.map((t) => {
		const s = t.series.find((s) => s.last), values = [];
		if (s) {
			const cut = (list) => [...list.slice(
				lower(s.at, Math.floor(from / s.width)),
				lower(s.at, Math.floor(to / s.width) + 1)), valueAt(s, from)];
			values.push(cut(s.min).reduce((a, v) => Math.min(a, v)),
				cut(s.max).reduce((a, v) => Math.max(a, v)), valueAt(s, to));
		}
		return Object.assign([ups(t).map((u) => u.name).join(" / "), t.use,
			Math.round(sum(t, "count")), sum(t, "busy") || undefined,
			...values.map((v) => unitOf(t) ? show(v, unitOf(t)) : v)],
		{ id: t.id });
	}), (row) => chooseTrack(row.id));
}

function typesTab() {
	const counts = new Map();
	for (const t of log.tracks.filter((t) => !t.copy))
		for (const s of countsOf(t))
			counts.set(s.kind, (counts.get(s.kind) || 0) + s.count.at(-1));
	return table("Types of events; another colour highlights one",
		heads("*Colour", "*Type", "*Kind", "Events", "*Meaning"),
		log.types.filter((t) => counts.get(t)).map((t) => [
			el("input", { type: "color", "aria-label": `Colour of ${t.name}`,
				value: log.css[shade(t.color, 1)].replace(/\D*(\d+)\D*/g,
					(_, v) => Number(v).toString(16).padStart(2, "0"))
					.replace(/^/, "#"),
				input: (e) => {
					t.own = e.target.value;
					readColours();
					refresh();
				} }), t.name, t.kind, counts.get(t), t.description]));
}

function aboutTab() {
	return el("div", {}, el("p", {}, log.note || ""), table("Logs",
		heads("*Log", "*Format", "*Start", "Events", "Lost"),
		log.logs.map((l) => [l.name, l.format, l.start, l.events, l.lost])),
	el("p", {}, `${grouped.format(log.exact)} of ${grouped.format(log.events)
	} events are in this page, the others as sums. Made by ${log.generator}.`));
}
