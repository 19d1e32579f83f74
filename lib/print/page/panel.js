// SPDX-License-Identifier: BSD-2-Clause
// What lies below a timeline: statistics and tables; and the search.

let searching = null; // the search whose matches are being counted

function matches(g) {
	if (g.query !== query) {
		g.query = query;
		const all = query.verdicts.get(g.type);
		g.match = all === undefined && query.test.of?.(g) ||
			new Uint8Array(g.n).fill(all);
		if (all === undefined && !query.test.of)
			for (const e = new LogEvent(g, 0); e.i < g.n; e.i++)
				g.match[e.i] = query.test(e) === true;
	}
	return g.match;
}

const shown = (g, i) => !only || !query || matches(g)[i] > 0;

const unknown = () => { throw unknown; };

// What a search says of all events of a type, if that is the same.
function verdict(test, type) {
	const has = (name) => type.fields.some((f) => f.name === name);
	try {
		return test({ label: (name) => has(name) ? unknown() : undefined,
			labels: unknown, type,
			get: (name, isField) => isField || !PROPERTIES.has(name)
				? has(name) ? unknown() : undefined
				: type[name] ?? unknown() }) === true;
	} catch (error) {
		if (error !== unknown)
			throw error;
		return undefined;
	}
}

async function find(text) {
	text = text.trim();
	$("q").value = text;
	$("hits").className = $("hits").textContent = "";
	query = searching = null;
	only = false;
	flame.text = /[=<>~!&|()]/.test(text) ? "" : text;
	if (text) {
		try {
			const test = search(text, new Set(log.types.flatMap((t) =>
				t.fields.map((f) => f.name))));
			const verdicts = new Map(log.types.map((t) =>
				[t, verdict(test, t)]));
			query = { text, test, verdicts, types: new Set(
				log.types.filter((t) => verdicts.get(t))) };
		} catch (error) {
			$("hits").className = "error";
			$("hits").textContent = error.message;
		}
	}
	refresh();
	const now = searching = query, list = blocksIn(0, log.span);
	let n = 0, done = 0, told = performance.now();
	for (const block of now ? list : []) {
		const { groups } = await load(block);
		if (performance.now() - told > 200) {
			say(`Searching: ${show(done / list.length, "%")}; Escape stops`);
			await new Promise((next) => { setTimeout(next); });
			told = performance.now();
		}
		if (searching !== now)
			break;
		done++;
		for (const g of groups) {
			const k = sum(matches(g));
			n += k;
			if (k)
				now.types.add(g.type);
		}
	}
	refresh();
	if (now && query === now)
		$("hits").textContent = `${show(n)} found${
			searching !== now ? `, stopped at ${show(done / list.length, "%")}`
				: log.exact < log.events ? ` in ${show(log.exact)}`
					: ""}`;
	if (searching === now)
		searching = null;
	return n;
}

const onward = (t, forward) => forward ? blocksIn(t, log.span)
	: blocksIn(0, t).reverse();

// To an event that matches, or to any.
async function step(forward) {
	const start = chosen, way = forward ? 1 : -1;
	const at = start ? start.time : forward ? view.from : view.to;
	// those of one time are in the order of the page
	const away = (g, i, e) => way * (g.time[i] - e.time ||
		g.order - e.group.order || i - e.i);
	let best = null;
	for (const block of onward(at, forward)) {
		visit([await load(block)], (g, i) => {
			if ((start ? away(g, i, start) > 0
				: (g.time[i] - at) * way >= 0) &&
				(!best || away(g, i, best) < 0) && (!query || matches(g)[i]))
				best = new LogEvent(g, i);
		});
		if (best)
			return goTo(best);
	}
	return say("No further event found");
}

function goTo(event) {
	chooseEvent(event);
	if (event.time < view.from || event.time > view.to)
		centre(event.time);
	chooseTrack(event.track.id);
}

// The field with the address of the block that events of a type allocate, or
// free.
const blockField = ({ role, address, old }, allocates) => role === "realloc" &&
	!allocates ? old : (allocates ? /^(alloc|realloc|new)$/
		: /^(free|delete)/).test(role) && address;

const processOf = (e) => e.get(e.type.process, true) ?? 0;

