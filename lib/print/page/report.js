// SPDX-License-Identifier: BSD-2-Clause
// The page of a report: what telstat counted, how two logs differ, and how
// allocators replayed a log.  It shows the objects of "-f json".

let doc; // the head of the page
let now = 0; // the report that is shown
let logX = null; // values by logarithm: true, false, or as each class has it
let logY = false;
let sought = ""; // rows of tables without it are hidden

const words = (name) => name.replace(/_/g, " ");
const ofType = (...types) => doc.reports[now].sections.filter((o) =>
	types.includes(o.type));
const isStatistic = (o) => "updates" in o && "invalid" in o;
const statistics = () => doc.reports[now].sections.filter(isStatistic);
const number = (v) => Number(v ?? NaN);
const groupOf = (o) => typeof o.group === "string" ? o.group
	: Object.entries(o.group ?? {}).map(([k, v]) => `${k}=${v}`).join(",");
const nameOf = (o) => o.name + (o.group ? `{${groupOf(o)}}` : "");

// Units are in the names of members, but for these.
function unitOf(name, o) {
	return /(^|_)bytes(_|$)/.test(name) && !/blocks/.test(name) ? "bytes"
		: /(^|_)ns$/.test(name) || (o.type === "latency" &&
			/^(p[\d.]+|max|subtracted)$/.test(name)) ? "ns"
			: name === "change" || /(^|_)share$/.test(name) ? "%" : "";
}

// Members that a cell can show; those of a group are members as well.
const flat = (o) => Object.entries(o).flatMap(([k, v]) =>
	k === "t" || k === "type" || Array.isArray(v) ? []
		: v !== null && typeof v === "object" ? Object.entries(v)
			.map(([part, w]) => [`${k}.${part}`, w]) : [[k, v]]);

function objectTable(caption, list) {
	const columns = new Map();
	const rows = list.map((o) => {
		const cells = new Map(flat(o));
		for (const [k, v] of cells) {
			if (!columns.has(k))
				columns.set(k, { name: words(k), unit: unitOf(k, o) });
			if (typeof v === "string" && !/^-?\d+(\.\d+)?$/.test(v))
				columns.get(k).text = true;
		}
		return cells;
	});
	const text = (row) => [...row.values()].join("\n").toLowerCase();
	const keys = [...columns.keys()];
	const cells = rows.filter((row) => text(row).includes(sought))
		.map((row) => keys.map((k) => row.get(k)));
	return el("section.part",
		table(`${caption}: ${grouped.format(cells.length)}`,
			[...columns.values()], cells),
		csvButton(caption, [keys, ...cells]));
}

const tablesTab = () => el("div", [...Map.groupBy(
	doc.reports[now].sections, (o) => isStatistic(o) ? "statistics" : o.type)]
	.map(([type, list]) => objectTable(words(type), list)));

const FACTS = ("updates weight sum mean ratio min max last variance stddev " +
	"rate under over keys overflow pairs open lost invalid approximate wrapped")
	.split(" ");
const VALUES = new Set(["sum", "mean", "ratio", "min", "max", "last",
	"stddev"]);
const MARKS = { at_most: "≤", below: "<", at_least: "≥" };
const shareOf = ({ q }) => `p${+(q * 100).toFixed(7)}`;
const edgeOf = (q) => Object.keys(MARKS).find((name) => name in q);

function factsOf(o) {
	const unit = o.unit ?? "";
	return facts([...FACTS.filter((f) => f in o && (o[f] || VALUES.has(f) ||
		f === "updates")).map((f) => [words(f),
		show(o[f], VALUES.has(f) ? unit : "")]),
	...(o.quantiles ?? []).map((q) => [shareOf(q),
		`${MARKS[edgeOf(q)]} ${show(q[edgeOf(q)], unit)}`])]);
}

const bucketsOf = (o) => o.buckets.map((b) => ({ lo: number(b.lo),
	hi: "hi" in b ? number(b.hi) : 2 * number(b.lo) + 1,
	count: number(b.count) }));

// How high the bar of a bucket is: by its weight, or by that and its width.
const highOf = (b) => doc.density ? b.count / (b.hi - b.lo || 1) : b.count;

