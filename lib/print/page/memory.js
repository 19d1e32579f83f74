// SPDX-License-Identifier: BSD-2-Clause
// Who holds memory: facts, live bytes by holder, the stacks and functions of a
// range.  A holder is the innermost frame of a stack that is no allocator; the
// log's heap counted all of it, at the peak and at moments.
"use strict";

const OTHERS = 6; // the layer of all holders without a colour
const HIGHT = 190, BAR = 19; // pixels of the curve, and of a frame
let memory = null;
let mode = "peak"; // or "end", "allocated"
let zoomed = 0; // the node that the stacks are shown from

async function loadMemory(head) {
	const b = new Bytes(await bytesOf(`b${head.block}`, true));
	const names = b.strings(), nodes = b.varint();
	const up = [0], name = [0];
	for (let i = 1; i < nodes; i++) {
		up.push(i - b.varint());
		name.push(b.varint());
	}
	const ranks = [...b.plain(6)].filter(Boolean), n = b.varint();
	const node = b.plain(n), holder = b.plain(n);
	const rank = new Map(ranks.map((name, i) => [name, i]));
	const peak = new Float64Array(n), peakBlocks = new Float64Array(n);
	for (let i = 0; i < n; i++) {
		peak[i] = Number(b.varint());
		peakBlocks[i] = Number(b.varint());
	}
	const moments = Array.from({ length: b.varint() }, () => {
		const k = b.varint(), stack = b.plain(k, Uint32Array, 1).subarray(1);
		return { stack, live: b.plain(k), blocks: b.plain(k),
			allocated: b.plain(k), calls: b.plain(k) };
	});
	memory = { ...head, noun: head.stacked ? "Function"
		: head.processes ? "Process" : "Size", names, up, name, node, holder,
	n, peak, peakBlocks, moments, ranks,
	layer: Array.from(holder, (h) => rank.get(h) ?? OTHERS),
		holders: new Set(holder).size, atPeak: new Float64Array(OTHERS + 1) };
	for (let i = 0; i < n; i++)
		memory.atPeak[memory.layer[i]] += peak[i];
	// the layers at the end of each interval
	const live = new Float64Array(n), sum = new Float64Array(OTHERS + 1);
	memory.layers = moments.map((m) => {
		m.stack.forEach((s, j) => {
			sum[memory.layer[s]] += m.live[j] - live[s];
			live[s] = m.live[j];
		});
		return sum.slice();
	});
	memory.total = memory.layers.map((l) => l.reduce((a, v) => a + v));
	document.body.classList.add("memory");
	$("memory").hidden = false;
	showFacts();
	listenCurve((t) => showHeld(memory.layers.length ? t : undefined));
	Object.assign(keys, { 1: () => setMode("peak"), 2: () => setMode("end"),
		3: () => setMode("allocated") });
}

const layerName = (i) => i < OTHERS ? memory.names[memory.ranks[i] - 1]
	: `${grouped.format(memory.holders - memory.ranks.length)} other ${
		memory.stacked ? "functions" : "processes"}`;

// Three digits, and the unit.
function brief3(v, unit) {
	const [n, u] = show(v, unit).split(" ");
	return [Number(n.replace(/,/g, "")) >= 1000 ? n
		: String(Number(Number(n).toPrecision(3))), u ?? ""];
}

const fact = ([v, unit], text) => el("p", {}, el("b", {}, v, " ",
	el("small", {}, unit)), text);

function showFacts() {
	const m = memory;
	$("facts").replaceChildren(
		fact(brief3(m.peak_time >= 0 && m.atPeak.reduce((a, v) => a + v),
			"bytes"), `live at the peak, ${time(m.peak_time,
			clock === "ns" ? 0 : 1)}`),
		fact(brief3(m.live, "bytes"), `not freed, ${m.atPeak.some(Boolean)
			? Math.round(100 * m.live / m.atPeak.reduce((a, v) => a + v)) : 0
			}% of the peak`),
		fact(brief3(m.allocated, "bytes"), `allocated in ${
			count(m.calls, "block")}`),
		clock === "ns" && m.freed > 0 ? fact([Math.round(m.within_1ms / 1e7),
			"%"], "of freed blocks within 1 ms") : "",
		fact(brief3(m.largest, "bytes"), `the largest block; half are below ${
			bytes(m.median_below)}`));
}

