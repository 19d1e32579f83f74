// SPDX-License-Identifier: BSD-2-Clause
// What lies below a timeline: statistics and tables; and the search.
"use strict";

const fields = () => new Set(log.types.flatMap((t) =>
	t.fields.map((f) => f.name)));

// Which events of a group match; null when nothing is searched.
function matches(g) {
	if (!query)
		return null;
	if (g.version !== query.version) {
		g.version = query.version;
		g.match = new Uint8Array(g.n);
		for (let i = 0; i < g.n; i++)
			g.match[i] = query.test(new LogEvent(g, i)) === true;
	}
	return g.match;
}

const shown = (g, i) => !$("only").checked || !query || matches(g)[i];

// What a search says of all events of a type: undefined if it depends on them.
function ofType(test, type) {
	let unsure = false;
	const missing = () => { unsure = true; };
	const result = test({
		get: (name, field) => !field && /^(kind|name|code)$/.test(name)
			? type[name] : missing(),
		labels: () => (missing(), []),
		strings: () => (missing(), [type.name]),
	});
	return unsure && result !== true ? undefined : result === true;
}

async function find(text) {
	text = text.trim();
	$("q").value = text;
	$("hits").className = "";
	$("hits").textContent = "";
	query = null;
	if (text) {
		try {
			const test = search(text, fields()), version = ++log.age;
			query = { text, version, test, types: new Map(
				log.types.map((t) => [t, ofType(test, t)])) };
		} catch (error) {
			$("hits").className = "error";
			$("hits").textContent = error.message;
		}
	}
	refresh();
	if (!query)
		return 0;
	let n = 0;
	const now = query;
	await each(0, log.span, 0, (g, i) => {
		if (query === now)
			n += matches(g)[i];
	});
	if (query === now)
		$("hits").textContent = `${grouped.format(n)} found${
			log.exact < log.events ? ` in ${grouped.format(log.exact)}` : ""}`;
	return n;
}

// Goes to the next or previous event that matches.
async function step(forward, test) {
	const at = chosen ? chosen.time : forward ? view.from : view.to;
	let best = null;
	const blocks = forward ? blocksIn(at, log.span)
		: blocksIn(0, at).reverse();
	for (const block of blocks) {
		for (const g of await load(block)) {
			for (let i = 0; i < g.n; i++) {
				const d = (g.time[i] - at) * (forward ? 1 : -1);
				if (d > 0 && (!best || d < Math.abs(best.time - at))) {
					const e = new LogEvent(g, i);
					if (test(e) === true)
						best = e;
				}
			}
		}
		if (best)
			break;
	}
	if (best)
		goTo(best);
	else
		say("No further event found");
}

function goTo(event) {
	choseEvent(event);
	const size = view.to - view.from, t = event.time;
	if (t < view.from || t > view.to)
		setView(t - size / 2, t + size / 2);
	chooseTrack(event.track.lanes.length ? event.track.id : 0);
}

// A time, the name of a track, or of an event.
function goWhere(text) {
	const t = /^\s*([\d.]+)\s*(ns|us|µs|ms|s)?\s*$/.exec(text);
	const part = text.toLowerCase();
	const size = view.to - view.from;
	if (t) {
		const at = Number(t[1]) * SCALE[(t[2] || "ns").replace("µ", "u")];
		setView(at - size / 2, at + size / 2);
		return;
	}
	const track = log.tracks.find((t) => t.name.toLowerCase().includes(part));
	if (!track) {
		step(true, (e) => e.strings().some((s) =>
			s.toLowerCase().includes(part)));
		return;
	}
	for (let up = track.up; up; up = up.up)
		up.folded = false;
	arrange();
	chooseTrack(track.id);
}

// What is described: the selection, or else what is visible.
const region = () => selection || { from: view.from, to: view.to, track: 0 };