// The share of the weight below each edge.
function distributionOf(o) {
	let sum = 0;
	const list = bucketsOf(o), all = number(o.weight) || 1;
	return list.flatMap((b) => {
		const below = 100 * sum / all;
		sum += b.count;
		return [[b.lo, below], [b.hi, 100 * sum / all]];
	});
}

function bucketCharts(list) {
	const [{ type, unit = "" }] = list;
	const byLog = logX ?? !/^(hist|split)$/.test(type);
	if (type === "quantiles")
		return [curvesOf(`${list[0].name}: distribution`,
			list[0].definition, list.slice(0, HUES).map((o) => ({
				name: groupOf(o) || o.name, points: distributionOf(o) })),
			{ xTitle: "value", xUnit: unit, logX: byLog,
				yTitle: "% at or below", unit: "" })];
	const all = list.flatMap(bucketsOf);
	const range = all.reduce((r, b) => ({ lo: Math.min(r.lo, b.lo),
		hi: Math.max(r.hi, b.hi), most: Math.max(r.most, highOf(b)) }),
	{ lo: all[0]?.lo ?? 0, hi: all[0]?.hi ?? 1, most: doc.density ? 0 : 1 });
	return list.map((o) => histogramOf(nameOf(o), o.definition, unit,
		bucketsOf(o), range, byLog, logY, doc.density && highOf));
}

function rangeChart(list) {
	// a total is neither one of its values nor between them
	const marks = (o) => (/^(sum|growth)$/.test(o.type) ? ["sum"]
		: ["mean", "ratio", "last"]).filter((m) => m in o)
		.map((m) => [m, number(o[m])]);
	const rows = list.filter((o) => "min" in o || marks(o).length).map((o) => {
		const m = marks(o), total = m[0]?.[0] === "sum";
		return [groupOf(o) || o.name, number(!total && o.min || 0),
			number(total ? m[0][1] : o.max ?? m[0][1]), m];
	});
	return rows.length ? [rangesOf(list[0].name, list[0].definition,
		list[0].unit, rows.slice(0, 40))] : [];
}

const byName = (list) => [...Map.groupBy(list, (o) => o.name).values()];

function chartsOf(list) {
	if (list[0].type === "tally")
		return list.map((o) => barsOf(nameOf(o), o.definition, "", ["weight"],
			[...o.buckets.map((b) => [String(b.key), number(b.count)]),
				...o.other ? [["<other>", number(o.other)]] : [],
				...o.overflow ? [["<overflow>", number(o.overflow)]] : []],
			logY));
	return list[0].buckets ? bucketCharts(list) : rangeChart(list);
}

const toggle = (text, checked, change) => el("label", el("input", {
	type: "checkbox", checked, change: (e) => {
		change(e.target.checked);
		tab();
	} }), text);

const weightToggle = (text) => toggle(text, logY, (on) => { logY = on; });

function chartsTab() {
	const list = statistics().filter((o) =>
		nameOf(o).toLowerCase().includes(sought));
	return el("div", el("p", toggle("Values by logarithm",
		logX ?? true, (on) => { logX = on; }), " ",
	weightToggle("Weights by logarithm")),
	byName(list).map((same) => {
		const charts = chartsOf(same), many = charts.length === same.length;
		return [el("h2", `${same[0].name} (${same[0].type}${
			same[0].unit ? `, ${same[0].unit}` : ""})`),
		...same.slice(0, 64).map((o, i) => el("div.side",
			(many || i === 0) && charts[i],
			el("div", same.length > 1 && el("b", groupOf(o)),
				factsOf(o)))),
		same.length > 64 && el("p", `${same.length - 64} more groups ` +
			"are in the tables.")];
	}));
}

function overviewTab() {
	const totals = ofType("totals", "origin", "trace", "machine", "allocator");
	const bars = (type, name) => {
		const list = ofType(type);
		return list.length > 0 && barsOf(name, "", "", ["events"],
			list.map((o) => [o.kind ? `${o.name} (${o.kind})` : o.name,
				number(o.events)]), logY);
	};
	return el("div", el("p", weightToggle("Counts by logarithm")),
		el("div.side", bars("event", "Events by type"),
			bars("kind", "Events by kind"),
	totals.map((o) => el("section", el("h2",
		`${words(o.type)} ${o.allocator ?? ""}`), facts(flat(o).map(([k, v]) =>
		[words(k), show(v, unitOf(k, o))]))))));
}

