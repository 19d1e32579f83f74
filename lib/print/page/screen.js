// SPDX-License-Identifier: BSD-2-Clause
// The first screen of a log: live bytes in layers, rates, strips of sizes and
// lifetimes, pauses.  Its rows are tracks that come before all others.

const OTHERS = 6; // the layer of all that has no colour of its own
const CELL = 3; // pixels of a bar of a rate, and of a cell of a strip

// A row for a track of the log, or for one that only shows others: its name,
// what is below that, if not its parent, its height, paint(p, track, y, h),
// beside(time, track).
function addRow(row, t = { id: log.track.length, series: [], children: [],
	inner: [], unit: "", lines: 1, use: "first", path: row.name }) {
	const list = t.up ? t.up.children : log.roots;
	const at = log.roots.filter((r) => r.first).length;
	if (list.includes(t))
		list.splice(list.indexOf(t), 1);
	const below = row.below ?? baseName(t.up?.name ?? "");
	log.track[t.id] = Object.assign(t, { first: true, lanes: t.lanes ?? [t],
		level: 0, up: undefined }, row, { below });
	log.roots.splice(at, 0, t);
	return t;
}

const trackOf = (memory) => log.tracks.find((t) => t.memory === memory &&
	!t.owner);

// Three digits and a unit; bytes and nanoseconds are whole.
function brief3(v, unit) {
	const [n, u = ""] = show(v, unit).split(" ");
	return [/^(B|ns|\w{4,})?$/.test(u) || isNaN(n) ? n : n < 999.5
		? Number(n).toPrecision(3) : grouped.format(Math.round(n)), u];
}

const short = (v, unit) => brief3(v, unit).join(" ");

function showFacts(list) {
	$("facts").hidden = false;
	$("facts").replaceChildren(...list.filter(Boolean).map((
		[[v, unit], text, from, to]) => {
		const all = [el("b", v, " ", el("small", unit)), text];
		return el("p", from === undefined ? all : el("button",
			{ click: () => select(from, to) }, all));
	}));
}

// From when a curve was last at half of its peak, to the peak.
function climb(s) {
	const j = s ? s.max.indexOf(s.high) : -1;
	let i = j;
	while (i > 0 && s.min[i] > s.high / 2)
		i--;
	return j < 0 ? [] : [s.at[i] * s.width, Math.min((s.at[j] + 1) * s.width,
		log.span)];
}

// What stands beside a row: a name and a text; events of series in a region.
const item = (name, text) => el("li", el("span", name), text);

// whole: of all intervals that the region touches
function countIn(list) {
	const { from, to } = region();
	return show(Math.round(sum(list, (s) => s.whole
		? s.count[momentAt(to) + 1] - s.count[momentAt(from)]
		: total(s, "count", from, to))));
}

const swatch = (colour) => el("i", { class: `swatch ${colour}` });
const hueCell = (name, colour) => cell(name, el("span", { title: name },
	swatch(colour), baseName(name)));

const legend = (title, list, last) => [el("p", { id: "held" }, title),
	el("ul", { id: "legend" }, list.map(([layer, name, v]) => el("li",
		swatch(`h${layer}`), el("span", { title: name }, baseName(name)),
		short(v, "bytes"))), last)];

function paintAxis(p, list, yOf) {
	for (const [v, text] of list) {
		p.rect(0, Math.round(yOf(v)), p.width, 1, ink.line, 0.55);
		p.axes.push([yOf(v), text]);
	}
}

// A row of layers below a curve, with its peak.  layersOf(p): those from the
// base up, {layer, name, values: of each column}, which share its height.
const addLayers = ({ s, line, ...row }) => addRow({ height: 214, s, line,
	paint: paintLayers, top: Math.max(s?.high ?? 0, line?.high ?? 0, 1),
	...row }, s && log.track[s.track]);

function paintLayers(p, t, y, h) {
	const { s, top, line, layersOf, peak } = t, layers = layersOf(p);
	const { width, dpr, xOf } = p, high = h - 24 * dpr;
	const yOf = (v) => y + h - Math.round(v / top * high);
	const end = Math.min(width, Math.floor(xOf(log.span)) + 1);
	const sums = new Float64Array(width);
	const highest = s ? curveOf(s, p).high : sums;
	for (const { values } of layers)
		for (let x = 0; x < end; x++)
			sums[x] += values[x];
	const part = new Float64Array(width);
	let base = new Float64Array(width).fill(y + h);
	for (const l of layers) {
		const edge = base.slice();
		for (let x = 0; x < end; x++) {
			part[x] += l.values[x];
			edge[x] = yOf(sums[x] ? highest[x] * part[x] / sums[x] : 0);
		}
		paintArea(p, edge, base, ink[`h${l.layer}`],
			lit === undefined || lit === l.layer ? 1 : 0.28, end);
		nameLayer(p, l, base, edge);
		Object.assign(l, { base, edge });
		base = edge;
	}
	if (p.pixels)
		t.layers = layers;
	if (line) {
		const at = curveOf(line, p).high.map(yOf);
		const last = (v, x) => at[x - 1] ?? v;
		paintArea(p, at.map((v, x) => Math.min(v, last(v, x))),
			at.map((v, x) => Math.max(v, last(v, x)) + dpr), ink.fg, 1, end);
	}
	const step = 2 ** Math.floor(Math.log2(top / 2)), list = [];
	for (let v = step; step && v <= top; v += step)
		list.push([v, bytes(v)]);
	paintAxis(p, list, yOf);
	if (peak)
		paintNote(p, t, ...peak, y, h);
}

