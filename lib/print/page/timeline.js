// SPDX-License-Identifier: BSD-2-Clause
// The timeline of a log: tracks over time, drawn from sums where many events
// share a pixel, and from the events themselves where they do not.
"use strict";

const LIMIT = 60000; // events that a frame draws one by one
const CACHE = 1 << 18; // events that stay decoded
const RULER = 26, LINE = 18; // pixels of CSS
const PALETTE = 10; // colours --c0 to --c9

let log; // the head of the page
let rows = []; // what is shown: {track, y, height, level}
let place = []; // by track: {row, y: of its lane}; undefined if folded away
let used = []; // decoded blocks that are drawn
let colours; // by the names in the style sheet, as pixels
let view = { from: 0, to: 1 };
let undo = [], redo = [];
let selection = null; // {from, to, track: or 0}
let marks = []; // up to two times
let chosen = null; // a LogEvent
let chosenTrack = 0;
let query = null; // {text, test, version}
let pointer = null; // where it is, {x, y}
let frames = []; // how long the last ones took, in ms

// ------------------------------------------------------------------ events

// One event of a block, as search and tables see it.
class LogEvent {
	constructor(group, i) {
		this.group = group;
		this.i = i;
	}

	get time() { return this.group.time[this.i]; }
	get end() { return this.time + Math.max(this.group.length[this.i] - 1, 0); }
	get track() { return log.track[this.group.track[this.i]]; }
	get name() { return nameOf(this.group, this.i); }

	get(name, field) {
		const { type, fields, labels, length, strings } = this.group;
		if (!field) {
			if (name === "kind" || name === "code")
				return type[name];
			if (name === "name")
				return type.name;
			if (name === "time")
				return this.time;
			if (name === "label")
				return this.labels()[0];
			if (name === "track")
				return this.track.name;
			if (name === "duration" && length[this.i])
				return length[this.i] - 1;
		}
		const f = type.fields.findIndex((f) => f.name === name);
		if (f >= 0)
			return type.fields[f].type === "string"
				? strings[fields[f][this.i]] : fields[f][this.i];
		const l = type.fields.findIndex((f) => `label of ${f.name}` === name);
		return labels[l] && strings[labels[l][this.i] - 1];
	}

	labels() {
		return this.group.labels.map((l) => this.group.strings[l[this.i] - 1])
			.filter((s) => s !== undefined);
	}

	strings() {
		return [this.name, this.group.type.name, this.track.name,
			...this.labels(), ...this.group.type.fields.filter(
				(f) => f.type === "string").map((f) => this.get(f.name, true))];
	}

	// Its fields as text, by name.
	texts() {
		return this.group.type.fields.map((f, n) => {
			const v = this.get(f.name, true), label =
				this.group.labels[n] &&
				this.group.strings[this.group.labels[n][this.i] - 1];
			const text = f.type === "hex" ? `0x${v.toString(16)}`
				: f.type === "bool" ? String(Boolean(v))
				: show(v, f.unit);
			return [f.name, label === undefined ? text
				: `${text} (${label})`];
		});
	}
}

function nameOf(group, i) {
	return group.strings[group.name[i] - 1] ?? group.type.name;
}

function decode(block, bytes) {
	const b = new Bytes(bytes), groups = [];
	for (let left = b.varint(); left > 0; left--) {
		const type = log.types[b.varint()], n = b.varint();
		const g = { type, n, time: b.deltas(n, block.from),
			track: b.deltas(n), length: b.plain(n),
			name: b.plain(n, Int32Array), fields: [], labels: [],
			depth: new Int16Array(n), match: null, version: -1, block };
		type.fields.forEach((f, i) => {
			g.fields[i] = f.type === "string" ? b.plain(n, Int32Array)
				: f.type === "double" ? b.doubles(n)
				: b.deltas(n, 0, !/^(int|time)$/.test(f.type));
			if (f.labels)
				g.labels[i] = b.plain(n, Int32Array);
		});
		groups.push(g);
	}
	const strings = b.strings();
	for (const g of groups)
		g.strings = strings;
	return groups;
}

// The groups of a block, decoded when they are needed.
async function load(block) {
	block.age = ++log.age;
	if (!block.groups && !block.coming)
		block.coming = bytesOf(`b${block.block}`).then((bytes) => {
			block.groups = decode(block, bytes);
			block.coming = null;
			log.decoded += block.events;
			forget();
		});
	await block.coming;
	return block.groups;
}

// How many events a time has in blocks, about.
const eventsIn = (list, from, to) => list.reduce((n, b) => n + b.events *
	Math.max(Math.min(b.to, to) - Math.max(b.from, from), 0) /
	(b.to - b.from || 1), 0);

// The blocks that were not used for the longest time go first.
function forget() {
	if (log.decoded <= CACHE)
		return;
	const old = log.blocks.filter((b) => b.groups && !used.includes(b))
		.sort((a, b) => a.age - b.age);
	for (const b of old) {
		if (log.decoded <= CACHE / 2)
			break;
		b.groups = null;
		log.decoded -= b.events;
	}
}

const blocksIn = (from, to) => log.blocks.filter((b) =>
	!b.long && (b.start ?? b.from) <= to && (b.hi ?? b.to) >= from);

// True if all events of a time are in blocks.
function isExact(from, to) {
	if (log.exact >= log.events)
		return true;
	let at = from;
	for (const b of blocksIn(from, to)) {
		if (b.from > to)
			break;
		if (b.from > at)
			return false;
		at = Math.max(at, b.to);
	}
	return at >= to;
}

// Calls f(group, i) for each event that starts in a time, on a track or below.
async function each(from, to, track, f) {
	const below = track && new Set(descend(log.track[track]).map((t) => t.id));
	for (const block of blocksIn(from, to)) {
		for (const g of await load(block)) {
			for (let i = 0; i < g.n; i++) {
				if (g.time[i] >= from && g.time[i] <= to &&
					(!below || below.has(g.track[i])) && shown(g, i))
					f(g, i);
			}
		}
	}
}

const descend = (t) => [t, ...t.lanes.slice(1), ...t.children.flatMap(descend)];

// -------------------------------------------------------------------- sums