// The interval of a time, and what every stack had by its end.
const momentAt = (t) => Math.max(Math.min(Math.floor(t / memory.width),
	memory.moments.length - 1), 0);

function stateAt(last) {
	const { n, moments } = memory, state = {};
	for (const column of ["live", "blocks", "allocated", "calls"]) {
		state[column] = new Float64Array(n);
		for (const m of moments.slice(0, last + 1))
			m.stack.forEach((s, j) => { state[column][s] = m[column][j]; });
	}
	return state;
}

// What a range is about: {value, blocks, allocated, calls} of every stack.
function figuresOf(how) {
	const whole = !selection || !memory.moments.length;
	const first = whole ? 0 : momentAt(selection.from);
	const last = whole ? memory.moments.length - 1 : momentAt(selection.to);
	const end = stateAt(last), start = stateAt(first - 1);
	const less = (column) => end[column].map((v, i) => v - start[column][i]);
	const figures = { allocated: less("allocated"), calls: less("calls") };
	const until = time(Math.min((last + 1) * memory.width, log.span));
	if (how === "allocated")
		return { ...figures, value: figures.allocated, blocks: figures.calls,
			title: whole ? "allocated" : `allocated from ${time(first *
				memory.width)} to ${until}` };
	if (how === "end")
		return { ...figures, value: end.live, blocks: end.blocks,
			title: whole ? "not freed at the end" : `held at ${until}` };
	const at = memory.peak_time;
	if (whole || (at >= selection.from && at <= selection.to))
		return { ...figures, value: memory.peak, blocks: memory.peakBlocks,
			title: `held at ${time(at)}, the peak` };
	let best = first;
	for (let i = first; i <= last; i++)
		if (memory.total[i] > memory.total[best])
			best = i;
	const state = stateAt(best);
	return { ...figures, value: state.live, blocks: state.blocks,
		title: `held at ${time((best + 1) * memory.width)}, the highest of ${
			count(last - first + 1, "moment")}` };
}

function setMode(name) {
	mode = name;
	zoomed = 0;
	return tab(0);
}

// ------------------------------------------------------------- the curve

// As wide as the tracks below it, where it is beside its names as they are.
const curveWidth = () => innerWidth > 700 ? $("area").clientWidth
	: $("memory").clientWidth;

// The highest that a counter is in each column.
function highestOf(s, width) {
	const out = new Float64Array(width), step = sizeOf() / width;
	let j = s ? lower(s.at, Math.floor(view.from / s.width)) : 0;
	let value = s?.last[j - 1] ?? 0;
	for (let x = 0; s && x < width; x++) {
		const stop = (view.from + (x + 1) * step) / s.width;
		out[x] = value;
		for (; j < s.at.length && s.at[j] < stop; j++) {
			out[x] = Math.max(out[x], s.max[j]);
			value = s.last[j];
		}
	}
	return out;
}

// The lines of an axis of bytes.
function rules(top, y, width) {
	const step = 2 ** Math.floor(Math.log2(top / 2)), lines = [];
	for (let v = step; step && v <= top; v += step)
		lines.push(el("path", { class: "grid", d: `M0 ${y(v)}H${width}` }),
			el("text", { x: 4, y: y(v) - 3 }, bytes(v)));
	return lines;
}

// What dims all but the selection.
function outside(px, width, high) {
	if (!selection)
		return [];
	const [a, b] = [px(selection.from), px(selection.to)];
	return [el("path", { class: "outside",
		d: `M0 0H${a}V${high}H0zM${b} 0H${width}V${high}H${b}z` }),
	el("path", { class: "edge", d: `M${a} 0V${high}M${b} 0V${high}` })];
}

// How a curve of live bytes is drawn: its scales, and its height in columns.
function curveOf(s, peak) {
	const width = curveWidth(), top = Math.max(s?.high ?? 0, peak, 1);
	const px = (t) => (t - view.from) / sizeOf() * width;
	return { width, top, px, y: (v) => HIGHT - v / top * (HIGHT - 24),
		highest: highestOf(s, width),
		columns: Math.min(width, Math.floor(px(log.span)) + 1) };
}