let lit; // the layer that the pointer is at: others fade

function light(layer) {
	if (lit !== layer) {
		lit = layer;
		refresh();
	}
}

// The layer of what is in a list, a table or a stack.
function layerBeside({ target }) {
	const box = target.closest("#legend li, .columns tr, .frame");
	const now = /\bh(\d)$/.exec(box?.querySelector(".swatch, rect")
		?.getAttribute("class"))?.[1];
	return now && Number(now);
}

// What of the first rows is at a pixel: a layer; a note.
function layerAt({ x, y }, t) {
	const dpr = devicePixelRatio, i = Math.floor(x * dpr);
	return t?.layers?.find(({ base, edge }) => y * dpr < base[i] &&
		y * dpr >= edge[i]);
}

const isNote = ({ x, y }, { note: [left, top, width] = [] } = {}) =>
	x >= left && x < left + width && y >= top && y < top + LINE;

// The name of a layer, where it is thickest for as long as that.
function nameLayer(p, { layer, name }, base, edge) {
	const { width, dpr } = p, text = baseName(name);
	const w = Math.ceil(textWidth(text));
	const step = Math.ceil(width / 64);
	let best = 0, at;
	for (let x = step; x + w < width; x += step) {
		if (base[x] - edge[x] < 15 * dpr)
			continue;
		const low = Math.min(...base.subarray(x, x + w));
		const up = Math.max(...edge.subarray(x, x + w));
		// rather in the middle than where it is thicker still
		const fits = Math.min((low - up) / dpr, 60) -
			20 * Math.abs(x + w / 2 - width / 2) / width;
		if (low - up >= 15 * dpr && fits > best) {
			best = fits;
			at = [x, Math.round((low + up) / 2) + 4 * dpr];
		}
	}
	if (at)
		p.text(...at, text, textOn(ink[`h${layer}`]));
}

// An upright line with a note on that side of it which has room.
function paintNote(p, row, t, text, y, h) {
	const { width, dpr, xOf } = p;
	const x = Math.min(Math.round(xOf(t)), Math.floor(xOf(log.span)) - 1);
	const w = textWidth(text);
	row.note = undefined;
	if (x < 0 || x >= width)
		return;
	const left = x > w + 8 * dpr ? x - w - 6 * dpr : x + 6 * dpr;
	row.note = [left, y, w].map((n) => n / dpr);
	p.line(`M${x} ${y}${`v${3 * dpr}m0 ${3 * dpr}`.repeat(h / 6 / dpr)}`, dpr,
		ink.fg);
	p.text(left, y + 12 * dpr, text, ink.fg);
}

// Cells of some pixels, which keep still while the view moves: the sums of
// each series, and where they are.
function cellsOf({ width, from, step, dpr, cells }, list) {
	const w = Math.max(Math.round(CELL * dpr), 1), wide = step * w;
	const first = Math.floor(from / wide);
	const frame = { from: first * wide, step: wide,
		width: Math.ceil(width / w) + 1 };
	for (const s of list)
		if (!cells.has(s))
			cells.set(s, columns(frame, s, "count"));
	return { w, sums: list.map((s) => cells.get(s)),
		xAt: (i) => Math.round((first * wide - from) / step) + i * w };
}

// Bars of {s, type, ink} from a line up, or down where size is negative, as
// high as the logarithm of all; none where pixels show the events themselves.
// busiest: what the largest is compared with; returns its rate.
function paintBars(p, list, line, size, covered = [], busiest = 0) {
	const full = (l) => l.ink ? 1 : strength(l.type), parts = list.filter(full);
	const pixels = parts.map((l) => shade(l.ink ?? l.type?.ink ?? ink.dim,
		full(l)));
	const { w, sums, xAt } = cellsOf(p, parts.map((l) => l.s));
	const all = new Float64Array(sums[0]?.length ?? 0), up = Math.sign(size);
	for (const list of sums)
		for (let i = 0; i < all.length; i++)
			all[i] += list[i];
	const most = mostOf([all]);
	const scale = Math.abs(size) / Math.log10(1 + Math.max(most, busiest));
	all.forEach((n, i) => {
		const high = n < 1e-9 || covered[Math.max(xAt(i), 0)] ? 0
			: up * Math.max(Math.log10(1 + n) * scale, p.dpr);
		let sum = 0, from = line;
		for (let k = parts.length; high && k-- > 0;) {
			if (!sums[k][i])
				continue;
			sum += sums[k][i];
			const to = Math.round(line - high * sum / n);
			p.fill(xAt(i), Math.min(from, to), w - p.dpr, Math.abs(from - to),
				pixels[k]);
			from = to;
		}
	});
	return clock === "ns" ? `${mark(most / w / p.step * 1e9)}/s` : "";
}