// The first place in a sorted list whose number is not less.
function lower(list, v) {
	let low = 0, high = list.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (list[middle] < v)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// Series are sparse: s.at has the numbers of the buckets that are there.
async function loadSeries(s) {
	// they come in the order of their blocks, and share them
	if (log.last?.block !== s.block)
		log.last = { block: s.block, bytes: bytesOf(`b${s.block}`) };
	const b = new Bytes(await log.last.bytes), k = s.k ?? s.n;
	let at = 0;
	b.at = s.offset || 0;
	s.at = s.k === undefined ? Int32Array.from({ length: k }, (_, i) => i)
		: b.plain(k, Int32Array).map((step) => at += step);
	s.kind = s.type >= 0 ? log.types[s.type] : null;
	for (const name of s.columns) {
		if (name === "count" || name === "busy") {
			// running totals: any range is a difference
			const sum = s[name] = new (name === "count" &&
				log.events < 2 ** 32 ? Uint32Array : Float64Array)(k + 1);
			b.plain(k).forEach((v, i) => { sum[i + 1] = sum[i] + v; });
		} else {
			const list = b.deltas(k);
			s[name] = list.buffer ? list : Float64Array.from(list, Number);
		}
	}
	s.counter = !!s.last;
	if (s.counter) {
		s.low = s.min.reduce((a, v) => Math.min(a, v), 0);
		s.high = s.max.reduce((a, v) => Math.max(a, v), s.low);
	}
	log.track[s.track].series.push(s);
}

// The sum of a column from one time to another.
function total(s, column, from, to) {
	const sum = s[column], until = (time) => {
		const p = Math.max(time / s.width, 0), i = Math.floor(p);
		const j = lower(s.at, i);
		return sum[j] + (s.at[j] === i ? (p - i) * (sum[j + 1] - sum[j]) : 0);
	};
	return sum ? until(to) - until(from) : 0;
}

// The same for each pixel of a frame.
function columns(frame, s, column, out) {
	const sum = s[column], { at } = s, k = at.length;
	const scale = frame.step / s.width, first = frame.from / s.width;
	let before = 0, j = lower(at, Math.floor(first));
	for (let x = 0; x <= frame.width; x++) {
		const p = first + x * scale, i = Math.floor(p);
		while (j < k && at[j] < i)
			j++;
		const v = j < k && at[j] === i
			? sum[j] + (p - i) * (sum[j + 1] - sum[j]) : sum[j];
		if (x > 0)
			out[x - 1] = v - before;
		before = v;
	}
	return out;
}

// The value of a counter at a time.
const valueAt = (s, time) =>
	s.last[lower(s.at, Math.floor(time / s.width) + 1) - 1] ?? 0;

// ------------------------------------------------------------------ tracks

function makeTracks() {
	const lanes = new Map();
	log.track = [];
	log.roots = [];
	for (const t of log.tracks) {
		const up = log.track[t.parent];
		Object.assign(t, { up, children: [], series: [], lanes: [t],
			depth: 1, folded: false, level: up ? up.level + 1 : 0 });
		log.track[t.id] = t;
		const key = `${t.parent} ${t.name}`;
		if (t.use === "ranges" && lanes.has(key)) {
			// ranges that overlap share a row
			lanes.get(key).lanes.push(t);
			continue;
		}
		if (t.use === "ranges")
			lanes.set(key, t);
		(up ? up.children : log.roots).push(t);
	}
	const many = log.tracks.length > 200;
	for (const t of log.tracks)
		t.folded = many && t.level > 0 && t.children.length > 0;
}

const isPlot = (t) => /^(count|bytes|heat)$/.test(t.use);

function heightOf(t) {
	if (t.use === "ranges")
		return LINE * t.lanes.reduce((n, l) => n + l.depth, 0) + 4;
	if (t.use === "heat")
		return Math.min(Math.max(t.series.length * 4, 40), 120);
	return isPlot(t) ? 44 : t.series.length || t.folded ? 30 : 22;
}

// Places the rows; where there is room to spare, plots take it.
function arrange() {
	rows = [];
	const visit = (t) => {
		rows.push({ track: t, height: heightOf(t) });
		if (!t.folded)
			t.children.forEach(visit);
	};
	log.roots.forEach(visit);
	const room = $("area").clientHeight - RULER -
		rows.reduce((n, r) => n + r.height, 0);
	const grow = rows.filter((r) => isPlot(r.track) || r.height === 30);
	for (const r of grow)
		if (room > 0)
			r.height += Math.floor(Math.min(room / grow.length,
				r.height * (isPlot(r.track) ? 4 : 1)));
	let y = 0;
	place = [];
	for (const r of rows) {
		r.y = y;
		y += r.height;
		let lane = 2;
		for (const t of r.track.lanes) {
			place[t.id] = { row: r, y: lane };
			lane += LINE * t.depth;
		}
	}
	$("spacer").style.height = `${y + RULER}px`;
}

// Ranges that overlap on a track: each takes the first free line.
function stack() {
	const lists = new Map();
	for (const block of used) {
		for (const g of block.groups) {
			for (let i = 0; i < g.n; i++) {
				if (!g.length[i])
					continue;
				if (!lists.has(g.track[i]))
					lists.set(g.track[i], []);
				lists.get(g.track[i]).push({ g, i, from: g.time[i],
					to: g.time[i] + g.length[i] - 1 });
			}
		}
	}
	for (const [id, list] of lists) {
		const free = [];
		let last = {};
		list.sort((a, b) => a.from - b.from || b.to - a.to);
		for (const r of list) {
			// the longest are in a block of their own a second time
			if (r.from === last.from && r.to === last.to &&
				r.g.block !== last.g.block &&
				r.g.type === last.g.type) {
				r.g.depth[r.i] = -1;
				continue;
			}
			last = r;
			let d = free.findIndex((end) => end <= r.from);
			if (d < 0)
				d = free.length;
			free[d] = Math.max(r.to, r.from + 1);
			r.g.depth[r.i] = d;
		}
		if (log.track[id])
			log.track[id].depth = Math.min(free.length, 32);
	}
}

// Decides what is drawn event by event, and gets it.
function choose() {
	const list = blocksIn(view.from, view.to);
	const n = eventsIn(list, view.from, view.to);
	const want = log.blocks.filter((b) => b.long)
		.concat(n <= LIMIT ? list : []);
	const missing = want.filter((b) => !b.groups);
	const coming = Promise.all(missing.map(load));
	if (missing.length)
		coming.then(refresh, fail);
	const now = want.filter((b) => b.groups);
	for (const b of now)
		b.age = ++log.age;
	if (now.length !== used.length || now.some((b, i) => b !== used[i])) {
		used = now;
		stack();
		arrange();
	}
	return coming;
}

// ---------------------------------------------------------------- painters

// Both have rect(x, y, width, height, colour), whose colours are numbers of
// log.paint, and text().  Pixels are some ten times faster than paths.
class Pixels {
	constructor(context, width, height) {
		this.context = context;
		this.width = width;
		this.height = height;
		if (!log.image || log.image.width !== width ||
			log.image.height !== height)
			log.image = new ImageData(width, height);
		this.px = new Uint32Array(log.image.data.buffer);
		this.px.fill(log.paint[0]);
		this.late = [];
	}

	rect(x, y, w, h, colour) {
		const x1 = Math.min(x + w, this.width);
		const y1 = Math.min(y + h, this.height);
		const c = log.paint[colour], { px, width } = this;
		x = Math.max(x, 0);
		for (y = Math.max(y, 0); y < y1; y++) {
			const end = y * width + x1;
			let at = y * width + x;
			if (x1 - x > 16)
				px.fill(c, at, end);
			else
				while (at < end)
					px[at++] = c;
		}
	}

	text(x, y, text, colour) {
		this.late.push([x, y, text, colour]);
	}

	flush() {
		this.context.putImageData(log.image, 0, 0);
		for (const [x, y, text, colour] of this.late) {
			this.context.fillStyle = log.css[colour];
			this.context.fillText(text, x, y);
		}
		this.late = [];
	}
}

class Svg {
	constructor(width, height) {
		this.width = width;
		this.height = height;
		this.paths = new Map();
		this.texts = [];
	}

	rect(x, y, w, h, colour) {
		let p = this.paths.get(colour);
		if (!p)
			this.paths.set(colour, p = { d: [], last: {} });
		const l = p.last;
		if (l.y === y && l.h === h && l.x + l.w === x)
			l.w += w;
		else
			p.d.push(p.last = { x, y, w, h });
	}

	text(x, y, text, colour) {
		const s = text.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`)
			// eslint-disable-next-line no-control-regex
			.replace(/[^\t\x20-\ud7ff\ue000-\ufffd]/g, "\ufffd");
		this.texts.push(`<text x="${x}" y="${y}" fill="${
			log.css[colour]}">${s}</text>`);
	}

	flush() {}

	toString(left) {
		const d = (list) => list.map((r) =>
			`M${r.x} ${r.y}h${r.w}v${r.h}h${-r.w}z`).join("");
		return `<svg xmlns="http://www.w3.org/2000/svg" width="${
			this.width + left}" height="${this.height}" font-family="${
			"system-ui, sans-serif"}" font-size="11"><rect width="100%"` +
			` height="100%" fill="${log.css[0]}"/>` +
			`<svg x="${left}" width="${this.width}">` +
			[...this.paths].map(([c, p]) =>
				`<path fill="${log.css[c]}" d="${d(p.d)}"/>`).join("") +
			this.texts.join("") + "</svg>";
	}
}

