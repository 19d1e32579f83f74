// SPDX-License-Identifier: BSD-2-Clause
// The first screen of a log that is neither of memory nor of a collector:
// facts, curves, ranges, and a row for each frequent type.

const CURVES = 5, COUNTERS = 8, RANGES = 6, TYPES = 8; // rows, at most

// Series of counts as one, which is as fast to draw as each.
function joined(list) {
	const counts = new Float64Array(Math.max(0, ...list.map((s) => s.n)));
	for (const { at, count } of list)
		at.forEach((i, j) => { counts[i] += count[j + 1] - count[j]; });
	const at = [], count = [0];
	let all = 0;
	counts.forEach((n, i) => {
		if (n > 0) {
			at.push(i);
			count.push(all += n);
		}
	});
	return { at, count, width: list[0]?.width ?? 1 };
}

// Types, all or some, with their counts, the most frequent first.
function countedTypes(is = () => true) {
	const of = new Map(log.types.filter((t) => t.n && is(t))
		.sort(byMost((t) => t.n)).map((t) => [t, []]));
	for (const s of log.own.flatMap((t) => countsOf(t)))
		of.get(s.type)?.push(s);
	return [...of].map(([type, list]) => ({ type, s: joined(list) }));
}

function loadOverview({ span, longest, silence }) {
	document.body.classList.add("events");
	const types = countedTypes();
	const fact = ([from, n], text) => [brief3(n, "ns"), text, from, from + n];
	showFacts([[brief3(span, "ns"), "from the first to the last event"],
		[count(log.events, "event").split(" "), "in the log"],
		types.length > 0 && [[Math.round(1000 * types[0].type.n /
			log.events) / 10, "%"], `of them are ${types[0].type.name}`],
		longest && fact(longest, `the longest range, ${
			log.types[longest[2]].name}`),
		silence && fact(silence, `the longest silence, at ${
			when(silence[0])}`)]);
	if (!addCurves())
		addRow({ name: "Rate", below: "by type, log height", height: 160,
			types, paint: paintTypes,
			sentence: `Rate of ${count(log.events, "event")}`,
			beside: () => el("ul", types.slice(0, OTHERS).map(
				({ type, s }) => item(typeCell(type).node, countIn([s])))) });
	for (const t of lanesOf(log.own).slice(0, RANGES))
		addRow({}, t);
	for (const t of types.slice(0, TYPES))
		addType(t.type.name, [t], t);
	const rest = types.slice(TYPES);
	if (rest.length)
		addType(count(rest.length, "more type"), rest);
	for (const t of log.tracks.filter((t) => t.use === "heat").slice(0, 4))
		addStrip(t, t.name, undefined,
			Math.min(82, 22 + 10 * t.series.length));
	addProcesses();
	for (const t of log.tracks)
		if (/^(thread|cpu|kind)$/.test(t.use))
			t.height = 19;
	orderTracks();
}

// The busiest of many processes, or else threads: a line of cells each.
function addProcesses() {
	const threads = log.own.filter((t) => t.use === "thread");
	const processes = [...new Set(threads.map((t) => t.up))]
		.filter((t) => t?.up);
	const many = processes.length > TYPES, list = many ? processes : threads;
	const series = list.map((t) =>
		({ ...joined(countsOf(t, descend(t))), name: t.name }))
		.sort(byMost((s) => s.count.at(-1))).slice(0, LINES)
		.map((s, i) => ({ ...s, row: -i }));
	if (list.length > TYPES)
		addRow({ name: many ? "Processes" : "Threads",
			below: list.length > LINES ? `busiest ${LINES} of ${list.length}`
				: "", height: 12 * series.length, series, paint: paintHeat,
			beside: besideStrip });
}

const busy = (t) => sum(t.lanes, (l) =>
	sum(l.series, (s) => s.busy?.at(-1) ?? 0));
const lanesOf = (list) => list.filter((t) => t.use === "ranges" && !t.first &&
	(!t.up || t.up.children.includes(t)))
	.sort(byMost(busy));

// The curves that change most; those of a kind have one scale.  What counts
// with cycles is shown for each of them, below what ran.
function addCurves() {
	const list = log.own.filter((t) => t.curve).map((t) => ({ t, s: t.curve,
		cycles: t.up?.children.find((c) => c.cycles)?.series[0] }));
	const kindOf = (t) => t.use === "bytes" || t.name.split(" ")[0];
	const most = (t) => Math.max(...list.filter((c) => kindOf(c.t) ===
		kindOf(t)).map(({ s }) => s.high), 1);
	const shown = list.filter((c) => c.s !== c.cycles)
		.sort(byMost((c) => c.s.at.length))
		.slice(0, list[0]?.cycles ? COUNTERS : CURVES);
	const above = new Set();
	for (const { t, s, cycles } of shown) {
		const [lane] = cycles && !above.has(t.up) ? lanesOf(t.up.children) : [];
		above.add(t.up);
		if (lane)
			addRow({}, lane);
		const text = (v) => cycles ? show(v) : mark(v, t.unit);
		const top = cycles ? Math.max(...s.at.map((i) => perCycle(s, cycles,
			i * s.width, (i + 1) * s.width))) || 1 : most(t);
		addRow({ name: t.name, below: cycles && "per cycle",
			height: cycles ? 40 : 64,
		sentence: `${t.name}: at most ${text(cycles ? top : s.high)}`,
		beside: cycles && ((at) => el("ul", at === undefined
			? item("at most", text(top)) : item(`at ${time(at)}`,
				text(perCycle(s, cycles, at, at + 1))))),
		paint(p, t, y, h) {
			const scale = (h - 14 * p.dpr) / top;
			if (cycles) {
				const { from, step, width } = p, v = Float64Array.from(
					{ length: width }, (_, x) => perCycle(s, cycles,
						from + x * step, from + (x + 1) * step) || NaN);
				paintCounter(p, { low: 0 }, y, h, scale,
					{ low: v, high: v.slice() });
			} else {
				paintCounter(p, s, y, h, scale);
			}
			paintAxis(p, [[top, text(top)]], (v) => y + h - v * scale);
		} }, t);
	}
	return shown.length;
}

// How much a counter grew from one time to another, for each cycle: a counter
// grows with its next event.
function perCycle(s, cycles, from, to) {
	const grown = ({ last, at, width }) => {
		const i = lower(at, Math.floor(from / width)), end = Math.max(lower(at,
			Math.floor((to - 1) / width) + 1), i + 1);
		return (last[end - 1] ?? last.at(-1)) - (last[i - 1] ?? last[0]);
	};
	return grown(s) / grown(cycles) || 0;
}

function addType(name, types) {
	addRow({ name, height: 24,
		sentence: `${name}: ${
			count(sum(types, ({ type }) => type.n), "event")}`,
		types, paint: paintTypes,
		beside: () => el("ul",
			item("", countIn(types.map(({ s }) => s)))) });
}