// Layers from the base up: {layer, name, share}.  Each column is as high as
// its highest moment, of which a layer has share(x).
function layersOf(list, { highest, columns, y }) {
	const base = new Float64Array(highest.length);
	return list.map(({ layer, name, share }) => {
		let up = "", down = "";
		for (let x = 0; x < columns; x++) {
			down = `V${y(base[x]).toFixed(1)}h-1${down}`;
			base[x] += highest[x] * (share(x) || 0);
			up += `V${y(base[x]).toFixed(1)}h1`;
		}
		return el("path", { class: `h${layer}`,
			d: up && `M0 ${HIGHT}${up}${down}z` }, el("title", {}, name));
	});
}

function drawMemory() {
	const { layers, total } = memory;
	const peak = memory.atPeak.reduce((a, v) => a + v);
	const curve = curveOf(log.tracks.find((t) => t.name === "live bytes")
		?.series.find((s) => s.last), peak), { width, top, px, y } = curve;
	// shares are those at the end of the interval, or at the peak
	const peakAt = Math.floor(px(memory.peak_time));
	const share = (layer) => (x) => {
		const i = momentAt(view.from + (x + 0.5) * sizeOf() / width);
		return x === peakAt || !layers[i] ? memory.atPeak[layer] / peak
			: layers[i][layer] / total[i];
	};
	const shapes = layersOf([OTHERS, ...[...memory.ranks.keys()].reverse()]
		.map((layer) => ({ layer, name: layerName(layer),
			share: share(layer) })), curve);
	shapes.push(...rules(top, y, width));
	const at = px(memory.peak_time), early = at < 190;
	shapes.push(el("path", { class: "peak", d: `M${at} 0V${HIGHT}` }),
		el("text", { x: at + (early ? 6 : -6), y: 12, "font-weight": 700,
			"text-anchor": early ? "start" : "end" },
		`peak ${brief3(peak, "bytes").join(" ")} at ${
			time(memory.peak_time)}`));
	shapes.push(...outside(px, width, HIGHT));
	const sentence = `Live bytes: ${bytes(peak)} at ${time(memory.peak_time)
		}; ${memory.ranks.map((_, i) => `${layerName(i)} ${
		bytes(memory.atPeak[i])}`).join(", ")}`;
	$("curve").replaceChildren(el("svg", { width, height: HIGHT, role: "img",
		"aria-label": sentence }, shapes));
	showHeld();
}

// Who holds memory at the peak, or under the pointer.
function showHeld(t) {
	const i = t === undefined ? -1 : momentAt(t);
	const values = i < 0 ? memory.atPeak : memory.layers[i];
	$("held").textContent = i < 0 ? `at ${time(memory.peak_time)}, the peak`
		: `at ${time(Math.min((i + 1) * memory.width, log.span))}`;
	$("legend").replaceChildren(...[...memory.ranks.keys(),
		...memory.holders > memory.ranks.length ? [OTHERS] : []].map((l) =>
		legendRow([l, layerName(l), values[l]])), memory.stacked ? ""
		: el("li", {}, "Record with `telrec -g` to see who holds it."));
}

const legendRow = ([layer, name, v]) => el("li", {}, mark6(layer),
	el("span", { title: name }, baseName(name)), brief3(v, "bytes").join(" "));

const mark6 = (layer) => el("svg", { class: "swatch", width: 10, height: 10,
	"aria-hidden": true }, el("rect", { class: `h${layer}`, width: 10,
	height: 10, rx: 2 }));

// show: what is done with the time under the pointer, or without one.
function listenCurve(show) {
	let start = 0, drag = false;
	const at = (e) => Math.min(Math.max(view.from + (e.clientX -
		$("curve").getBoundingClientRect().left) / curveWidth() * sizeOf(), 0),
	log.span);
	on($("curve"), {
		pointerdown(e) {
			$("curve").setPointerCapture(e.pointerId);
			start = at(e);
			drag = true;
		},
		pointermove(e) {
			if (drag && Math.abs(at(e) - start) > sizeOf() / 500)
				select(start, at(e));
			show(at(e));
		},
		pointerup(e) {
			drag = false;
			if (Math.abs(at(e) - start) <= sizeOf() / 500)
				select();
		},
		pointerleave: () => show(),
	});
}

// ------------------------------------------------- stacks and functions