// Colours are numbers: 0 background, 1 text, 2 dim, 3 line, 4 grid, 5 accent,
// 6 on a colour, 7 bar, then those of the palette, each in SHADES steps from
// the background to itself.
const SHADES = 16, FIRST = 8;
const shade = (colour, part) => FIRST + colour * SHADES +
	Math.min(Math.max(Math.round(part * (SHADES - 1)), 0), SHADES - 1);

// The browser resolves the colours of the theme; scripts can't.
function readColours() {
	const probe = el("i");
	const rgb = (name) => {
		probe.style.color = `var(--${name})`;
		return getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
	};
	document.body.append(probe);
	const list = ["bg", "fg", "dim", "line", "grid", "accent", "on", "bar"]
		.map(rgb);
	const own = log.types.filter((t) => t.own);
	own.forEach((t, i) => { t.color = PALETTE + i; });
	const all = [...Array(PALETTE).keys()].map((i) => rgb(`c${i}`)).concat(
		own.map((t) => t.own.match(/[\da-f]{2}/gi).map((h) =>
			parseInt(h, 16))));
	probe.remove();
	for (const c of all) {
		for (let i = 0; i < SHADES; i++)
			list.push(c.map((v, j) => Math.round(list[0][j] +
				(v - list[0][j]) * i / (SHADES - 1))));
	}
	log.css = list.map(([r, g, b]) => `rgb(${r},${g},${b})`);
	log.paint = list.map(([r, g, b]) =>
		(255 << 24 | b << 16 | g << 8 | r) >>> 0);
}

function hash(text) {
	let h = 0;
	for (let i = 0; i < text.length; i++)
		h = Math.imul(h, 31) + text.charCodeAt(i) | 0;
	return (h >>> 0) % (PALETTE - 1);
}

// A range of its own name has the colour of that name.
function colourOf(g, i) {
	const { type } = g, name = g.name[i] && nameOf(g, i);
	return g.length[i] && name && !type.own && name !== type.name
		? hash(name) : type.color;
}

// ----------------------------------------------------------------- drawing

function draw() {
	const canvas = $("canvas"), dpr = window.devicePixelRatio || 1;
	const w = Math.max(Math.round($("area").clientWidth * dpr), 1);
	const h = Math.max(Math.round($("area").clientHeight * dpr), 1);
	const began = performance.now();
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		arrange();
	}
	const c = log.context;
	c.font = `${11 * dpr}px system-ui, "DejaVu Sans", sans-serif`;
	const p = new Pixels(c, w, h);
	paint(p, dpr, $("scroll").scrollTop);
	overlay(c, dpr);
	frames.push(performance.now() - began);
	if (frames.length > 500)
		frames.shift();
}

let asked = false;

function refresh() {
	if (asked)
		return;
	asked = true;
	requestAnimationFrame(() => {
		asked = false;
		choose();
		draw();
		drawTree();
		settle();
	});
}

function paint(p, dpr, scroll) {
	const frame = { width: p.width, from: view.from, dpr,
		step: (view.to - view.from) / p.width,
		top: Math.round(RULER * dpr), covered: covered(p.width) };
	ruler(p, frame);
	for (const r of rows) {
		const y = frame.top + Math.round((r.y - scroll) * dpr);
		const h = Math.round(r.height * dpr);
		if (y + h < frame.top || y > p.height)
			continue;
		if (r.track.use === "log")
			p.rect(0, y, p.width, h, 7);
		p.rect(0, y + h - 1, p.width, 1, 3);
		paintSums(p, frame, r, y, h - 2);
	}
	paintEvents(p, frame, scroll);
	p.rect(0, 0, p.width, frame.top, 7);
	p.rect(0, frame.top - 1, p.width, 1, 3);
	for (const [x, text] of frame.ticks)
		p.text(x + 4 * dpr, 17 * dpr, text, 2);
	p.flush();
}

// Steps of 1, 2 or 5, at least 100 pixels apart.
function ruler(p, frame) {
	const least = frame.step * 110 * frame.dpr;
	const ten = 10 ** Math.floor(Math.log10(least));
	const step = ten * [1, 2, 5, 10].find((n) => n * ten >= least);
	frame.ticks = [];
	for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
		const x = Math.round((t - view.from) / frame.step);
		p.rect(x, frame.top, 1, p.height, 4);
		frame.ticks.push([x, time(t, step)]);
	}
}