const CURVES = { mag: "last", magdelta: "last", growth: "sum", ratio: "ratio",
	sum: "sum", min: "min", max: "max", mean: "mean", dur: "mean", var: "mean",
	tally: "weight" };

// What is drawn of a statistic: [name, function of an object].
const drawnOf = (o) => o.quantiles?.length
	? o.quantiles.map((q, i) => [shareOf(q), (p) =>
		number(p.quantiles?.[i]?.[edgeOf(p.quantiles[i])])])
	: [CURVES[o.type] ?? "updates"].map((f) => [f, (p) => number(p[f])]);

function timeTab() {
	const last = doc.reports.at(-1).sections, times = doc.reports.map((r) =>
		[number(r.t), new Map(r.sections.filter((o) => isStatistic(o) ||
			o.type === "totals").map((o) => [o.name ? nameOf(o) : "", o]))]);
	const chart = (title, about, unit, list) => curvesOf(title, about,
		list.slice(0, HUES).map(([name, key, f]) => ({ name,
			points: times.map(([t, all]) =>
				[t, all.has(key) ? f(all.get(key)) : NaN]) })),
		{ xTitle: "time", xUnit: clock, unit, yTitle: unit || "value" });
	const total = last.find((o) => o.type === "totals");
	return el("div.side",
		...byName(last.filter(isStatistic)).map((same) => {
			const list = same.flatMap((o) => drawnOf(o).map(([what, f]) =>
				[`${groupOf(o) || o.name}: ${what}`, nameOf(o), f]));
			return chart(same[0].name, `${same[0].definition ?? ""}${
				list.length > HUES ? `; ${list.length - HUES} more curves ` +
				"are not drawn" : ""}`, /^(tally|count)$/.test(same[0].type)
				? "" : same[0].unit ?? "", list);
		}),
		total ? chart("Events", "counted so far", "",
			[["events", "", (o) => number(o.events)]]) : "",
		total?.allocated_blocks ? chart("Live memory", "of the log", "bytes",
			[["live bytes", "", (o) => number(o.live_bytes)]]) : "");
}

function differenceTab() {
	const all = ofType("difference");
	return el("div", el("p", "* and **: by chance alone less than 1 " +
		"in 100, and 1 in 1000. Changes of counts are those of their ",
	all.some((o) => "before_per_s" in o) ? "rates." : "shares of all events."),
	byName(all).map((list) => {
		const [{ name }] = list, shown = list.filter((o) => "change" in o);
		return el("div.side",
			objectTable(name, list.map(({ name, ...o }) => o)),
			name === "events" ? barsOf("Events before and after", "", "",
				["before", "after"], list.map((o) =>
					[o.figure, o.before, o.after]), logY)
				: barsOf(`Changes of ${name}`, "", "%", ["change"],
					shown.map((o) => [`${o.figure} ${o.significance ?? ""}`,
						o.change])));
	}));
}

const allocators = () => [...new Set(ofType("allocator").map((o) =>
	o.allocator))];

const ofEach = (list, key) => allocators().map((name) =>
	list.find((o) => o.allocator === name)?.[key]);

function sideBySide(type) {
	const names = allocators(), list = ofType(type);
	const keys = [...new Set(list.flatMap((o) => Object.keys(o)))].filter((k) =>
		k !== "type" && k !== "allocator");
	return table(words(type), columnsOf(["", "", true],
		...names.map((n) => [n])), keys.map((k) => [words(k),
		...ofEach(list, k).map((v) => show(v, unitOf(k, { type })))]));
}