function paintRate(p, { both: [s, down] }, y, h) {
	const most = mostOf(cellsOf(p, [s, down]).sums), half = Math.round(h / 2);
	p.axes.push([y + 6 * p.dpr, paintBars(p, [{ s, ink: ink.fg }], y + half,
		half - 2, [], most)], [y + h - 6 * p.dpr, paintBars(p,
		[{ s: down, ink: ink.dim }], y + half + 1, 2 - half, [], most)]);
}

function paintTypes(p, { types }, y, h) {
	const rate = paintBars(p, types, y + h, h - 2 * p.dpr);
	if (h > 60 * p.dpr)
		p.axes.push([y + 6 * p.dpr, rate]);
}

// A strip for each power of two, the larger values above, or for each name.
function paintHeat(p, { series, unit, first: isFirst }, y, h) {
	const numbers = series.map((s) => s.row), low = Math.min(...numbers);
	const all = Math.max(...numbers) - low + 1;
	const { w, xAt, sums } = cellsOf(p, series);
	const most = Math.log2(1 + mostOf(sums));
	// fainter, as it is not of what is alone
	const full = isFirst && memory?.alone ? 0.28 : 1;
	const yOf = (row) => y + h - Math.round((row - low) * h / all);
	numbers.forEach((row, n) => {
		const top = yOf(row + 1), high = Math.max(yOf(row) - top, 1);
		for (let i = 0; i < sums[n].length; i++)
			if (sums[n][i] > 1e-9)
				p.rect(xAt(i), top, w, high, ink.fg, full *
					(0.1 + 0.9 * Math.log2(1 + sums[n][i]) / most));
	});
	if (series[0]?.name)
		return series.forEach(({ row, name }) => p.axes.push([(yOf(row) +
			yOf(row + 1)) / 2, fit(name, (row > -4 ? 95 : 160) * p.dpr)]));
	const apart = Math.ceil(all * 18 * p.dpr / h);
	// decades of times, powers of two of all else
	const step = unit === "ns" ? Math.log2(10) * Math.ceil(apart / 3.3) : apart;
	const first = step * Math.ceil(Math.max(low - 1, 1) / step);
	const list = [];
	for (let v = first; yOf(v + 1) > y + 12 * p.dpr; v += step)
		list.push([v + 1, show(Math.round(2 ** v), unit)]);
	return h >= 60 * p.dpr && paintAxis(p, list, yOf);
}

// Bars beside a row: {y, high, n, title, colour}, the longest with its number.
function besideBars(height, label, list) {
	const most = Math.max(...list.map(({ n }) => n));
	const all = sum(list, ({ n }) => n);
	return el("svg", { height, role: "img", "aria-label":
		`${label}: ${count(all, "value")}` }, all === 0 ? el("text",
		{ y: height / 2 }, "none here") : list.map(
		({ y, high, n, title, colour, click }) => [el("rect", { y, click,
			class: colour, width: `${40 * n / most}%`,
			height: Math.max(high - 1, 1) },
		el("title", `${title}: ${show(n)}`)),
		n === most && !colour && el("text", { x: "43%",
			y: between(y + high / 2 + 4, 10, height - 4) },
		`${show(n)}  ${Math.round(100 * n / all)}%`)]));
}

// The same as a strip without time, on its axis.
function besideStrip(_, { series, name, unit, height, memory: of }) {
	const { from, to } = region(), numbers = series.map((s) => s.row);
	const low = Math.min(...numbers);
	const high = height / (Math.max(...numbers) - low + 1);
	return besideBars(height, name, series.map((s) => ({ high,
		y: height - (s.row - low + 1) * high,
		n: Math.round(total(s, "count", from, to)),
		title: s.name ?? rowName(s.row, unit),
		click: of === "sizes" && log.types.some((t) =>
			measureOf(t)?.name === "size") && (() =>
			find(`size in (${s.row && 2 ** (s.row - 1)}..${
				2 ** s.row - 1})`)) })));
}

const addStrip = (t, name, below, height = 82) => t?.series.length &&
	addRow({ name, below, height, beside: besideStrip, paint: paintHeat }, t);

function addBlocks() {
	const sizes = trackOf("sizes"), lifetimes = trackOf("lifetimes");
	const both = [sizes, lifetimes].map((t) => joined(t?.series ?? []));
	const rate = both[0].at.length > 0 &&
		addRow({ name: "Rate", below: "log height", height: 58, both,
			paint: paintRate, beside: (_, t) => el("ul",
				["allocated, up", "freed, down"].map((name, i) =>
					item(name, countIn([t.both[i]])))) });
	addStrip(sizes, "Sizes", "of new blocks");
	addStrip(lifetimes, "Lifetimes", "of freed blocks");
	return rate;
}