// Which pixels show events themselves: 1 where all of them are there.
function covered(width) {
	const out = new Uint8Array(width), scale = width / (view.to - view.from);
	const list = used.filter((b) => !b.long);
	if (list.length && log.exact >= log.events)
		return out.fill(1);
	for (const b of list)
		out.fill(1, Math.max(Math.ceil((b.from - view.from) * scale), 0),
			Math.max(Math.floor((b.to - view.from) * scale), 0));
	return out;
}

const scratch = [];

function scratchOf(i, width) {
	if (!scratch[i] || scratch[i].length !== width)
		scratch[i] = new Float64Array(width);
	return scratch[i];
}

const fades = (type) => query && type && query.types.get(type) === false;

function paintSums(p, frame, r, y, h) {
	const t = r.track;
	if (t.use === "heat")
		paintHeat(p, frame, t.series, y, h);
	else if (isPlot(t))
		paintCounter(p, frame, t, y, h);
	else if (t.folded)
		paintCounts(p, frame, descend(t).flatMap((d) => d.series)
			.filter((s) => s.count && !s.counter), y, h, false);
	else if (t.use === "ranges")
		paintBusy(p, frame, r, y);
	else
		paintCounts(p, frame, t.series, y, h, true);
}

// Events in a pixel, stacked by type; heights grow as square roots, so that
// one event is seen beside thousands.
function paintCounts(p, frame, list, y, h, hole) {
	const { width, covered } = frame;
	const sums = scratchOf(0, width).fill(0);
	list = list.filter((s) => total(s, "count", view.from, view.to) > 0 &&
		!($("only").checked && fades(s.kind)));
	list.forEach((s, n) => {
		const out = columns(frame, s, "count", scratchOf(n + 1, width));
		for (let x = 0; x < width; x++)
			sums[x] += out[x];
	});
	let most = 0;
	for (let x = 0; x < width; x++)
		most = Math.max(most, sums[x]);
	// powers of two, so that heights keep still while the view moves
	most = 2 ** Math.ceil(Math.log2(most || 1));
	const colour = list.map((s) => shade(s.kind ? s.kind.color : 0,
		fades(s.kind) ? 0.25 : 1));
	for (let x = 0; x < width; x++) {
		if (sums[x] < 1e-9 || (hole && covered[x]))
			continue;
		const full = Math.max(Math.sqrt(sums[x] / most) * h, 2);
		let bottom = y + h, sum = 0;
		for (let n = 0; n < list.length; n++) {
			sum += scratch[n + 1][x];
			const top = y + h - Math.round(full * sum / sums[x]);
			if (top < bottom)
				p.rect(x, top, 1, bottom - top, colour[n]);
			bottom = Math.min(bottom, top);
		}
	}
}

// Ranges in a pixel: the more of its time they fill, the stronger.
function paintBusy(p, frame, r, y) {
	const { width, covered, step, dpr } = frame;
	const size = Math.round((LINE - 2) * dpr);
	for (const lane of r.track.lanes) {
		const top = y + Math.round(place[lane.id].y * dpr);
		for (const s of lane.series) {
			if (!s.busy || ($("only").checked && fades(s.kind)))
				continue;
			const busy = columns(frame, s, "busy", scratchOf(0, width));
			const count = columns(frame, s, "count", scratchOf(1, width));
			const colour = s.kind ? s.kind.color : 0;
			const most = fades(s.kind) ? 0.25 : 1;
			for (let x = 0; x < width; x++) {
				if (covered[x] || (busy[x] < 1e-9 && count[x] < 1e-9))
					continue;
				p.rect(x, top, 1, size, shade(colour, most *
					(0.2 + 0.8 * Math.min(busy[x] / step, 1))));
			}
		}
	}
}

function paintCounter(p, frame, t, y, h) {
	const { width, from, step, dpr } = frame, colour = hash(t.name);
	const line = Math.max(Math.round(1.5 * dpr), 1);
	const end = Math.min(width, Math.ceil((log.span - from) / step) + 1);
	for (const s of t.series.filter((s) => s.counter)) {
		const scale = (h - 4 * dpr) / (s.high - s.low || 1), { at } = s;
		const up = (v) => y + h - Math.round((v - s.low) * scale);
		const base = up(0), first = Math.max(Math.ceil(-from / step), 0);
		let j = lower(at, Math.floor((from + first * step) / s.width));
		let value = s.last[j - 1] ?? 0;
		for (let x = first; x < end; x++) {
			const stop = (from + (x + 1) * step) / s.width;
			let low = value, high = value;
			for (; j < at.length && at[j] < stop; j++) {
				low = Math.min(low, s.min[j]);
				high = Math.max(high, s.max[j]);
				value = s.last[j];
			}
			const top = up(high), bottom = Math.max(up(low), top + line);
			p.rect(x, Math.min(top, base), 1, Math.abs(base - top),
				shade(colour, 0.3));
			p.rect(x, top - line, 1, bottom - top, shade(colour, 1));
		}
	}
}

function paintHeat(p, frame, list, y, h) {
	const { width, step } = frame, out = scratchOf(0, width);
	list.forEach((s, n) => {
		const top = y + Math.round(h * (list.length - 1 - n) / list.length);
		const low = y + Math.round(h * (list.length - n) / list.length);
		columns(frame, s, "count", out);
		for (let x = 0; x < width; x++)
			if (out[x] > 1e-9)
				p.rect(x, top, 1, low - top, shade(0, 0.1 + 0.9 *
					Math.log2(1 + out[x] * s.width / step) /
					Math.log2(1 + (s.top ??= topOf(list)))));
	});
}

// The most that a bucket of several series has.
function topOf(list) {
	let most = 0;
	for (const s of list)
		for (let i = 0; i < s.at.length; i++)
			most = Math.max(most, s.count[i + 1] - s.count[i]);
	return most;
}

function paintEvents(p, frame, scroll) {
	const { dpr, step, top } = frame, only = $("only").checked;
	const line = Math.round(LINE * dpr), seen = [];
	const labels = [];
	for (const block of used) {
		for (const g of block.groups) {
			const match = matches(g);
			for (let i = 0; i < g.n; i++) {
				const at = place[g.track[i]];
				if (!at || (only && match && !match[i]) || g.depth[i] < 0)
					continue;
				const x = Math.round((g.time[i] - view.from) / step);
				const full = match && !match[i] ? 0.25 : 1;
				const y = top + Math.round((at.row.y - scroll) * dpr);
				const ranges = at.row.track.use === "ranges";
				if (x >= p.width || y > p.height)
					continue;
				if (!g.length[i]) {
					// one pixel shows one instant of a colour
					const c = shade(g.type.color, full);
					if (x < 0 || block.long ||
						seen[g.track[i]] === x * 1024 + c)
						continue;
					seen[g.track[i]] = x * 1024 + c;
					p.rect(x, y + 3, Math.max(Math.round(dpr), 1),
						Math.round(at.row.height * dpr) - 7, c);
					continue;
				}
				const end = Math.round((g.time[i] + g.length[i] - 1 -
					view.from) / step);
				const w = Math.max(end - x, 1);
				if (end < 0 || (block.long && w < 3) || !ranges)
					continue;
				const colour = colourOf(g, i);
				const low = y + Math.round(at.y * dpr) +
					Math.min(g.depth[i], 31) * line;
				// a gap tells neighbours apart
				p.rect(x, low, w > 3 ? w - 1 : w, line - 2,
					shade(colour, full));
				if (w > 24 * dpr)
					labels.push([Math.max(x, 0), low, Math.min(end,
						p.width), nameOf(g, i), full]);
			}
		}
	}
	for (const [x, y, end, text, full] of labels) {
		const cut = fit(text, end - x - 9 * dpr);
		if (cut && y > top - line)
			p.text(x + 4 * dpr, y + line - 6 * dpr, cut, full < 1 ? 2 : 6);
	}
}

