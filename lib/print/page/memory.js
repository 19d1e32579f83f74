// SPDX-License-Identifier: BSD-2-Clause
// Who holds memory: facts, live bytes by holder, the stacks and functions of a
// range.  A holder is the innermost frame of a stack that is no allocator; the
// log's heap counted all of it, at the peak and at moments.

let memory = null;
let mode = "peak";
const MODES = [["peak", "Peak"], ["end", "Live at end"],
	["allocated", "Allocated"]];

async function loadMemory(head) {
	const b = new Bytes(await bytesOf(`b${head.block}`, true));
	const names = b.strings(), nodes = b.varint();
	const pairs = (n, list = b.plain(2 * n)) => [0, 1].map((odd) =>
		list.filter((_, i) => i % 2 === odd));
	const [up, name] = pairs(nodes - 1).map((list) => [0, ...list]);
	const ranks = [...b.plain(6)].filter(Boolean), n = b.varint();
	const node = b.plain(n), holder = b.plain(n);
	const rank = new Map(ranks.map((name, i) => [name, i]));
	const [peak, peakBlocks] = pairs(n);
	const moments = Array.from({ length: b.varint() }, () => {
		const k = b.varint(), stack = b.plain(k, Uint32Array, 1).subarray(1);
		return { stack, live: b.plain(k), blocks: b.plain(k),
			allocated: b.plain(k), calls: b.plain(k) };
	});
	memory = { ...head, noun: head.stacked ? "Function"
		: head.processes ? "Process" : "Size", names, name, node, holder, n,
	up: up.map((above, i) => i - above), peak, peakBlocks, moments, ranks,
	layer: Array.from(holder, (h) => rank.get(h) ?? OTHERS),
	highest: sum(peak) };
	memory.total = sumsOver("live", () => true);
	memoryFacts();
	addMemory();
	MODES.forEach(([name], i) => { keys[i + 1] = () => setMode(name); });
}

// What the layers have of a column at the end of each interval, of those stacks
// that are so.
function layersOver(column, is) {
	const { n, layer, moments } = memory, value = new Float64Array(n);
	const now = new Float64Array(OTHERS + 1);
	return moments.map((m) => {
		m.stack.forEach((s, j) => {
			now[layer[s]] += is(s) && m[column][j] - value[s];
			value[s] = m[column][j];
		});
		return now.slice();
	});
}

const sumsOver = (column, is) => layersOver(column, is).map((l) => sum(l));

// An event without a clock has a number.
const when = (t) => time(t, clock === "ns" ? 0 : 1);

const layerName = (i) => i < OTHERS ? memory.names[memory.ranks[i] - 1]
	: memory.others.length === 1 ? memory.names[memory.others[0] - 1]
		: `${show(memory.others.length)} other ${
			memory.stacked ? "functions" : "processes"}`;

function memoryFacts() {
	const m = memory;
	showFacts([[brief3(m.highest, "bytes"),
		`live at the peak, ${when(m.peak_time)}`, ...climb(
			trackOf("live")?.curve)],
	[brief3(m.live, "bytes"), `live at the end, ${
		Math.round(100 * m.live / (m.highest || 1))}% of the peak`],
	[brief3(m.allocated, "bytes"), `allocated in ${count(m.calls, "block")}`],
	clock === "ns" && m.freed > 0 && [[Math.round(m.freed_within / 1e7),
		"%"], `of freed blocks within ${time(m.within)}`],
	[brief3(m.largest, "bytes"), `the largest block; half are below ${
		bytes(m.median_below)}`]]);
}

// The interval of a time, and what every stack had by its end.
const momentAt = (t) => between(Math.floor(t / memory.width), 0,
	memory.moments.length - 1);

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
	const { moments, width, total, peak_time: peakAt } = memory;
	const whole = !selection || !moments.length;
	const first = whole ? 0 : momentAt(selection.from);
	const last = whole ? moments.length - 1 : momentAt(selection.to);
	const until = (i) => when(Math.min((i + 1) * width, log.span));
	const end = stateAt(last), start = stateAt(first - 1);
	const [allocated, calls] = ["allocated", "calls"].map((column) =>
		end[column].map((v, i) => v - start[column][i]));
	const figures = (value, blocks, title) =>
		({ value, blocks, allocated, calls, title });
	if (how === "allocated")
		return figures(allocated, calls, whole ? how : `allocated from ${
			when(first * width)} to ${until(last)}`);
	if (how === "end")
		return figures(end.live, end.blocks, whole ? "live at the end"
			: `held at ${until(last)}`);
	if (whole || (peakAt >= selection.from && peakAt <= selection.to))
		return figures(memory.peak, memory.peakBlocks,
			`held at ${when(peakAt)}, the peak`);
	const part = total.slice(first, last + 1);
	const best = first + part.indexOf(Math.max(...part));
	const { live, blocks } = stateAt(best);
	return figures(live, blocks, `held at ${until(best)}, the highest of ${
		count(part.length, "moment")}`);
}

