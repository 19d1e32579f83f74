// SPDX-License-Identifier: BSD-2-Clause
// The page of a report: what telstat counted, how two logs differ, and how
// allocators replayed a log.  It shows the objects of "-f json".
"use strict";

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
const number = (v) => v === undefined || v === null ? NaN : Number(v);
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

// ---------------------------------------------------------------- tables

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
	return el("section", { class: "part" },
		table(`${caption}: ${grouped.format(cells.length)}`,
			[...columns.values()], cells),
		el("button", { click: () => save(`${caption}.csv`, "text/csv",
			csvOf([keys, ...cells])) }, "CSV"));
}

function tablesTab() {
	const types = new Map();
	for (const o of doc.reports[now].sections) {
		const key = isStatistic(o) ? "statistics" : o.type;
		types.set(key, [...types.get(key) ?? [], o]);
	}
	return el("div", {}, ...[...types].map(([type, list]) =>
		objectTable(words(type), list)));
}

// ---------------------------------------------------------------- charts

const FACTS = ["updates", "weight", "sum", "mean", "ratio", "min", "max",
	"last", "variance", "stddev", "rate", "under", "over", "keys", "overflow",
	"pairs", "open", "lost", "invalid", "approximate", "wrapped"];
const VALUES = new Set(["sum", "mean", "ratio", "min", "max", "last",
	"stddev"]);
const MARKS = ["at_most", "below", "at_least"];
const edge = (q) => q[MARKS.find((name) => name in q)];

function factsOf(o) {
	const unit = o.unit ?? "";
	return facts([...FACTS.filter((f) => f in o && (o[f] || VALUES.has(f) ||
		f === "updates")).map((f) => [words(f),
		show(o[f], VALUES.has(f) ? unit : "")]),
	...(o.quantiles ?? []).map((q) => [`p${+(q.q * 100).toFixed(7)}`,
		`${"at_least" in q ? "≥" : "below" in q ? "<" : "≤"} ${
			show(edge(q), unit)}`])]);
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
	const marks = (o) => ["mean", "ratio", "last"].filter((m) => m in o)
		.map((m) => [m, number(o[m])]);
	const rows = list.filter((o) => "min" in o || marks(o).length).map((o) => {
		const m = marks(o), lo = number(o.min ?? 0);
		return [groupOf(o) || o.name, lo, number(o.max ?? m[0][1]), m];
	});
	return rows.length ? [rangesOf(list[0].name, list[0].definition,
		list[0].unit, rows.slice(0, 40))] : [];
}

// Statistics of the same name are groups of one.
function byName(list) {
	const names = new Map();
	for (const o of list)
		names.set(o.name, [...names.get(o.name) ?? [], o]);
	return [...names.values()];
}

function chartsOf(list) {
	if (list[0].type === "tally")
		return list.map((o) => barsOf(nameOf(o), o.definition, "", ["weight"],
			[...o.buckets.map((b) => [String(b.key), number(b.count)]),
				...o.other ? [["<other>", number(o.other)]] : [],
				...o.overflow ? [["<overflow>", number(o.overflow)]] : []],
			logY));
	if (list[0].buckets)
		return bucketCharts(list);
	return rangeChart(list);
}

function toggle(text, value, change) {
	const box = el("input", { type: "checkbox", checked: value,
		change: () => {
			change(box.checked);
			tab();
		} });
	return el("label", {}, box, text);
}

function chartsTab() {
	const list = statistics().filter((o) =>
		nameOf(o).toLowerCase().includes(sought));
	drawn.length = 0;
	return el("div", {}, el("p", {}, toggle("Values by logarithm",
		logX ?? true, (on) => { logX = on; }), " ",
	toggle("Weights by logarithm", logY, (on) => { logY = on; })),
	...byName(list).flatMap((same) => {
		const charts = chartsOf(same), many = charts.length === same.length;
		return [el("h2", {}, `${same[0].name} (${same[0].type}${
			same[0].unit ? `, ${same[0].unit}` : ""})`),
		...same.slice(0, 64).map((o, i) => el("div", { class: "side" },
			many ? charts[i] : i === 0 ? charts[0] ?? "" : "",
			el("div", {}, same.length > 1 ? el("b", {}, groupOf(o)) : "",
				factsOf(o)))),
		same.length > 64 ? el("p", {}, `${same.length - 64} more groups ` +
			"are in the tables.") : ""];
	}));
}