const widths = new Map();

// A text, cut to a width.
function fit(text, room) {
	const measure = (s) => {
		const key = `${log.context.font} ${s}`;
		if (!widths.has(key)) {
			if (widths.size > 5000)
				widths.clear();
			widths.set(key, log.context.measureText(s).width);
		}
		return widths.get(key);
	};
	const w = measure(text);
	if (w <= room)
		return text;
	const n = Math.floor(text.length * room / w) - 1;
	return n > 1 ? `${text.slice(0, n)}…` : "";
}

// What lies over the tracks: links, the selection, marks, the chosen event.
function overlay(c, dpr) {
	const w = c.canvas.width, h = c.canvas.height, top = RULER * dpr;
	const scroll = $("scroll").scrollTop;
	const xOf = (t) => (t - view.from) / (view.to - view.from) * w;
	const yOf = (id) => {
		let t = log.track[id];
		while (t && !place[t.id])
			t = t.up;
		const r = t && place[t.id].row;
		return r && top + (r.y + r.height / 2 - scroll) * dpr;
	};
	c.save();
	c.beginPath();
	c.rect(0, top, w, h);
	c.clip();
	let n = 0;
	c.beginPath();
	for (const l of log.lines) {
		const x0 = xOf(l.from), x1 = xOf(l.to);
		if (x1 < 0 || x0 > w || ++n > 5000)
			continue;
		c.moveTo(x0, yOf(l.source));
		c.lineTo(x1, yOf(l.target));
	}
	c.lineWidth = 3 * dpr;
	c.globalAlpha = n > 200 ? 0.25 : 0.6;
	c.strokeStyle = log.css[5];
	c.stroke();
	if (selection) {
		const x0 = xOf(selection.from), x1 = xOf(selection.to);
		const r = selection.track && place[selection.track]?.row;
		c.globalAlpha = 0.15;
		c.fillStyle = log.css[5];
		c.fillRect(x0, r ? top + (r.y - scroll) * dpr : 0, x1 - x0,
			r ? r.height * dpr : h);
		c.globalAlpha = 1;
		c.fillRect(x0, 0, dpr, h);
		c.fillRect(x1, 0, dpr, h);
	}
	c.globalAlpha = 1;
	if (chosen && place[chosen.track.id]) {
		const at = place[chosen.track.id], x = xOf(chosen.time);
		const range = chosen.group.length[chosen.i];
		c.strokeStyle = log.css[1];
		c.lineWidth = 2 * dpr;
		c.strokeRect(x - 2 * dpr, top + (at.row.y - scroll + (range ? at.y +
			chosen.group.depth[chosen.i] * LINE - 1 : 2)) * dpr,
		Math.max(xOf(chosen.end) - x, dpr) + 4 * dpr,
		(range ? LINE : at.row.height - 5) * dpr);
	}
	c.restore();
	marks.forEach((t, i) => {
		const x = xOf(t);
		c.fillStyle = log.css[1];
		c.fillRect(x, 0, dpr, h);
		c.fillRect(x, 0, 14 * dpr, 14 * dpr);
		c.fillStyle = log.css[0];
		c.fillText("AB"[i], x + 3 * dpr, 11 * dpr);
	});
}

// The names of the tracks: a tree that keys and screen readers can walk.
function drawTree() {
	const scroll = $("scroll").scrollTop, h = $("tree").clientHeight;
	const focused = document.activeElement?.dataset?.track;
	$("span").textContent = `${time(view.to - view.from)} shown`;
	const shownRows = rows.filter((r) =>
		r.y + r.height > scroll && r.y < scroll + h);
	$("tree").replaceChildren(...shownRows.map((r) => {
		const t = r.track, up = t.up ? t.up.children : log.roots;
		const fold = t.children.length ? (t.folded ? "▸" : "▾") : "";
		const e = el("div", {
			class: `row ${t.use}${t.id === chosenTrack ? " chosen" : ""}`,
			role: "treeitem", "data-track": t.id, title: t.name,
			"aria-level": t.level + 1, "aria-setsize": up.length,
			"aria-posinset": up.indexOf(t) + 1,
			"aria-selected": t.id === chosenTrack,
			"aria-expanded": fold ? String(!t.folded) : undefined,
			tabindex: t.id === (chosenTrack || rows[0].track.id) ? 0 : -1,
			click: () => chooseTrack(t.id),
			dblclick: () => setFold(t, !t.folded),
			keydown: (event) => treeKey(event, t),
		}, el("span", { class: "fold", "aria-hidden": "true",
			click: (event) => {
				event.stopPropagation();
				setFold(t, !t.folded);
			} }, fold), el("span", { class: "name" }, t.name),
		el("span", { class: "value" }, summary(t)));
		e.style.top = `${r.y - scroll}px`;
		e.style.height = `${r.height}px`;
		e.style.paddingLeft = `${6 + 12 * t.level}px`;
		return e;
	}));
	if (focused)
		$("tree").querySelector(`[data-track="${focused}"]`)?.focus();
}

// The top of a counter's scale.
function summary(t) {
	const s = t.series.find((s) => s.counter);
	return !s ? "" : t.use === "bytes" ? bytes(s.high) : show(s.high);
}

function setFold(t, folded) {
	if (t.children.length)
		t.folded = folded;
	arrange();
	refresh();
}

function chooseTrack(id) {
	chosenTrack = id;
	const r = place[id]?.row, box = $("scroll");
	const room = box.clientHeight - RULER;
	if (r && (r.y < box.scrollTop || r.y + r.height > box.scrollTop + room))
		box.scrollTop = Math.max(r.y - room / 2, 0);
	refresh();
}