// The event that frees the block of an allocation, or that allocated what is
// freed: the next one, or the one before, of the same address and process.
// None where events are left out, or times too coarse to tell the order.
async function otherEnd(e, allocates) {
	const { time } = e, value = e.get(blockField(e.type, allocates), true);
	const list = value ? onward(time, allocates) : [];
	let best = null, least = Infinity;
	for (const block of list) {
		const { groups } = await load(block);
		for (const g of groups)
			for (const other of [allocates, !allocates])
				look(g, other, g.fields.get(blockField(g.type, other)));
		if (least < Infinity || chosen !== e)
			break;
	}
	function look(g, other, field) {
		for (let i = 0; field && i < g.n; i++) {
			const away = (g.time[i] - time) * (allocates ? 1 : -1);
			if (field.values[i] != value || away < 0 || away > least ||
				g === e.group && i === e.i)
				continue;
			const there = new LogEvent(g, i);
			if (processOf(there) == processOf(e)) {
				best = other === allocates ? best : there;
				least = away;
			}
		}
	}
	const ends = [time, best?.time ?? 0];
	return least > 0 && best && Math.abs(ends[0] - ends[1]) === least &&
		isExact(Math.min(...ends), Math.max(...ends)) ? best : null;
}

// The frames of an event's stack, innermost first, if the page has all.
async function stackOf(e) {
	const frames = new Map(), list = [];
	let number = e.get(e.type.stack, true);
	for (const block of number ? blocksIn(0, e.time) : [])
		visit([await load(block)], (g, i) => {
			if (g.type.role !== "frame")
				return;
			const f = new LogEvent(g, i), { number, ip } = g.type;
			if (processOf(f) == processOf(e))
				frames.set(f.get(number, true), [f.label(ip) ??
					`0x${f.get(ip, true).toString(16)}`,
				f.get(g.type.parent, true)]);
		});
	for (let left = frames.size; frames.has(number) && left-- > 0;) {
		const [name, parent] = frames.get(number);
		list.push(name);
		number = parent;
	}
	return number ? [] : list;
}

// Goes to a time, or to a track of that name: "thread 57" is no part of
// "thread 571".
function goWhere(text) {
	const t = /^(\d*\.?\d+)\s*(ns|us|µs|ms|s)$/.exec(text);
	const quoted = text.replace(/[^\w\s]/g, "\\$&");
	const whole = new RegExp(`(^|\\W)${quoted}(\\W|$)`, "i");
	const track = text && log.tracks.find((t) => whole.test(t.name));
	if (t) {
		$("hits").textContent = "";
		centre(Number(t[1]) * SCALE[t[2].replace("µ", "u")]);
	}
	for (let up = track?.up; up; up = up.up)
		setFold(up, false);
	if (track)
		chooseTrack(track.id);
	return t;
}

const region = () => selection ?? view;
const regionName = () => selection ? "Selected" : "Visible";

async function eventsOf(where, most = Infinity) {
	let list = [];
	const first = () => list.sort((a, b) => a.time - b.time).slice(0, most);
	await each(where, (g, i) => list.push(new LogEvent(g, i)), (block) =>
		list.length < most || block.start <= (list = first()).at(-1).time);
	return first();
}

// Counts of a part of a bucket are not known: all of the buckets that a part
// of the log touches.
function whole({ from, to }) {
	const width = log.series[0]?.width ?? 1;
	return isExact(from, to) ? { from, to }
		: { from: Math.max(Math.floor(from / width), 0) * width,
			to: Math.min(Math.floor(to / width + 1) * width - 1, log.span) };
}

// What is measured of a type: sizes, how long its ranges are, or what has a
// unit.
function measureOf(type, isRange) {
	const numbers = type.fields.filter((f) =>
		/^(u?int|double|time)$/.test(f.type));
	return numbers.find((f) => f.name === "size") ?? (isRange
		? { name: "duration", unit: "ns" }
		: numbers.find((f) => f.unit && f.unit !== "id"));
}