function allocatorsTab() {
	const bars = (title, type, key) => {
		const list = ofType(type).filter((o) => key in o);
		return list.length > 0 && barsOf(title, "", unitOf(key, {}),
			[words(key)], list.map((o) => [o.allocator, number(o[key])]));
	};
	return el("div", el("div.side",
		bars("Time of an operation", "cost", "ns"),
		bars("99 % of the operations take at most", "cost", "p99_ns"),
		bars("Peak of the resident memory", "memory", "peak_bytes"),
		bars("Resident at the end", "memory", "end_bytes"),
		bars("When all is freed", "memory", "freed_bytes"),
		bars("Page faults", "cost", "page_faults")),
	el("div.side", ["cost", "memory", "residency", "counters",
		"calls"].filter((t) => ofType(t).length).map(sideBySide)),
	ofType("ratio").length > 0 && objectTable("ratios", ofType("ratio")
		.flatMap((o) => Object.keys(o).filter((k) => `${k}_p` in o).map((k) =>
			({ allocator: o.allocator, to: o.item, figure: words(k),
				ratio: o[k], low: o[`${k}_low`],
				high: o[`${k}_high`],
				verdict: o[`${k}_different`] ? "different"
					: o[`${k}_equal`] ? "equal" : "not known" })))));
}

function memoryTab() {
	const samples = ofType("sample"), live = ofType("live"), first = samples[0];
	const curve = (key, list) => [[0, 0], ...list.map((o) =>
		[number(o.time_ns), number(o[key])])];
	const names = allocators();
	const series = names.map((name) => ({ name, points: curve(
		"resident_bytes", samples.filter((o) => o.allocator === name)) }))
		.filter((s) => s.points.length > 1);
	const bySize = (type, title, key) => ofType(type).length > 0 &&
		barsOf(`${title} by size of block`, "", unitOf(key, {}), names,
			[...Map.groupBy(ofType(type), (o) => o.item)].map(([item, same]) =>
				[item, ...ofEach(same, key)]));
	return el("div.side", first ? curvesOf(
		"Resident memory of each allocator",
		"bytes above those before the first operation",
		[...series, { name: `live blocks, as asked for, in the time of ${
			first.allocator}`, points: curve("run_live_bytes",
			samples.filter((o) => o.allocator === first.allocator)) }],
		{ xTitle: "real time since the first operation", xUnit: "ns",
			unit: "bytes", yTitle: "memory (bytes)" }) : "",
	live.length ? curvesOf("Live memory of the trace",
		"bytes that were asked for and not yet freed", [{ name: "live",
			points: [[0, 0], ...live.map((o) =>
				[100 * o.done, number(o.bytes)])], area: true }],
		{ xTitle: "% of the operations done", xUnit: "", unit: "bytes",
			yTitle: "memory (bytes)" }) : "",
	bySize("size_residency", "Resident pages", "resident_bytes"),
	bySize("size_time", "Median time to allocate", "allocation_ns"),
	bySize("size_time", "Median time to free", "free_ns"),
	...["size", "lifetime"].filter((t) => ofType(t).length).map((t) =>
		barsOf(t === "size" ? "Requests by size, up to"
			: "Lifetimes of blocks, in operations, up to", "", "",
		[t === "size" ? "requests" : "blocks"], ofType(t).map((o) =>
			[o.item, number(o.requests ?? o.blocks)]), logY)));
}

function latencyTab() {
	const names = allocators(), list = ofType("latency").filter((o) =>
		o.samples > 0);
	return el("div.side", [...Map.groupBy(list, (o) => o.item)]
		.map(([item, same]) => barsOf(`Latency of ${item}`,
			"quantiles, logarithmic", "ns", names,
			["p50", "p90", "p99", "p99.9", "max"].map((share) =>
				[share, ...ofEach(same, share)]), true)),
	objectTable("latency", list));
}

function aboutTab() {
	return el("div", facts([["Page", doc.title], ["Made by",
		doc.generator], ["Reports", doc.reports.length]]), doc.each > 1 &&
		el("p", `Of the snapshots, each ${doc.each}th is in the page, ` +
			"and the last one."), el("p", "All numbers are those of " +
		"\"-f json\"; the tables have them, and can be saved as CSV."));
}

// Rows with "stack", outermost frame first, and weights, as a tree.
function growFlame(rows, weight) {
	const root = newNode("all");
	for (const row of rows) {
		const value = number(row[weight] ?? 0);
		let node = root;
		root.value += value;
		for (const name of value > 0 ? row.stack.split(";") : []) {
			node.of ??= new Map();
			if (!node.of.has(name)) {
				const next = newNode(name, node, { fill: `f${
					[...name].reduce((h, c) =>
						(h * 31 + c.codePointAt(0)) % 9973, 7) % HUES}` });
				node.of.set(name, next);
				node.parts.push(next);
			}
			node = node.of.get(name);
			node.value += value;
		}
	}
	const sort = (node) => node.parts.sort((a, b) => b.value - a.value)
		.forEach(sort);
	sort(root);
	return root;
}