function treeKey(e, t) {
	const i = rows.findIndex((r) => r.track === t);
	const to = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0,
		End: rows.length - 1 }[e.key];
	if (to !== undefined && rows[to]) {
		chooseTrack(rows[to].track.id);
		drawTree();
		$("tree").querySelector(".chosen")?.focus();
	} else if (e.key === "ArrowLeft") {
		if (t.children.length && !t.folded)
			setFold(t, true);
		else if (t.up)
			chooseTrack(t.up.id);
	} else if (e.key === "ArrowRight") {
		setFold(t, false);
	} else if (e.key !== "Enter") {
		return;
	}
	e.preventDefault();
	e.stopPropagation();
}

// ------------------------------------------------------------------ search

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

// -------------------------------------------------------------- statistics

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
		const list = track ? descend(log.track[track]) : log.tracks;
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
		measured = ["duration", "size"].find((n) => names.has(n)) ||
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
		grouped.format(s.count)} events in ${time(s.to - s.from)}, ${
		grouped.format(Math.round(s.rate))} a second${note}`,
	[{ name: "Type", text: true }, { name: "Count" }, { name: "Per second" },
		...["Sum", "Min", "p50", "p90", "p99", "Max"].map(number)],
	s.types.map((t) => [swatch(t.type), t.count, Math.round(t.rate),
		t.sum, t.min, t.p50, t.p90, t.p99, t.max]));
	const some = s.types.some((t) => t.values.length);
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
		if (s.kind && s.count && !s.counter)
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

// ------------------------------------------------------------------- hands

const calm = matchMedia("(prefers-reduced-motion: reduce)");
let motion = 0;

function bounded(from, to) {
	const size = Math.min(Math.max(to - from, 10), log.span * 1.02 || 10);
	const over = log.span * 0.01;
	from = Math.min(Math.max(from, -over), Math.max(log.span + over - size,
		-over));
	return { from, to: from + size };
}

// Changes of the same gesture are undone at once.
function setView(from, to, kept = false) {
	const now = performance.now();
	if (!kept && now - log.changed > 600) {
		undo.push(view);
		redo = [];
	}
	log.changed = now;
	view = bounded(from, to);
	refresh();
}

function back(one, other) {
	if (one.length) {
		other.push(view);
		const v = one.pop();
		setView(v.from, v.to, true);
	}
}

const timeAt = (x) => view.from + x / $("area").clientWidth *
	(view.to - view.from);

// Zooms, and keeps the time at a pixel where it is.
function around(x, factor, change = setView) {
	const t = timeAt(x);
	change(t - (t - view.from) * factor, t + (view.to - t) * factor);
}

const zoom = (factor) => around(
	pointer ? pointer.x : $("area").clientWidth / 2, factor, glide);

const pan = (part) => {
	const d = (view.to - view.from) * part;
	glide(view.from + d, view.to + d);
};

// Moves there in a tenth of a second, or at once where motion is not wanted.
function glide(from, to) {
	const a = view, b = bounded(from, to), began = performance.now();
	const id = ++motion;
	const go = (now) => {
		const part = calm.matches ? 1
			: Math.min(Math.max((now - began) / 100, 0), 1);
		if (id !== motion)
			return;
		setView(a.from + (b.from - a.from) * part,
			a.to + (b.to - a.to) * part);
		if (part < 1)
			requestAnimationFrame(go);
	};
	go(calm.matches ? Infinity : began);
}

function rowAt(y) {
	const at = y - RULER + $("scroll").scrollTop;
	return rows.find((r) => at >= r.y && at < r.y + r.height);
}

// The event at a place: the range there, or the nearest instant.
function eventAt(t, row, y, near) {
	const ids = new Set(row.track.lanes.map((l) => l.id));
	let best = null, least = near;
	for (const block of used) {
		for (const g of block.groups) {
			for (let i = 0; i < g.n; i++) {
				if (!ids.has(g.track[i]) || g.depth[i] < 0 || !shown(g, i))
					continue;
				const start = g.time[i];
				if (!g.length[i]) {
					if (Math.abs(start - t) <= least) {
						least = Math.abs(start - t);
						best = new LogEvent(g, i);
					}
					continue;
				}
				const low = place[g.track[i]].y + g.depth[i] * LINE;
				if (y !== null && (y < low || y >= low + LINE))
					continue;
				const away = Math.max(start - t,
					t - start - g.length[i] + 1, 0);
				if (away <= least) {
					least = away;
					best = new LogEvent(g, i);
				}
			}
		}
	}
	return best;
}

function under(x, y) {
	const row = rowAt(y), t = timeAt(x);
	if (!row || y < RULER)
		return {};
	const px = (view.to - view.from) / $("area").clientWidth;
	const event = eventAt(t, row, y - RULER + $("scroll").scrollTop - row.y,
		5 * px);
	return { row, t, px, event };
}

function choseEvent(event) {
	chosen = event;
	if (tabList[tabNow]?.[0] === "Event")
		tab();
	else if (event)
		tab(2);
	refresh();
}

function tip() {
	const box = $("tip"), hit = pointer && !pointer.drag
		? under(pointer.x, pointer.y) : {};
	box.hidden = !hit.row;
	if (!hit.row)
		return;
	const e = hit.event, t = hit.row.track;
	const list = e ? [["at", time(e.time, 1)],
		["for", show(e.get("duration"), "ns")], ...e.texts()]
		: [["at", time(hit.t, hit.px)]];
	for (const s of e ? [] : t.folded ? descend(t).flatMap((d) => d.series)
		: t.series) {
		if (s.counter) {
			list.push(["value", show(valueAt(s, hit.t),
				t.use === "bytes" ? "bytes" : "")]);
		} else {
			const n = total(s, "count", hit.t - hit.px, hit.t + hit.px);
			if (n > 0.001 && list.length < 12)
				list.push([s.name || s.kind?.name || "events",
					show(Number(n.toPrecision(3)))]);
		}
	}
	box.replaceChildren(el("b", {}, e ? e.name : t.name), facts(list));
	const area = $("area"), w = box.offsetWidth, h = box.offsetHeight;
	box.style.left = `${Math.max(Math.min(pointer.x + 14,
		area.clientWidth - w - 4), 0)}px`;
	box.style.top = `${Math.max(pointer.y + 18 + h < area.clientHeight
		? pointer.y + 18 : pointer.y - h - 10, 0)}px`;
}

function mark() {
	const t = pointer ? timeAt(pointer.x) : (view.from + view.to) / 2;
	marks = marks.length < 2 ? [...marks, t] : [t];
	refresh();
}

function setSelection(from, to, track = 0) {
	selection = from === undefined ? null
		: { from: Math.min(from, to), to: Math.max(from, to), track };
	if (selection && /Event$/.test(tabList[tabNow]?.[0]))
		tab(0);
	refresh();
}

function listen() {
	const area = $("area"), canvas = $("canvas"), touches = new Map();
	let pinch = 0;
	const point = (e) => {
		const box = area.getBoundingClientRect();
		return { x: e.clientX - box.left, y: e.clientY - box.top };
	};
	const spread = () => {
		const [a, b] = [...touches.values()];
		return [Math.abs(a.x - b.x) || 1, (a.x + b.x) / 2];
	};

	canvas.addEventListener("wheel", (e) => {
		const size = (view.to - view.from) / area.clientWidth;
		pointer = point(e);
		if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
			const d = (e.deltaX || e.deltaY) * size;
			setView(view.from + d, view.to + d);
		} else {
			motion++;
			around(pointer.x, 1.0015 ** (e.deltaY * (e.deltaMode ? 30 : 1) *
				(e.ctrlKey ? 4 : 1)));
		}
		e.preventDefault();
	}, { passive: false });
	$("gutter").addEventListener("wheel", (e) => {
		$("scroll").scrollTop += e.deltaY;
	}, { passive: true });
	$("scroll").addEventListener("scroll", refresh);

	// Drag moves; with Shift, or on the ruler, it selects.
	canvas.addEventListener("pointerdown", (e) => {
		canvas.setPointerCapture(e.pointerId);
		touches.set(e.pointerId, point(e));
		pointer = { ...point(e), moved: false };
		pointer.drag = { ...point(e), view, scroll: $("scroll").scrollTop,
			select: e.shiftKey || pointer.y < RULER,
			track: pointer.y < RULER ? 0 : rowAt(pointer.y)?.track.id };
		if (touches.size === 2)
			pinch = spread()[0];
	});
	canvas.addEventListener("pointermove", (e) => {
		const drag = pointer?.drag, p = point(e);
		if (touches.has(e.pointerId))
			touches.set(e.pointerId, p);
		if (touches.size === 2) {
			const [now, x] = spread();
			around(x, pinch / now);
			pinch = now;
			return;
		}
		pointer = { ...p, drag, moved: drag && (pointer.moved ||
			Math.abs(p.x - drag.x) + Math.abs(p.y - drag.y) > 4) };
		if (drag?.select && pointer.moved) {
			setSelection(timeAt(drag.x), timeAt(p.x), drag.track);
		} else if (drag && pointer.moved) {
			const d = (drag.x - p.x) / area.clientWidth *
				(drag.view.to - drag.view.from);
			setView(drag.view.from + d, drag.view.to + d);
			$("scroll").scrollTop = drag.scroll + drag.y - p.y;
		}
		requestAnimationFrame(tip);
	});
	const up = (e) => {
		touches.delete(e.pointerId);
		if (pointer?.drag && !pointer.moved && e.type === "pointerup")
			choseEvent(under(pointer.x, pointer.y).event || null);
		if (pointer)
			pointer.drag = undefined;
	};
	canvas.addEventListener("pointerup", up);
	canvas.addEventListener("pointercancel", up);
	canvas.addEventListener("pointerleave", () => {
		pointer = null;
		tip();
	});
	canvas.addEventListener("dblclick", () => {
		const e = under(pointer.x, pointer.y).event;
		const d = e && Math.max(e.end - e.time, (view.to - view.from) / 50);
		if (e)
			glide(e.time - d * 0.2, e.time + d * 1.2);
		else
			zoom(0.5);
	});
	new ResizeObserver(() => {
		arrange();
		refresh();
	}).observe(area);
	$("find").addEventListener("submit", (e) => {
		e.preventDefault();
		if (query && query.text === $("q").value.trim())
			step(true, query.test);
		else
			find($("q").value);
	});
	$("q").addEventListener("search", () => $("q").value || find(""));
	$("only").addEventListener("change", refresh);
}

function makeKeys() {
	const scroll = (d) => { $("scroll").scrollTop += d; };
	const any = () => true;
	const list = [
		["w", "Zoom in", () => zoom(0.6)], ["s", "Zoom out", () => zoom(1.7)],
		["a", "Earlier", () => pan(-0.2)], ["d", "Later", () => pan(0.2)],
		["ArrowLeft", "Earlier", () => pan(-0.2)],
		["ArrowRight", "Later", () => pan(0.2)],
		["ArrowUp", "Tracks above", () => scroll(-60)],
		["ArrowDown", "Tracks below", () => scroll(60)],
		["0", "All of the log", () => glide(0, log.span)],
		["z", "Zoom to the selection", () => {
			const r = region();
			glide(r.from, r.to);
		}],
		["u", "Undo the last change of the view", () => back(undo, redo)],
		["r", "Redo it", () => back(redo, undo)],
		["/", "Search", () => $("q").focus()],
		["n", "Next event that matches",
			() => step(true, query ? query.test : any)],
		["p", "Previous event that matches",
			() => step(false, query ? query.test : any)],
		["g", "Go to a time, a track, an event", goDialog],
		["v", "Select what is visible",
			() => setSelection(view.from, view.to, chosenTrack)],
		["m", "Set a mark; two marks show their difference", mark],
		["Escape", "Clear the selection and the marks", () => {
			marks = [];
			chosen = null;
			setSelection();
		}],
		["f", "Fold or unfold all tracks", () => {
			const folded = !log.tracks.some((t) => t.level && t.folded);
			for (const t of log.tracks)
				t.folded = t.level > 0 && folded && !!t.children.length;
			arrange();
			refresh();
		}],
		["e", "Export", exportDialog],
	];
	for (const [key, what, action] of list)
		keys.set(key, [what, action]);
	keys.set("Drag", ["Moves; with Shift, or on the ruler, it selects",
		() => {}]);
	keys.set("Wheel", ["Zooms; with Shift it moves", () => {}]);
	keys.set("Double click", ["Zooms to an event", () => {}]);
	button("Whole log", "All of the log", keys.get("0")[1]);
	button("Undo", "Undo the last change of the view", keys.get("u")[1]);
	button("Go to", "A time, a track, an event", goDialog);
	button("Export", "CSV, SVG or PNG", exportDialog);
}

function goDialog() {
	const input = el("input", { "aria-label": "Where to", autofocus: true,
		placeholder: "1.5 ms, thread 7, PoolAlloc" });
	dialog("Go to a time, a track or an event", el("form", { submit: (e) => {
		e.preventDefault();
		$("dialog").close();
		goWhere(input.value);
	} }, input, " ", el("button", {}, "Go")));
}

// ------------------------------------------------------------------ export

function exportDialog() {
	const name = log.title.replace(/[^\w.-]+/g, "_");
	const choice = (text, action) => el("p", {}, el("button", {
		click: async () => {
			$("dialog").close();
			action();
		} }, text));
	dialog("Export", choice(`${selection ? "Selected" : "Visible"
	} events as CSV`, async () =>
		save(`${name}.csv`, "text/csv", await csv())),
	choice("The view as SVG", () =>
		save(`${name}.svg`, "image/svg+xml", svg())),
	choice("The view as PNG", async () =>
		save(`${name}.png`, "image/png", await png())));
}

async function csv() {
	const { from, to, track } = region(), list = [], names = new Set();
	await each(from, to, track, (g, i) => list.push(new LogEvent(g, i)));
	list.sort((a, b) => a.time - b.time);
	for (const e of list)
		e.group.type.fields.forEach((f) => names.add(f.name));
	const head = ["time", "duration", "track", "kind", "type", "name",
		...names];
	return [head, ...list.map((e) => [e.time, e.get("duration"),
		e.track.name, e.group.type.kind, e.group.type.name, e.name,
		...[...names].map((n) => e.get(n, true))])]
		.map((row) => `${csvRow(row)}\r\n`).join("");
}

// The names of the tracks, beside a picture of them.
function legend(p) {
	for (const r of rows) {
		const y = RULER + r.y - $("scroll").scrollTop;
		if (y + r.height > RULER && y < p.height)
			p.text(6 + 12 * r.track.level, y + r.height / 2 + 4,
				fit(r.track.name, 220 - 12 * r.track.level), 1);
	}
}

function svg() {
	const p = new Svg($("area").clientWidth, $("area").clientHeight);
	log.context.font = "11px system-ui, \"DejaVu Sans\", sans-serif";
	paint(p, 1, $("scroll").scrollTop);
	const out = p.toString(230);
	p.texts = [];
	legend(p);
	return `${out}${p.texts.join("")}</svg>`;
}

function png() {
	const from = $("canvas"), dpr = window.devicePixelRatio || 1;
	const to = el("canvas", { width: from.width + 230 * dpr,
		height: from.height });
	const c = to.getContext("2d");
	c.fillStyle = log.css[0];
	c.fillRect(0, 0, to.width, to.height);
	c.drawImage(from, 230 * dpr, 0);
	c.scale(dpr, dpr);
	c.font = "11px system-ui, \"DejaVu Sans\", sans-serif";
	legend({ height: from.height / dpr, text: (x, y, text, colour) => {
		c.fillStyle = log.css[colour];
		c.fillText(text, x, y);
	} });
	return new Promise((done) => to.toBlob(done));
}

// --------------------------------------------------------------- the state

// Puts the view in the address, and says it, when it keeps still.
function settle() {
	clearTimeout(log.timer);
	log.timer = setTimeout(() => {
		const { from, to } = view, round = Math.round, parts = [];
		if (from !== log.first.from || to !== log.first.to)
			parts.push(`v=${round(from)},${to >= log.span
				? "end" : round(to)}`);
		if (selection)
			parts.push(`s=${round(selection.from)},${round(selection.to)
			},${selection.track}`);
		if (marks.length)
			parts.push(`m=${marks.map(round)}`);
		if (query)
			parts.push(`q=${encodeURIComponent(query.text)}`);
		const hash = `#${parts.join("&")}`;
		if (hash !== (location.hash || "#"))
			history.replaceState(null, "", hash);
		keep("folded", log.tracks.filter((t) => t.folded).map((t) => t.id));
		keep("scroll", $("scroll").scrollTop);
		keep("tab", tabNow);
		const s = selection;
		say(`${time(from, (to - from) / 1000)} to ${
			time(to, (to - from) / 1000)}${s ? `; selected ${
			time(s.to - s.from)}` : ""}${marks.length === 2
			? `; A to B: ${time(marks[1] - marks[0])}`
			: marks.length ? `; mark A at ${time(marks[0])}` : ""}`);
		if (tabNow !== 2 && log.told !== hash + tabNow + !!query)
			tab();
		log.told = hash + tabNow + !!query;
	}, 200);
}

