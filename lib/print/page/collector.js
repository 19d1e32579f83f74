// SPDX-License-Identifier: BSD-2-Clause
// Logs of garbage collectors: facts, memory by pool, pauses by length, and
// what events say of each collection.

let collector = null;
let pools = []; // {name, s: its series, layer}, by bytes at the peak

function loadCollector(head) {
	collector = head;
	collector.begun = [...head.collections.list, ...head.open];
	const tracks = (memory) => log.tracks.filter((t) => t.memory === memory &&
		t.curve?.high > 0).sort(byMost((t) => t.curve.high));
	const held = tracks("held"), live = tracks("live");
	const [mapped] = tracks("mapped");
	// what pools hold of the arena, or else what lives, or is mapped
	const list = held.length ? held : live.length || !mapped ? live
		: [mapped, { ...mapped, owner: "mapped" }];
	const bare = (t) => t.owner.replace(/(?<!^pool) 0x\w+$/, "");
	const idOf = (t) => t.owner?.split(" ").at(-1);
	collector.all = list.find((t) => !t.owner)?.curve;
	collector.peak = collector.all && peakIn({ from: 0, to: log.span });
	collector.mapped = held.length ? mapped?.curve : undefined;
	pools = list.filter((t) => t.owner)
		.sort(byMost((t) => atPeak(t.curve)))
		.map((t, i, all) => ({ s: t.curve, layer: i < OTHERS &&
			t.curve.high >= 0.01 * (collector.all?.high ?? 0) ? i : OTHERS,
		live: live.find((l) => idOf(l) === idOf(t))?.curve,
		// addresses tell pools of one name apart
		name: all.filter((q) => bare(q) === bare(t)).length > 1
			? t.owner : bare(t) }));
	const longest = ({ list: [r] }) => brief3(r?.[1] ?? 0, "ns");
	const fact = (of, value, text) => of.count > 0 && [value, text,
		...of.list[0] ? [of.list[0][0], endOf(of.list[0])] : []];
	const { pauses, collections, polls } = head, all = head.span || 1;
	showFacts([collector.all && [brief3(collector.all.high, "bytes"), `${
		list === live ? "live" : "held"} at the peak${collector.mapped
		? `; ${short(collector.mapped.high, "bytes")} mapped` : ""}`,
		...climb(collector.all)],
		fact(pauses, longest(pauses), `longest of ${
			count(pauses.count, "pause")}`),
		// rounded down: 100 is no pause at all
		[[Math.floor(1e3 * (1 - pauses.total / all)) / 10, "%"],
			"of the time without a pause"],
		fact(collections, count(collections.count, "collection").split(" "),
			`in ${show(collections.total / all, "%")} of the time; longest ${
				longest(collections).join(" ")}`),
		fact(polls, count(polls.count, "poll").split(" "), `${
			polls.worked ? show(polls.worked) : "none"
		} did work; longest ${longest(polls).join(" ")}`)]);
	addCollector();
}

const largePools = () => pools.filter((p) => p.layer < OTHERS);
const smallPools = () => pools.filter((p) => p.layer === OTHERS);
const smallName = () => count(smallPools().length, "small pool");

function poolLayers(frame) {
	const list = largePools().map((p) =>
		({ ...p, values: curveOf(p.s, frame).last }));
	const rest = curveOf(collector.all, frame).last;
	for (const { values } of list)
		values.forEach((v, x) => { rest[x] = Math.max(rest[x] - v, 0); });
	return [{ layer: OTHERS, name: smallName(), values: rest },
		...list.reverse()];
}

// The bucket of the peak of all in a part of the log, as a frame of one column.
function peakIn({ from, to }) {
	const step = collector.all.width, first = Math.floor(from / step);
	const { high } = curveOf(collector.all, { from: first * step, step,
		width: Math.floor(to / step) - first + 1 });
	return { from: (first + high.indexOf(mostOf([high]))) * step, step,
		width: 1 };
}

const atPeak = (s) => curveOf(s, collector.peak).high[0];

function showPools(t) {
	const value = (s) => t === undefined ? atPeak(s) : valueAt(s, t) || 0;
	const small = smallPools();
	return legend(`Held at ${t === undefined ? "the peak" : time(t)}`,
		[...largePools().map(({ name, s, layer }) => [layer, name, value(s)]),
			...small.length ? [[OTHERS, smallName(),
				sum(small, (p) => value(p.s))]] : []],
		collector.mapped && item("— mapped",
			short(value(collector.mapped), "bytes")));
}

