// SPDX-License-Identifier: BSD-2-Clause
// Logs of garbage collectors: facts, memory by pool, pauses by length, and
// what events say of each collection.  All but curves was counted in C.
"use strict";

const PAUSES = 104; // pixels of the pauses, below the curve
let collector = null;
let pools = []; // {name, s: its series, layer}, the largest first

function loadCollector(head) {
	collector = head;
	const bytesOn = log.tracks.filter((t) => t.use === "bytes")
		.map((t) => ({ name: t.name, s: t.series.find((s) => s.last) }))
		.filter(({ s }) => s?.high > 0);
	collector.all = bytesOn.find((p) => p.name === "live bytes")?.s;
	pools = bytesOn.filter((p) => p.name.startsWith("live bytes of "))
		.sort((a, b) => b.s.high - a.s.high).map((p, i) => ({ ...p,
			name: p.name.slice(14), layer: Math.min(i, OTHERS) }));
	document.body.classList.add("memory");
	$("memory").hidden = false;
	const share = (part) => `${(100 * part / (head.span || 1)).toFixed(1)}`;
	const longest = (list) => brief3(list[0]?.[1] ?? 0, "ns");
	const { pauses, collections } = head;
	$("facts").replaceChildren(
		fact(brief3(collector.all?.high ?? 0, "bytes"), "live at the peak"),
		fact(longest(pauses.list), `longest of ${
			count(pauses.count, "pause")}`),
		// rounded down: 100 is no pause at all
		fact([Math.floor(1e3 * (1 - pauses.total / (head.span || 1))) / 10,
			"%"],
			"of the time without a pause"),
		fact([grouped.format(collections.count), collections.count === 1
			? "collection" : "collections"], `in ${
			share(collections.total)}% of the time`),
		fact(longest(collections.list), "longest collection"));
	listenCurve(showPools);
}

function drawCollector() {
	const curve = curveOf(collector.all, 0), { width, top, px, y } = curve;
	const valueIn = (s, x) => valueAt(s, view.from + (x + 1) * sizeOf() /
		width) || 0;
	const totals = curve.highest.map((_, x) => pools.reduce((n, { s }) =>
		n + valueIn(s, x), 0));
	const shapes = layersOf([...pools].reverse().map(({ s, layer, name }) =>
		({ layer, name, share: (x) => valueIn(s, x) / totals[x] })), curve);
	shapes.push(...rules(top, y, width));
	// pauses: as high as the decades of their length
	const { pauses, collections } = collector, bottom = HIGHT + PAUSES;
	const decades = Math.max(Math.ceil(Math.log10(Math.max(...pauses.list
		.slice(0, 1).map(([, n]) => n), 1e4))) - 3, 1);
	const rise = (n) => Math.max(Math.log10(Math.max(n, 1)) - 3, 0.05) *
		(PAUSES - 20) / decades;
	for (let d = 0; d <= decades; d++)
		shapes.push(el("path", { class: "grid",
			d: `M0 ${bottom - rise(10 ** (3 + d))}H${width}` }),
		el("text", { x: 4, y: bottom - rise(10 ** (3 + d)) - 3 },
			time(10 ** (3 + d))));
	for (const [t, n] of collections.list)
		shapes.push(el("rect", { class: "collection", x: px(t), y: 0,
			width: Math.max(px(t + n) - px(t), 1), height: bottom },
		el("title", {}, `collection: ${time(n)}`)));
	for (const [t, n] of pauses.list)
		shapes.push(el("rect", { class: "h1", x: px(t), y: bottom - rise(n),
			width: Math.max(px(t + n) - px(t), 1), height: rise(n) },
		el("title", {}, `pause: ${time(n)}`)));
	shapes.push(...outside(px, width, bottom));
	$("curve").replaceChildren(el("svg", { width, height: bottom, role: "img",
		"aria-label": `Live bytes by pool, at most ${bytes(top)}; ${
			count(pauses.count, "pause")}, the longest ${time(
			pauses.list[0]?.[1] ?? 0)}` }, shapes));
	showPools();
}

// What the pools hold under the pointer; otherwise the most of each.
function showPools(t) {
	const rows = pools.slice(0, 8).map(({ name, s, layer }) => [layer, name,
		t === undefined ? s.high : valueAt(s, t) || 0]);
	$("held").textContent = t === undefined ? "the most of each pool"
		: `at ${time(t)}`;
	$("legend").replaceChildren(...rows.map(legendRow));
}

// The share of the program in the worst window, by the length of the window.
function mutatorPlot() {
	const list = collector.mutator, w = 340, h = 120;
	const x = (i) => 40 + i * (w - 60) / Math.max(list.length - 1, 1);
	const y = (v) => h - 20 - v * (h - 30);
	return el("svg", { id: "mutator", width: w, height: h, role: "img",
		"aria-label": "The program's share of the worst window; the table " +
			"has the same" }, [0, 0.5, 1].map((v) => [el("path", {
		class: "grid", d: `M40 ${y(v)}H${w}` }), el("text", { x: 2,
		y: y(v) + 4 }, `${100 * v}%`)]), list.map(([t], i) => i % 6 === 0 &&
		el("text", { x: x(i) - 12, y: h - 4 }, time(t))),
	el("path", { class: "line", d: `M${list.map(([, v], i) =>
		`${x(i)} ${y(v)}`).join("L")}` }));
}

function collectorTab() {
	const { collections, mutator } = collector, names = new Map();
	const inside = ([t, n]) => !selection ||
		(t <= selection.to && t + n >= selection.from);
	const list = collections.list.filter(inside).sort((a, b) => a[0] - b[0]);
	const nameOfFact = ([type, field]) =>
		`${log.types[type].name} ${log.types[type].fields[field].name}`;
	for (const [, , facts] of list)
		for (const f of facts)
			names.set(nameOfFact(f), log.types[f[0]].fields[f[1]]);
	return el("div", {}, table(`Collections${selection ? ", selected" : ""}: ${
		list.length < collections.count ? `the longest ${list.length} of `
			: ""}${grouped.format(collections.count)}`, [{ name: "Start",
		unit: "at" }, { name: "Length", unit: "ns" }, ...[...names].map(
		([name, { unit }]) => ({ name, unit }))], list.map(([t, n, facts]) => {
		const of = new Map(facts.map((f) => [nameOfFact(f), f[2]]));
		return [t, n, ...[...names.keys()].map((name) => of.get(name))];
	})), el("div", { class: "columns" }, table("Pools", [{ name: "Pool",
		text: true }, { name: "Peak", unit: "bytes" }, { name: "At the end",
		unit: "bytes" }], pools.map(({ name, s, layer }) => [cell(name,
		el("span", {}, mark6(layer), name)), s.high, s.last.at(-1)])),
	el("div", {}, mutatorPlot(), table("The program's share of the worst " +
		"window", [{ name: "Window", unit: "ns" }, { name: "Share",
		unit: "%" }], mutator))));
}