function grown() {
	const before = memory.total[momentAt(selection.from) - 1] ?? 0;
	const n = sum(figuresOf("end").value) - before;
	return `live ${n < 0 ? "" : "+"}${short(n, "bytes")}, highest ${
		short(sum(figuresOf("peak").value), "bytes")}`;
}

function setMode(name) {
	mode = name;
	flame.top = [];
	return tab(0);
}

function recallMemory(parts) {
	const { up } = memory, list = [];
	const part = (key, pattern) => (pattern.exec(parts.get(key)) ?? [""])[0];
	const zoomed = Number(part("f", /\d+$/));
	for (let i = zoomed; up[i] < i; i = up[i])
		list.unshift(`n${i}`);
	// its picture may not be there yet
	Object.assign(flame, { top: list, zoomed: { key: `n${zoomed}` } });
	flame.paint();
	mode = part("m", /^(end|allocated)$/) || "peak";
	memory.alone = "";
	showAlone(part("a", /^[fn]\d+$/));
}

// The layers of the curve: at the end of the interval of each column, or at
// the peak.
function memoryLayers({ width, from, step, xOf }) {
	const peakAt = Math.floor(xOf(memory.peak_time));
	const list = [OTHERS, ...[...memory.ranks.keys()].reverse()].map((layer) =>
		({ layer, name: layerName(layer), values: new Float64Array(width) }));
	for (let x = 0; x < width; x++) {
		const values = x === peakAt ? memory.atPeak
			: memory.layers[momentAt(from + (x + 0.5) * step)] ?? memory.atPeak;
		for (const l of list)
			l.values[x] = values[l.layer];
	}
	return list;
}

function showHeld(t) {
	const i = t === undefined || !memory.layers.length ? -1 : momentAt(t);
	const values = i < 0 ? memory.atPeak : memory.layers[i];
	const hint = memory.alone ? "Escape shows all"
		: memory.hint?.replace(/\d+/g, (n) => show(Number(n)));
	return legend(i < 0 ? `Held at ${when(memory.peak_time)}, the peak`
		: `Held at ${time(Math.min((i + 1) * memory.width, log.span))}`,
	[...memory.ranks.keys(), ...memory.others.length ? [OTHERS] : []].map((l) =>
		[l, layerName(l), values[l]]).filter(([, , v]) => v || !memory.alone),
	hint ? el("li.hint", hint) : "");
}

function addMemory() {
	memory.row = addLayers({ name: "Live bytes", beside: showHeld,
		layersOf: memoryLayers, s: trackOf("live")?.curve });
	memory.rate = addBlocks();
	memory.curve = memory.row.s;
	memory.both = memory.rate.both;
	showAlone("");
}

// Shows the stacks of a function alone: f and the number of its name; those
// through a frame: n and its node; all: "", or what is alone already.
function showAlone(key) {
	const { node, up, name, names, holder, peak, layer, both } = memory;
	const wanted = key !== memory.alone && Number(key.slice(1)) || 0;
	const what = names[key[0] === "f" ? wanted - 1 : name[wanted]];
	const id = what === undefined ? 0 : wanted;
	function through(i) {
		while (i > id)
			i = up[i];
		return i === id;
	}
	const is = id ? (s) => key[0] === "f" ? holder[s] === id : through(node[s])
		: () => true;
	memory.alone = id ? key : "";
	memory.layers = layersOver("live", is);
	memory.atPeak = new Float64Array(OTHERS + 1);
	peak.forEach((v, s) => { memory.atPeak[layer[s]] += is(s) && v; });
	memory.others = [...new Set(holder.filter((_, s) =>
		layer[s] === OTHERS && is(s)))];

	// the highest that is known of a part
	const ends = memory.layers.map((l) => sum(l)), held = sum(memory.atPeak);
	const top = Math.max(held, mostOf([ends]));
	const at = top === held ? memory.peak_time
		: Math.min(memory.width * (1 + ends.indexOf(top)), log.span);
	const below = id ? `of ${baseName(what)}`
		: `by ${memory.noun.toLowerCase()}`;
	Object.assign(memory.row, { below, top: top || 1,
		s: id ? undefined : memory.curve,
		peak: [at, `${id ? "" : "peak "}${short(top, "bytes")} at ${when(at)}`],
		sentence: `Live bytes ${below}: ${bytes(top)} at ${when(at)}; ${
			memory.ranks.map((_, i) => `${layerName(i)} ${
				bytes(memory.atPeak[i])}`).join(", ")}` });
	if (both) {
		const calls = sumsOver("calls", is), live = sumsOver("blocks", is);
		const rate = (count) => ({ count: [0, ...count], width: memory.width,
			at: [...count.keys()], whole: true });
		Object.assign(memory.rate, { both: id ? [rate(calls), rate(
			calls.map((n, i) => n - live[i]))] : both,
		below: id ? below : "log height" });
	}
	treeNow = [];
	refresh();
}