// Counts of the sums, and all numbers of the events that are there.
async function statistics({ from, to, track }, what) {
	const deep = selection ||
		eventsIn(blocksIn(from, to), from, to) <= LIMIT;
	const exact = deep && isExact(from, to), types = new Map();
	const entry = (t) => {
		if (!types.has(t))
			types.set(t, { type: t, count: 0, sums: 0, values: [] });
		return types.get(t);
	};
	// a view of many blocks would decode them all for each move
	if (deep)
		await each(from, to, track, (g, i) => {
			const t = entry(g.type), v = what === "duration"
				? (g.length[i] ? g.length[i] - 1 : undefined)
				: new LogEvent(g, i).get(what, true);
			t.count++;
			if (v !== undefined && typeof v !== "string")
				t.values.push(Number(v));
		});
	if (!exact) {
		const list = track ? descend(log.track[track])
			: log.tracks.filter((t) => !t.copy);
		for (const s of list.flatMap((t) => t.series))
			if (s.kind && s.count && !s.counter)
				entry(s.kind).sums += total(s, "count", from, to);
	}
	const list = [...types.values()], seconds = (to - from) / 1e9;
	for (const t of list) {
		const v = Float64Array.from(t.values).sort();
		const at = (q) => v.length
			? v[Math.min(Math.floor(q * v.length), v.length - 1)] : undefined;
		t.seen = t.count;
		t.count = exact ? t.count : Math.round(t.sums);
		Object.assign(t, { values: v, rate: t.count / seconds,
			sum: v.length ? v.reduce((a, b) => a + b, 0) : undefined,
			min: at(0), p50: at(0.5), p90: at(0.9), p99: at(0.99),
			max: v[v.length - 1] });
	}
	list.sort((a, b) => b.count - a.count);
	const count = list.reduce((n, t) => n + t.count, 0);
	return { from, to, track, exact, count, rate: count / seconds,
		types: list };
}

let measured = "";

// The numbers that events of the log have.
function measures() {
	const names = new Map();
	if (log.tracks.some((t) => t.use === "ranges"))
		names.set("duration", "ns");
	for (const t of log.types)
		for (const f of t.fields)
			if (/^(u?int|double|time)$/.test(f.type) && !names.has(f.name))
				names.set(f.name, f.unit);
	return names;
}

function histogram(list, unit) {
	const buckets = new Map();
	for (const t of list)
		for (const v of t.values) {
			const b = v >= 1 ? Math.floor(Math.log2(v)) : v < 0 ? -2 : -1;
			buckets.set(b, (buckets.get(b) || 0) + 1);
		}
	const most = Math.max(...buckets.values());
	const low = (b) => b < -1 ? "below 0" : b < 0 ? "0"
		: `${show(2 ** b, unit)} and more`;
	return table("Histogram", [{ name: "Value", text: true },
		{ name: "Count" }, { name: "Share", text: true }],
	[...buckets].sort((a, b) => a[0] - b[0]).map(([b, n]) => {
		const bar = el("i", { class: "bar", role: "img",
			"aria-label": `${(100 * n / most).toFixed(0)} %` });
		bar.style.width = `${120 * n / most}px`;
		return [low(b), n, bar];
	}));
}

function swatch(type) {
	const i = el("i", { class: "swatch" });
	i.style.background = log.css[shade(type.color, 1)];
	return el("span", {}, i, type.name);
}

async function statisticsTab() {
	const names = measures();
	if (!names.has(measured))
		measured = ["size", "duration"].find((n) => names.has(n)) ||
			[...names.keys()][0] || "";
	const where = region(), s = await statistics(where, measured);
	const unit = names.get(measured);
	const pick = el("select", { id: "measure", change: () => {
		measured = pick.value;
		tab();
	} }, ...[...names.keys()].map((n) =>
		el("option", { selected: n === measured }, n)));
	const number = (name) => ({ name, unit });
	const note = s.exact ? "" : "; counts are of the sums, the numbers of " +
		"those events that the page holds";
	const main = table(`${selection ? "Selected" : "Visible"}: ${
		grouped.format(s.count)} events in ${time(s.to - s.from)}${
		clock === "ns" ? `, ${grouped.format(Math.round(s.rate))} a second`
			: ""}${note}`,
	[{ name: "Type", text: true }, { name: "Count" },
		{ name: clock === "ns" ? "Per second" : "" },
		...["Sum", "Min", "p50", "p90", "p99", "Max"].map(number)],
	s.types.map((t) => [swatch(t.type), t.count,
		clock === "ns" ? Math.round(t.rate) : "",
		t.sum, t.min, t.p50, t.p90, t.p99, t.max]));
	const some = s.types.some((t) => t.values.length);
	if (!s.count)
		return el("p", {}, "No event starts in this part of the log.");
	return el("div", { class: "side" },
		el("div", {}, el("label", {}, "Numbers of ", pick), main),
		some ? histogram(s.types, unit) : "");
}