// As high as the decades of their length, from 100 ns: collections, the pauses
// in them, and polls.
function riseOf(h) {
	const most = Math.max(1e4, ...[collector.pauses, collector.collections]
		.map(({ list }) => list[0]?.[1] ?? 0));
	const decades = Math.ceil(Math.log10(most)) - 2;
	return [(n) => Math.max(Math.log10(Math.max(n, 1)) - 2, 0.05) * h / decades,
		decades];
}

function paintPauses(p, t, y, h) {
	const { pauses, collections, polls } = collector, { dpr, xOf } = p;
	const [rise, decades] = riseOf(h - 14 * dpr);
	for (const [{ list }, colour, part] of [[collections, ink.h1, 0.35],
		[polls, ink.dim, 0.6], [pauses, ink.h1, 1]]) {
		const base = new Float64Array(p.width).fill(y + h), up = base.slice();
		for (const [t, n] of list) {
			const x = Math.max(Math.round(xOf(t)), 0);
			const end = Math.min(Math.round(xOf(t + n)), p.width);
			// the longest come first
			if (end >= x && x < p.width && (end > x + 1 || up[x] > base[x] - 1))
				for (let i = x; i < Math.max(end, x + 1); i++)
					up[i] = Math.min(up[i], y + h - Math.round(rise(n)));
		}
		paintArea(p, up, base, colour, part);
	}
	paintAxis(p, Array.from({ length: decades }, (_, d) =>
		[10 ** (3 + d), time(10 ** (3 + d))]), (n) => y + h - rise(n));
}

function paintCollections(p) {
	for (const [t, n] of collector?.begun ?? []) {
		const x = Math.round(p.xOf(t));
		p.rect(x, p.top, Math.max(Math.round(p.xOf(t + n)) - x, 1),
			p.pixels ? 1 : p.height - p.top, ink.h1, 0.1);
	}
}

function besidePauses(_, { name, height }) {
	const [rise] = riseOf(height - 15), bars = [];
	const items = ["collection", "pause", "poll"].map((noun) => {
		const colour = noun === "poll" ? "h6" : "h1";
		const { list, count: all, rows } = collector[`${noun}s`];
		const isPart = selection && list.length === all;
		const here = isPart ? [...Map.groupBy(list.filter(inside), ([, ns]) =>
			ns.toString(2).length)].map(([row, l]) => [row, l.length]) : rows;
		for (const [row, n] of here) {
			const y = height - rise(2 ** row);
			bars.push({ y, n, colour, title: `${noun}, ${rowName(row, "ns")}`,
				high: Math.max(height - rise(2 ** (row - 1)) - y, 3) });
		}
		return all > 0 && el("li", count(sum(here, ([, n]) => n),
			noun), selection && !isPart && " in all");
	});
	return [besideBars(height, name, bars), el("ul", items)];
}

function addCollector() {
	const { all, mapped, pauses, collections, polls } = collector;
	const [, to] = climb(all);
	if (all)
		addLayers({ name: "Memory", below: "by pool", s: all, line: mapped,
			beside: showPools, layersOf: poolLayers,
			peak: [to, `peak ${short(all.high, "bytes")} at ${
				time(to, all.width)}`],
			sentence: `Memory by pool, at most ${bytes(all.high)}` });
	if (pauses.count + collections.count + polls.count)
		addRow({ name: "Pauses", below: "by length", height: 104,
			paint: paintPauses, sentence: `${count(pauses.count, "pause")
			}, the longest ${time(pauses.list[0]?.[1] ?? 0)}`,
			beside: besidePauses });
	addBlocks();
	const kind = log.types[collector.begun[0]?.[2][0]?.[0]]?.kind;
	const types = countedTypes((t) => t.kind === kind);
	if (types.length)
		addType("Collecting", types);
}