// Counts of the sums, and all numbers of the events that are there.
async function statistics(where) {
	const { from, to } = whole(where);
	const exact = isExact(from, to), types = new Map(), now = view;
	const entry = (type, isRange) => types.get(type) ?? types.set(type, { type,
		of: measureOf(type, isRange), count: 0, values: [] }).get(type);
	// the view may have moved on, while blocks are decoded
	await each({ from, to }, (g, i) => {
		const length = g.length[i], t = entry(g.type, length);
		const f = g.fields.get(t.of?.name);
		const v = f ? f.values[i] : t.of && length ? length - 1 : undefined;
		t.count += exact;
		if (v !== undefined)
			t.values.push(Number(v));
	}, () => selection || view === now);
	for (const s of exact ? [] : log.own.flatMap((t) => countsOf(t)))
		if (s.type)
			entry(s.type).count += total(s, "count", from, to + 1);
	const rate = (count) => count / (to - from || 1) * 1e9;
	const list = [...types.values()].map(({ type, of, count, values }) => {
		const v = Float64Array.from(values).sort(), n = v.length;
		const at = (q) => v[Math.min(Math.floor(q * n), n - 1)];
		return { type, of, count: Math.round(count), rate: rate(count),
			// that of some is none
			sum: n && exact ? sum(v) : undefined,
			min: at(0), p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
	}).sort(byMost((t) => t.count));
	const count = sum(list, (t) => t.count);
	return { from, to, exact, count, rate: rate(count), types: list };
}

const typeCell = ({ name, hue }) => hueCell(name, `t${hue}`);

async function statisticsTab() {
	const s = await statistics(region()), timed = clock === "ns";
	if (!s.count)
		return el("p", "No event starts in this part of the log.");
	return table(`${regionName()}: ${count(s.count, "event")} in ${
		time(s.to - s.from)}${timed ? `, ${
		show(Math.round(s.rate))} a second` : ""}${
		s.exact ? "" : `; all from ${time(s.from, 1)} to ${time(s.to, 1)
		}; Min to Max are of those events that the page holds`}`,
	heads("*Type", "Count", ...timed ? ["Per second"] : [], "*Of", "Sum", "Min",
		"p50", "p90", "p99", "Max"),
	s.types.map(({ type, of, ...t }) => [typeCell(type), t.count,
		...timed ? [Math.round(t.rate)] : [], of?.name,
		...[t.sum, t.min, t.p50, t.p90, t.p99, t.max].map((v) =>
			of?.unit ? cell(v, null, of.unit) : v)]));
}

async function eventsTab() {
	const where = region(), most = 20000, list = await eventsOf(where, most);
	return el("div.columns", table(`${regionName()}: ${
		list.length < most ? "" : "the first "}${
		count(list.length, "event")}${isExact(where.from, where.to)
		? "" : " of those that the page holds"}`,
	heads("@Time", ">Duration", "*Track", "*Event", "*Fields"),
	list.map((e) => Object.assign([e.time, e.duration,
		e.track.name, e.name === e.type.name ? e.name
			: `${e.name}: ${e.type.name}`, e.texts().map(([k, v]) =>
			`${k}=${v}`).join(" ")], { event: e })),
	(row) => goTo(row.event)), el("div", { id: "event" }, eventOf()));
}

const linksOf = (e) => log.lines.flatMap((l) => [
	["Received", l.from, l.source, l.to, l.target],
	["Sent", l.to, l.target, l.from, l.source],
]).filter(([, t, track]) => t === e.time && track === e.track.id).slice(0, 20)
	.map(([what, , , t, id]) => [what, el("button", { click: () => {
		centre(t);
		chooseTrack(id);
	} }, `${time(t, 1)}: ${log.track[id].name}`)]);

function eventOf() {
	if (!chosen)
		return el("p", "Click an event, or press n for the next.");
	return el("div", facts([["Event", chosen.name],
		["Type", chosen.type.name], ["Kind", chosen.type.kind],
		["Track", chosen.track.name], ["Time", time(chosen.time, 1)],
		["Duration", show(chosen.duration, "ns")], ...linksOf(chosen),
		...(chosen.ends ?? []).map(([what, e]) => [what, el("button",
			{ click: () => goTo(e) }, `${time(e.time, 1)}: ${e.name}`)]),
		...(chosen.stack ?? []).map((name, i) => [i ? "" : "Stack", name])]),
	facts(chosen.texts()));
}

function about() {
	return el("div", el("p", log.note), table("",
		heads("*Log", "*Format", "*Start", "Events", "Lost"),
		log.logs.map((l) => [l.name, l.format, l.start, l.events, l.lost])),
	el("p", `Made by ${log.generator}.`));
}