async function eventsTab() {
	const list = [], { from, to, track } = region(), most = 20000;
	await each(from, to, track, (g, i) =>
		list.length < most && list.push(new LogEvent(g, i)));
	list.sort((a, b) => a.time - b.time);
	return table(`${selection ? "Selected" : "Visible"}: ${
		list.length < most ? "" : "the first "}${grouped.format(list.length)
	} events${isExact(from, to) ? "" : " of those that the page holds"}`,
	[{ name: "Time", unit: "ns" }, { name: "Duration", unit: "ns" },
		{ name: "Track", text: true }, { name: "Event", text: true },
		{ name: "Fields", text: true }],
	list.map((e) => Object.assign([time(e.time, 1), e.get("duration"),
		e.track.name, e.name === e.group.type.name ? e.name
			: `${e.name}: ${e.group.type.name}`, e.texts().map(([k, v]) =>
			`${k}=${v}`).join(" ")], { event: e })),
	(row) => goTo(row.event));
}

function eventTab() {
	if (!chosen)
		return el("p", {}, "Click an event, or press n for the next one.");
	const e = chosen;
	return el("div", { class: "side" }, facts([["Event", e.name],
		["Type", e.group.type.name], ["Kind", e.group.type.kind],
		["Track", e.track.name], ["Time", time(e.time, 1)],
		["Duration", show(e.get("duration"), "ns")]]), facts(e.texts()));
}

function tracksTab() {
	const { from, to } = region();
	const sum = (t, column) => t.series.filter((s) => !s.counter)
		.reduce((n, s) => n + total(s, column, from, to), 0);
	return table("Tracks in this part of the log", [
		{ name: "Track", text: true }, { name: "Shows", text: true },
		{ name: "Events" }, { name: "Busy", unit: "ns" },
		{ name: "Smallest" }, { name: "Largest" }, { name: "Last" }],
	log.tracks.map((t) => {
		const s = t.series.find((s) => s.counter), row = [
			[...ups(t)].map((u) => u.name).join(" / "), t.use,
			Math.round(sum(t, "count")), sum(t, "busy") || undefined];
		if (s) {
			const first = valueAt(s, from), cut = (list) => list.slice(
				lower(s.at, Math.floor(from / s.width)),
				lower(s.at, Math.floor(to / s.width) + 1));
			row.push(...[cut(s.min).reduce((a, v) => Math.min(a, v), first),
				cut(s.max).reduce((a, v) => Math.max(a, v), first),
				valueAt(s, to)].map((v) => t.use === "bytes" ? bytes(v) : v));
		}
		return Object.assign(row, { id: t.id });
	}), (row) => chooseTrack(row.id));
}

const ups = (t) => t ? [...ups(t.up), t] : [];

function typesTab() {
	const counts = new Map();
	for (const s of log.series)
		if (s.kind && s.count && !s.counter && !log.track[s.track].copy)
			counts.set(s.kind, (counts.get(s.kind) || 0) +
				s.count[s.at.length]);
	return table("Types of events; another colour highlights one",
		[{ name: "Colour", text: true }, { name: "Type", text: true },
			{ name: "Kind", text: true }, { name: "Events" },
			{ name: "Meaning", text: true }],
		log.types.filter((t) => counts.get(t)).map((t) => {
			const hex = log.css[shade(t.color, 1)].match(/\d+/g).map((v) =>
				Number(v).toString(16).padStart(2, "0")).join("");
			return [el("input", { type: "color", value: `#${hex}`,
				"aria-label": `Colour of ${t.name}`, input: (e) => {
					t.own = e.target.value;
					readColours();
					refresh();
				} }), t.name, t.kind, counts.get(t), t.description];
		}));
}

function aboutTab() {
	return el("div", {}, el("p", {}, log.note || ""), table("Logs", [
		{ name: "Log", text: true }, { name: "Format", text: true },
		{ name: "Start", text: true }, { name: "Events" }, { name: "Lost" }],
	log.logs.map((l) => [l.name, l.format, l.start || "", l.events, l.lost])),
	el("p", {}, `${grouped.format(log.exact)} of ${grouped.format(log.events)
	} events are in this page, the others as sums. Made by ${log.generator}.`));
}