function overviewTab() {
	drawn.length = 0;
	const totals = ofType("totals", "origin", "trace", "machine", "allocator");
	const bars = (type, name) => {
		const list = ofType(type);
		return list.length ? barsOf(name, "", "", ["events"], list.map((o) =>
			[o.kind ? `${o.name} (${o.kind})` : o.name, number(o.events)]),
		logY) : "";
	};
	return el("div", {}, el("p", {}, toggle("Counts by logarithm", logY,
		(on) => { logY = on; })), el("div", { class: "side" },
	bars("event", "Events by type"), bars("kind", "Events by kind"),
	...totals.map((o) => el("section", {}, el("h2", {},
		`${words(o.type)} ${o.allocator ?? ""}`), facts(flat(o).map(([k, v]) =>
		[words(k), show(v, unitOf(k, o))]))))));
}

// ------------------------------------------------------------ over time

const CURVES = { mag: ["last"], magdelta: ["last"], growth: ["sum"],
	ratio: ["ratio"], sum: ["sum"], min: ["min"], max: ["max"],
	mean: ["mean"], dur: ["mean"], var: ["mean"], tally: ["weight"] };

// What is drawn of a statistic: [name, function of an object].
const drawnOf = (o) => o.quantiles?.length
	? o.quantiles.map((q, i) => [`p${+(q.q * 100).toFixed(7)}`,
		(p) => number(p.quantiles?.[i] && edge(p.quantiles[i]))])
	: (CURVES[o.type] ?? ["updates"]).map((f) => [f, (p) => number(p[f])]);