// What the address says, as a link that somebody was given.
function recall() {
	const parts = new URLSearchParams(location.hash.slice(1));
	const list = (name) => (parts.get(name) || "").split(",").map((v) =>
		v === "end" ? log.span : Number(v));
	if (parts.has("v"))
		view = bounded(...list("v"));
	selection = null;
	if (parts.has("s")) {
		const [from, to, track] = list("s");
		selection = { from, to, track: log.track[track] ? track : 0 };
	}
	marks = parts.has("m") ? list("m").slice(0, 2) : [];
	find(parts.get("q") || "");
}

views.timeline = async function timeline(head) {
	log = Object.assign(head, { age: 0, decoded: 0, changed: -Infinity,
		lines: [], context: $("canvas").getContext("2d",
			{ alpha: false, willReadFrequently: true }) });
	log.types.forEach((t, i) => {
		t.color = (t.color ?? i) % PALETTE;
	});
	makeTracks();
	for (const s of log.series)
		await loadSeries(s);
	for (const l of log.links) {
		const b = new Bytes(await bytesOf(`b${l.block}`)), n = l.n;
		const from = b.deltas(n), source = b.plain(n);
		const to = b.plain(n).map(unzig), target = b.plain(n);
		for (let i = 0; i < n; i++)
			log.lines.push({ from: from[i], to: from[i] + to[i],
				source: source[i], target: target[i] });
	}
	$("plot").hidden = false;
	log.first = view = bounded(0, log.span);
	readColours();
	onTheme = () => {
		readColours();
		tab();
		refresh();
	};
	matchMedia("(prefers-color-scheme: dark)")
		.addEventListener("change", () => onTheme());
	for (const id of (keep("folded") ?? "").split(",").filter(Boolean))
		if (log.track[id])
			log.track[id].folded = true;
	arrange();
	tabs([["Statistics", statisticsTab], ["Events", eventsTab],
		["Event", eventTab], ["Tracks", tracksTab], ["Types", typesTab],
		["About", aboutTab]]);
	listen();
	makeKeys();
	recall();
	addEventListener("hashchange", recall);
	if (keep("tab"))
		tab(Number(keep("tab")) % tabList.length);
	await choose();
	choose();
	draw();
	drawTree();
	$("scroll").scrollTop = Number(keep("scroll")) || 0;
	refresh();
};

Object.assign(window.teltools, {
	view: () => ({ ...view }), setView, csv, svg, png, search: find,
	visible: () => rows.map((r) => ({ track: r.track.id, name: r.track.name,
		use: r.track.use, y: r.y + RULER - $("scroll").scrollTop,
		h: r.height })),
	at(t, track) {
		const e = eventAt(t, place[track].row, null, 0);
		return e && { name: e.name, type: e.group.type.name, time: e.time,
			duration: e.get("duration"),
			fields: Object.fromEntries(e.texts()) };
	},
	async select(from, to, track = 0) {
		setSelection(from, to, track);
		return statistics(region(), measured || "duration");
	},
	frameTimes: () => [...frames],
	marks: () => [...marks], selection: () => selection,
});