// Values of the nodes of the tree, and the layer of those from a holder on.
function treeOf(value) {
	const { up, name, node, holder, layer } = memory;
	const values = new Float64Array(up.length), children = [];
	const layers = new Uint8Array(up.length).fill(OTHERS);
	for (let s = 0; s < memory.n; s++) {
		values[node[s]] += value[s];
		const coloured = value[s] > 0 && layer[s] < OTHERS;
		for (let i = node[s]; coloured && i; i = up[i]) {
			layers[i] = layer[s];
			if (name[i] + 1 === holder[s])
				break;
		}
	}
	for (let i = up.length - 1; i > 0; i--) {
		values[up[i]] += values[i];
		if (values[i] > 0)
			(children[up[i]] ??= []).push(i);
	}
	for (const list of children)
		list?.sort((a, b) => values[b] - values[a]);
	return { values, children, layers };
}

function icicle(figures, width) {
	const { values, children, layers } = treeOf(figures.value), shapes = [];
	const text = (i) => baseName(memory.names[memory.name[i]]);
	let deep = 0;

	function place(i, x, w, row) {
		let label = i ? text(i) : bytes(values[0]), list = children[i] ?? [];
		const first = i;
		// a frame whose only callee has all of it is one bar with that
		while (i && list.length && values[list[0]] >= 0.985 * values[i] &&
			layers[list[0]] === layers[i]) {
			[i] = list;
			label += ` › ${text(i)}`;
			list = children[i] ?? [];
		}
		const fits = Math.floor((w - 8) / 6.2);
		deep = Math.max(deep, row);
		shapes.push(el("g", { click: () => {
			zoomed = zoomed === first ? 0 : first;
			tab(0);
		} }, el("rect", { class: `h${layers[i]}`, x, y: row * BAR,
			width: Math.max(w - 1, 0.5), height: BAR - 1 }),
		fits > 3 && el("text", { x: x + 4, y: row * BAR + 13 },
			label.length > fits ? `${label.slice(0, fits - 1)}…` : label),
		el("title", {}, `${label}: ${bytes(values[first])}, ${(100 *
			values[first] / (values[0] || 1)).toFixed(1)} %`)));
		for (const c of list) {
			const part = w * values[c] / values[first];
			if (part >= 1)
				place(c, x, part, row + 1);
			x += part;
		}
	}
	place(zoomed, 0, width, 0);
	return el("svg", { id: "icicle", width, height: (deep + 1) * BAR,
		role: "img", "aria-label": `Stacks, ${figures.title}: ${
			bytes(values[0])}; the table of functions has the same` }, shapes);
}

function memoryTab() {
	const figures = figuresOf(mode), sums = new Map();
	for (let s = 0; s < memory.n; s++) {
		const row = sums.get(memory.holder[s]) ?? [0, 0, 0, 0];
		[figures.value, figures.blocks, figures.allocated, figures.calls]
			.forEach((column, i) => { row[i] += column[s]; });
		sums.set(memory.holder[s], row);
	}
	const rows = [...sums].filter(([, r]) => r[0] || r[2])
		.sort((a, b) => b[1][0] - a[1][0] || b[1][2] - a[1][2]);
	const width = Math.max(Math.round(($("panel").clientWidth - 44) *
		(innerWidth > 700 ? 0.6 : 1)), 280);
	const modes = [["peak", "Peak"], ["end", "Live at end"],
		["allocated", "Allocated"]];
	return el("div", {}, el("p", { id: "modes" }, modes.map(([name, text]) =>
		[el("button", { "aria-pressed": String(mode === name),
			click: () => setMode(name) }, text), " "]),
	selection ? `Selected: ${time(selection.to - selection.from)}`
		: "Whole log: drag over the curve to select a range"),
	el("div", { class: "columns" }, el("div", {}, el("p", {}, el("b", {},
		memory.stacked ? "Stacks" : "Blocks"), ` ${figures.title}`),
	icicle(figures, width)),
	table(memory.stacked
		? `Functions that hold it, without allocators: ${figures.title}`
		: `By ${memory.noun.toLowerCase()}: ${figures.title}`,
		[{ name: memory.noun, text: true }, { name: modes.find(([name]) =>
			name === mode)[1], unit: "bytes" }, { name: "Blocks" },
		{ name: "Allocated", unit: "bytes" }, { name: "Calls" }],
		rows.map(([h, r]) => {
			const name = memory.names[h - 1], l = memory.ranks.indexOf(h);
			return [cell(name, el("span", { title: name },
				mark6(l < 0 ? OTHERS : l), baseName(name))), ...r];
		}))));
}