function timeTab() {
	drawn.length = 0;
	const last = doc.reports.at(-1).sections, times = doc.reports.map((r) =>
		[number(r.t), new Map(r.sections.filter((o) => isStatistic(o) ||
			o.type === "totals").map((o) => [o.name ? nameOf(o) : "", o]))]);
	const chart = (title, about, unit, list) => curvesOf(title, about,
		list.slice(0, HUES).map(([name, key, f]) => ({ name,
			points: times.map(([t, all]) =>
				[t, all.has(key) ? f(all.get(key)) : NaN]) })),
		{ xTitle: "time", xUnit: clock, unit, yTitle: unit || "value" });
	const total = last.find((o) => o.type === "totals");
	return el("div", { class: "side" },
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

// ------------------------------------------------------------ differences

function differenceTab() {
	drawn.length = 0;
	return el("div", {}, ...byName(ofType("difference")).map((list) => {
		const rows = list.filter((o) => "before" in o || "after" in o);
		const same = list[0].name === "events";
		return el("div", {}, el("h2", {}, list[0].name),
			el("div", { class: "side" },
				table("Before and after; * and **: by chance alone less than " +
					"1 in 100, and 1 in 1000", columnsOf(["Figure", "", true],
					["Before"], ["After"], ["Change", "%"],
					["Significance", "", true]), list.filter((o) =>
					o.figure.toLowerCase().includes(sought)).map((o) =>
					[o.figure, o.before, o.after, o.change, o.significance])),
				same ? barsOf("Events before and after", "", "",
					["before", "after"], rows.map((o) =>
						[o.figure, o.before, o.after]), logY)
					: barsOf(`Changes of ${list[0].name}`, "", "%", ["change"],
						rows.filter((o) => "change" in o).map((o) =>
							[`${o.figure} ${o.significance ?? ""}`,
								o.change]))));
	}));
}

// ---------------------------------------------------------------- replay

const allocators = () => [...new Set(ofType("allocator").map((o) =>
	o.allocator))];

// Figures as rows, allocators as columns.
function sideBySide(type) {
	const names = allocators(), list = ofType(type);
	const of = new Map(list.map((o) => [o.allocator, o]));
	const keys = [...new Set(list.flatMap((o) => Object.keys(o)))].filter((k) =>
		k !== "type" && k !== "allocator");
	return table(words(type), columnsOf(["", "", true],
		...names.map((n) => [n])), keys.map((k) => [words(k),
		...names.map((n) => show(of.get(n)?.[k], unitOf(k, { type })))]));
}

function allocatorsTab() {
	drawn.length = 0;
	const bars = (title, type, key, unit) => {
		const list = ofType(type).filter((o) => key in o);
		return list.length ? barsOf(title, "", unit, [words(key)],
			list.map((o) => [o.allocator, number(o[key])])) : "";
	};
	return el("div", {}, el("div", { class: "side" },
		bars("Time of an operation", "cost", "ns", "ns"),
		bars("99 % of the operations take at most", "cost", "p99_ns", "ns"),
		bars("Peak of the resident memory", "memory", "peak_bytes", "bytes"),
		bars("Resident at the end", "memory", "end_bytes", "bytes"),
		bars("When all is freed", "memory", "freed_bytes", "bytes"),
		bars("Page faults", "cost", "page_faults", "")),
	el("div", { class: "side" }, ["cost", "memory", "residency", "counters",
		"calls"].filter((t) => ofType(t).length).map(sideBySide)),
	ofType("ratio").length ? objectTable("ratios to the first",
		ofType("ratio")) : "");
}

function memoryTab() {
	drawn.length = 0;
	const samples = ofType("sample"), live = ofType("live"), first = samples[0];
	const curve = (key, list) => [[0, 0], ...list.map((o) =>
		[number(o.time_ns), number(o[key])])];
	const series = allocators().map((name) => ({ name, points: curve(
		"resident_bytes", samples.filter((o) => o.allocator === name)) }))
		.filter((s) => s.points.length > 1);
	const sizes = ofType("size_residency"), names = allocators();
	return el("div", { class: "side" }, first ? curvesOf(
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
	sizes.length ? barsOf("Resident pages by size of block", "", "bytes", names,
		[...new Set(sizes.map((o) => o.item))].map((item) => [item,
			...names.map((n) => sizes.find((o) => o.item === item &&
				o.allocator === n)?.resident_bytes)])) : "",
	...["size", "lifetime"].filter((t) => ofType(t).length).map((t) =>
		barsOf(t === "size" ? "Requests by size, up to"
			: "Lifetimes of blocks, in operations, up to", "", "",
		[t === "size" ? "requests" : "blocks"], ofType(t).map((o) =>
			[o.item, number(o.requests ?? o.blocks)]), logY)));
}

function latencyTab() {
	drawn.length = 0;
	const names = allocators(), list = ofType("latency").filter((o) =>
		o.samples > 0);
	const shares = ["p50", "p90", "p99", "p99.9", "max"];
	return el("div", { class: "side" }, ...[...new Set(list.map((o) =>
		o.item))].map((item) => {
		const of = (n) => list.find((o) => o.allocator === n &&
			o.item === item);
		return barsOf(`Latency of ${item}`, "quantiles, logarithmic",
			"ns", names, shares.map((s) => [s, ...names.map((n) =>
				of(n)?.[s])]), true);
	}), objectTable("latency", list));
}

// ------------------------------------------------------------------ page

function aboutTab() {
	return el("div", {}, facts([["Page", doc.title], ["Made by",
		doc.generator], ["Reports", doc.reports.length]]), doc.each > 1
		? el("p", {}, `Of the snapshots, each ${doc.each}th is in the page, ` +
			"and the last one.") : "", el("p", {}, "All numbers are those of " +
		"\"-f json\"; the tables have them, and can be saved as CSV."));
}

function stackWeights() {
	const list = ofType("stack");
	return ["leaked_bytes", "peak_bytes", "allocated_bytes", "allocations"]
		.filter((w) => list.some((o) => number(o[w]) > 0));
}

// A slider through the snapshots of "telstat -i".
function slider() {
	const n = doc.reports.length, range = $("snapshot");
	const choose = (i) => {
		now = Math.min(Math.max(i, 0), n - 1);
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
	window.teltools.report = choose;
	choose(n - 1);
}

views.report = async function report(head) {
	doc = head;
	plain = Boolean(head.raw);
	logX = head.log ?? null;
	now = doc.reports.length - 1;
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
		[stackWeights().length > 0, "Flame graph", () => {
			drawn.length = 0;
			return flameTab(ofType("stack"), stackWeights(), () => tab());
		}],
		[has("event", "kind", "totals"), "Overview", overviewTab],
		[doc.reports.length > 1, "Over time", timeTab],
		[true, "Tables", tablesTab], [true, "About", aboutTab]];
	await tabs(list.filter(([on]) => on).map(([, name, make]) => [name, make]),
		Number(keep("tab")) || 0);
	const search = () => {
		sought = $("q").value.toLowerCase();
		flame.text = $("q").value;
		return tab();
	};
	$("find").addEventListener("submit", (e) => e.preventDefault());
	$("q").addEventListener("input", search);
	tabList.forEach((_, i) => { keys[i + 1] = () => tab(i); });
	Object.assign(window.teltools, {
		tabs: () => [...$("tabs").children].map((e) => e.textContent),
		tab: (name) => tab(window.teltools.tabs().indexOf(name)),
		drawn: () => drawn.map(({ title, kind, rows, picture }) => ({ title,
			kind, rows,
			shapes: picture.querySelectorAll("rect,path").length })),
		svg: (i) => drawn[i].svg(), csv: (i) => drawn[i].csv(),
		search: (text) => {
			$("q").value = text;
			return search();
		},
		frames: () => flame.frames.map(({ node, x, width }) =>
			({ name: node.name, value: node.value, depth: node.depth,
				x, width })),
		zoom: (name) => flame.zoom(flame.frames.find((f) =>
			f.node.name === name).node),
	});
};