// The weight in frames that the search finds.
const foundIn = (node) => found(node) ? node.value
	: sum(node.parts, foundIn);

const picker = (id, names, chosen, change) => el("select", { id,
	change: (e) => change(e.target.value) }, names.map((name) => el("option",
	{ value: name, selected: name === chosen }, words(name))));

let flameWeight = "";

function flameTab() {
	const list = ofType("stack"), weights = stackWeights();
	if (!weights.includes(flameWeight))
		[flameWeight] = weights;
	const root = growFlame(list, flameWeight);
	const unit = /bytes/.test(flameWeight) ? "bytes" : "";
	const picture = flameOf(root, () => Math.max(($("panel").clientWidth ||
		WIDE) - 30, 300), (node) => `${node.name}: ${show(node.value, unit)}, ${
		(100 * node.value / (root.value || 1)).toFixed(2)} % of all`, false,
	"Flame graph; arrow keys choose a frame, Enter zooms");
	$("hits").textContent = flame.text && `${show(foundIn(root) /
		(root.value || 1), "%")} found`;
	drawn.push({ title: "Flame graph", kind: "flame", rows: list, picture });
	return el("div", el("p", el("label", "Width: ",
		picker("weight", weights, flameWeight, (name) => {
			flameWeight = name;
			tab();
		})), " ", svgButton("flame", picture)),
	el("p.dim", "Callers are above what they call. A click or ",
		"Enter zooms, the arrow keys move, the search marks frames."),
	picture);
}

function stackWeights() {
	const list = ofType("stack");
	return ["leaked_bytes", "peak_bytes", "allocated_bytes", "weight",
		"samples", "allocations"].filter((w) => list.some((o) => o[w] > 0));
}

// A slider through the snapshots of "telstat -i".
function slider() {
	const n = doc.reports.length, range = $("snapshot");
	const choose = (i) => {
		now = between(i, 0, n - 1);
		const { t } = doc.reports[now];
		const text = t === null ? `${now + 1} of ${n}` : time(t);
		range.value = now;
		$("snapshots").lastElementChild.textContent = text;
		range.setAttribute("aria-valuetext", text);
		return tabNow < tabList.length && tab();
	};
	range.max = n - 1;
	$("snapshots").hidden = false;
	range.addEventListener("input", () => choose(Number(range.value)));
	Object.assign(keys, { "[": () => choose(now - 1),
		"]": () => choose(now + 1) });
	choose(n - 1);
}

views.report = async function report(head) {
	doc = head;
	onTheme = () => flame.paint();
	plain = Boolean(head.raw);
	logX = head.log ?? null;
	$("q").placeholder = "Search: names, frames of stacks";
	if (doc.reports.length > 1)
		slider();
	const has = (...types) => ofType(...types).length > 0;
	const list = [
		[has("difference"), "Difference", differenceTab],
		[has("cost"), "Allocators", allocatorsTab],
		[has("sample", "live"), "Memory", memoryTab],
		[has("latency"), "Latency", latencyTab],
		[statistics().length > 0, "Statistics", chartsTab],
		[stackWeights().length > 0, "Flame graph", flameTab],
		[has("event", "kind", "totals"), "Overview", overviewTab],
		[doc.reports.length > 1, "Over time", timeTab],
		[true, "Tables", tablesTab], [true, "About", aboutTab]];
	await tabs(list.filter(([on]) => on).map(([, name, make]) => [name, () => {
		drawn.length = 0;
		return make();
	}]), Number(keep("tab")));
	$("find").addEventListener("submit", (e) => e.preventDefault());
	$("q").addEventListener("input", () => {
		sought = $("q").value.toLowerCase();
		flame.text = $("q").value;
		tab();
	});
	tabList.forEach((_, i) => { keys[i + 1] = () => tab(i); });
};