function mutatorPlot() {
	const list = collector.mutator, w = 340, h = 120;
	const x = (i) => 40 + i * (w - 60) / Math.max(list.length - 1, 1);
	const y = (v) => h - 20 - v * (h - 30);
	return el("svg", { id: "mutator", width: w, height: h, role: "img",
		"aria-label": "The program's share" },
	[0, 0.5, 1].map((v) => [el("path", {
		class: "grid", d: `M40 ${y(v)}H${w}` }), el("text", { x: 2,
		y: y(v) + 4 }, `${100 * v}%`)]), list.map(([t], i) => i % 6 === 0 &&
		el("text.tick", { x: x(i), y: h - 4 }, time(t))),
	el("path.line", { d: `M${list.map(([, v], i) =>
		`${x(i)} ${y(v)}`).join("L")}` }));
}

const endOf = ([t, n]) => t + n;
const inside = (range) => !selection ||
	(range[0] <= selection.to && endOf(range) >= selection.from);

function phases([, length, , list]) {
	const w = 420, x = (n) => w * n / (length || 1);
	return list.length > 0 && el("svg", { id: "phases", width: w + 110,
		height: list.length * BAR, role: "img",
		"aria-label": "Phases of the collection" },
	list.map(([name, from, n], i) => n > 0 && [
		el("rect", { class: "h1", "fill-opacity": 0.4 + 0.2 * i,
			x: x(from), y: i * BAR, width: Math.max(x(n), 1),
			height: BAR - 2 }), el("text", { y: i * BAR + 13,
			class: i > 1 && x(n) > 150 && "on",
			x: x(from + (x(n) > 150 ? 0 : n)) + 4 },
		`${name} ${time(n)} ${show(n / length, "%")}`)]));
}

function collectorTab() {
	const { collections, open, begun, generations, mutator, columns } =
		collector;
	const list = begun.filter(inside), all = collections.count + open.length;
	const full = list.find((c) => c[0] === collector.chosen) ?? list[0];
	const describe = ([type, i], { name, fields } = log.types[type]) =>
		({ name: `${name} ${fields[i].name}`, unit: fields[i].unit });
	return el("div", all > 0 && table(`Collections${selection
		? ", selected" : ""}: ${list.length} of ${all}${
		begun.length < all ? ", longest" : ""}`,
	[...heads("@Start", ">Length"), ...columns.map((c) => describe(c))],
	list.toSorted((a, b) => a[0] - b[0]).map(([t, n, facts, , isOpen]) => [t,
		isOpen ? "not ended" : n,
		...columns.map(([type, field]) => facts.findLast((f) =>
			f[0] === type && f[1] === field)?.[2])]), ([t]) => {
		collector.chosen = t;
		tab();
	}), el("div.columns.three", full && el("div", el("p",
		el("b", "Collection"), ` ${time(full[0], 1)} to ${
			time(endOf(full), 1)}${full[4] ? ", not ended" : ""}`),
	phases(full),
	closed("All that its events say", () => facts(full[2].map((f) =>
		[describe(f).name, show(f[2], describe(f).unit)])),
	collector.chosen === full[0])),
	poolTable(),
	el("div", el("p", "The program's share of the worst window"),
		mutatorPlot(), closed("Numbers", () => table("",
			heads(">Window", "%Share"), mutator)))),
	generations && generationTable(generations));
}

function poolTable() {
	const { from, to } = selection ?? { from: 0, to: log.span };
	const peak = collector.peak && peakIn({ from, to });
	const part = { from, step: to - from + 1, width: 1 };
	return table(`Pools${selection ? ", selected" : ""}`, heads("*Pool",
		"#At the peak", "#At the end", "#Live at most"),
	pools.map(({ name, s, layer, live }) => [hueCell(name, `h${layer}`),
		curveOf(s, peak).high[0], curveOf(s, part).last[0],
		live && curveOf(live, part).high[0]]));
}

// In a selection, of what their events say: [time, predicted, collections,
// condemned, survived].
function generationTable({ list, count }) {
	const isPart = selection && list.every((g) => g.length > 7);
	const rows = isPart ? list.map(([name, , , , , , , ...events]) => {
		const here = events.filter(([t]) => inside([t, 0]));
		const [n, all, left] = [2, 3, 4].map((i) => sum(here, (e) => e[i]));
		const died = Math.max(all - left, 0);
		return [name, n, all, left, died, all ? died / all : "",
			here.at(-1)?.[1]];
	}).filter((g) => g[1]) : list;
	return table(`Generations${isPart ? ", selected" : ""}: ${rows.length
	} of ${count}`, heads("*Generation", "Collections", "#Condemned",
		"#Survived", "#Reclaimed", "%Died", "%Predicted"), rows);
}