// The tree of stacks by a value of each, coloured from the holder on.
function treeOf(value) {
	const { up, name, names, node, holder, layer } = memory, nodes = [];
	up.forEach((above, i) => nodes.push(newNode(baseName(names[name[i]]),
		i ? nodes[above] : undefined, { fill: `h${OTHERS}`, key: `n${i}` })));
	for (let s = 0; s < memory.n; s++) {
		nodes[node[s]].value += value[s];
		const coloured = value[s] > 0 && layer[s] < OTHERS;
		for (let i = node[s]; coloured && i; i = up[i]) {
			nodes[i].fill = `h${layer[s]}`;
			if (name[i] + 1 === holder[s])
				break;
		}
	}
	for (const n of nodes.slice(1).reverse()) {
		n.up.value += n.value;
		if (n.value > 0)
			n.up.parts.push(n);
	}
	for (const n of nodes)
		n.parts.sort(byMost((p) => p.value));
	nodes[0].name = bytes(nodes[0].value);
	return nodes[0];
}

function memoryTab() {
	const figures = figuresOf(mode), sums = new Map();
	for (let s = 0; s < memory.n; s++) {
		const row = sums.get(memory.holder[s]) ?? [0, 0, 0, 0];
		sums.set(memory.holder[s], ["value", "blocks", "allocated", "calls"]
			.map((column, i) => row[i] + figures[column][s]));
	}
	const rows = [...sums].filter(([, r]) => r[0] || r[2])
		.sort((a, b) => b[1][0] - a[1][0] || b[1][2] - a[1][2]);
	const all = treeOf(figures.value);
	const widthOf = () => Math.max(Math.round(($("panel").clientWidth - 44) *
		(matchMedia("screen and (width > 700px)").matches ? 0.6 : 1)), 280);
	// what is allocated has the same blocks and bytes in two columns
	const shown = (_, i) => mode !== "allocated" || i < 2 || i > 3;
	return el("div", el("p", { id: "modes" }, MODES.map(([name, text]) =>
		[el("button", { "aria-pressed": String(mode === name),
			click: () => setMode(name) }, text), " "]),
	selection ? `Selected: ${time(selection.to - selection.from)} · ${grown()}`
		: "Whole log: drag over a track to select"),
	el("div.columns", el("div", el("p", el("b",
		memory.stacked ? "Stacks" : "Blocks"), ` ${figures.title}`),
	flameOf(all, widthOf, (n) => `${n.name}: ${bytes(n.value)}, ${
		show(n.value / (all.value || 1), "%")}`, true,
	`Stacks: ${all.name}; arrow keys choose a frame, Enter zooms, with Shift ` +
		"it shows one alone")),
	table(memory.stacked
		? `Functions that hold it, without allocators: ${figures.title}`
		: `By ${memory.noun.toLowerCase()}: ${figures.title}`,
		heads(`*${memory.noun}`, `#${MODES.find(([name]) => name === mode)[1]}`,
			"Blocks", "#Allocated", "Calls").filter(shown),
		rows.map(([h, r]) => {
			const name = memory.names[h - 1], l = memory.ranks.indexOf(h);
			const colour = `h${l < 0 ? OTHERS : l}`;
			return Object.assign([hueCell(name, colour), cell(r[0], el("span",
				{ class: `bar ${colour}`, style: `--part: ${
					100 * r[0] / (rows[0][1][0] || 1)}%` }, bytes(r[0]))),
			...r.slice(1)].filter(shown), { key: `f${h}` });
		}), ({ key }) => showAlone(key))));
}
