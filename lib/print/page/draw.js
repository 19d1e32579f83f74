// SPDX-License-Identifier: BSD-2-Clause
// Draws a timeline into a buffer of pixels, or as SVG.
"use strict";

const FONT = "11px system-ui, \"DejaVu Sans\", sans-serif";

// Both have rect(), text() and line(), whose colours are numbers of log.css.
// Pixels are some ten times faster than paths.
class Pixels {
	constructor(context, width, height) {
		Object.assign(this, { context, width, height, late: [] });
		if (log.image?.width !== width || log.image.height !== height)
			log.image = new ImageData(width, height);
		this.px = new Uint32Array(log.image.data.buffer);
		this.px.fill(log.paint[0]);
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
		this.late.push((c) => {
			c.fillStyle = log.css[colour];
			c.fillText(text, x, y);
		});
	}

	line(x0, y0, x1, y1, size, colour) {
		this.late.push((c) => {
			c.strokeStyle = log.css[colour];
			c.lineWidth = size;
			c.beginPath();
			c.moveTo(x0, y0);
			c.lineTo(x1, y1);
			c.stroke();
		});
	}

	flush() {
		this.context.putImageData(log.image, 0, 0);
		this.late.forEach((draw) => draw(this.context));
		this.late = [];
	}
}

class Svg {
	constructor(width, height) {
		Object.assign(this, { width, height, paths: new Map(), late: [] });
	}

	rect(x, y, w, h, colour) {
		if (!this.paths.has(colour))
			this.paths.set(colour, []);
		const path = this.paths.get(colour), last = path.at(-1);
		if (last?.y === y && last.h === h && last.x + last.w === x)
			last.w += w;
		else
			path.push({ x, y, w, h });
	}

	text(x, y, text, colour) {
		const s = text.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`)
			.replace(/[^\t\x20-\ud7ff\ue000-\ufffd]/g, "\ufffd");
		this.late.push(`<text x="${x}" y="${y}" fill="${
			log.css[colour]}">${s}</text>`);
	}

	line(x0, y0, x1, y1, size, colour) {
		this.late.push(`<path d="M${x0} ${y0}L${x1} ${y1}" stroke="${
			log.css[colour]}" stroke-width="${size}"/>`);
	}

	flush() {
		this.done = [...this.paths].map(([colour, path]) => `<path fill="${
			log.css[colour]}" d="${path.map((r) =>
			`M${r.x} ${r.y}h${r.w}v${r.h}h${-r.w}z`).join("")}"/>`)
			.concat(this.late).join("");
		this.late = [];
	}
}

// Colours are numbers: 0 background, 1 text, 2 dim, 3 line, 4 grid, 5 accent,
// 6 on a colour, 7 bar, then those of the palette, each in SHADES steps from
// the background to itself.
const BASE = ["bg", "fg", "dim", "line", "grid", "accent", "on", "bar"];
const SHADES = 16;
const shade = (colour, part) => BASE.length + colour * SHADES +
	Math.min(Math.max(Math.round(part * (SHADES - 1)), 0), SHADES - 1);

// The browser resolves the colours of the theme; scripts can't.
function readColours() {
	const probe = el("i");
	const rgb = (colour) => {
		probe.style.color = colour;
		return getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
	};
	document.body.append(probe);
	const list = BASE.map((name) => rgb(`var(--${name})`));
	const own = log.types.filter((t) => t.own);
	own.forEach((t, i) => { t.color = PALETTE + i; });
	for (let i = 0; i < PALETTE + own.length; i++) {
		const c = rgb(i < PALETTE ? `var(--c${i})` : own[i - PALETTE].own);
		for (let n = 0; n < SHADES; n++)
			list.push(c.map((v, j) => Math.round(list[0][j] +
				(v - list[0][j]) * n / (SHADES - 1))));
	}
	probe.remove();
	log.css = list.map(([r, g, b]) => `rgb(${r},${g},${b})`);
	log.paint = list.map(([r, g, b]) =>
		(255 << 24 | b << 16 | g << 8 | r) >>> 0);
}

// A colour for a name.
function hash(text) {
	let h = 0;
	for (const c of text)
		h = Math.imul(h, 31) + c.codePointAt(0) | 0;
	return (h >>> 0) % (PALETTE - 1);
}

const hueOf = (series) => series.kind?.color ?? 0;
const colourOf = (g, i) => g.length[i] && g.type.several && !g.type.own
	? hash(g.name[i]) : g.type.color;

function draw() {
	const canvas = $("canvas"), dpr = window.devicePixelRatio || 1;
	const w = Math.max(Math.round($("area").clientWidth * dpr), 1);
	const h = Math.max(Math.round($("area").clientHeight * dpr), 1);
	const start = performance.now(), c = log.context;
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		arrange();
	}
	c.font = FONT.replace("11", 11 * dpr);
	overlay(c, paint(new Pixels(c, w, h), dpr));
	frames = [...frames.slice(-500), performance.now() - start];
}

let asked = true; // until the page is ready

function refresh() {
	if (!asked)
		requestAnimationFrame(drawAll);
	asked = true;
}

function drawAll() {
	asked = false;
	choose();
	draw();
	drawTree();
	settle();
}

// Draws all that is in view; what the parts of a picture need is its frame.
function paint(p, dpr) {
	const scroll = $("scroll").scrollTop, { width, height } = p;
	const step = (view.to - view.from) / width, top = Math.round(RULER * dpr);
	const frame = { width, height, dpr, top, step, from: view.from,
		xOf: (t) => (t - view.from) / step,
		yOf: (y) => top + Math.round((y - scroll) * dpr) };
	frame.covered = covered(frame);
	const ticks = ruler(p, frame);
	for (const r of rows) {
		const y = frame.yOf(r.y), h = Math.round(r.height * dpr);
		if (y + h < top || y > height)
			continue;
		if (r.track.use === "log")
			p.rect(0, y, width, h, 7);
		p.rect(0, y + h - 1, width, 1, 3);
		paintSums(p, frame, r, y, h - 2);
	}
	paintEvents(p, frame);
	paintLinks(p, frame);
	p.rect(0, 0, width, top, 7);
	p.rect(0, top - 1, width, 1, 3);
	for (const [x, text] of ticks)
		if (fit(text, width - x - 6 * dpr) === text)
			p.text(x + 4 * dpr, 17 * dpr, text, 2);
	p.flush();
	return frame;
}

// Steps of 1, 2 or 5, at least 100 pixels apart.
function ruler(p, { step, dpr, top, xOf }) {
	const least = Math.max(step * 110 * dpr, 1), ticks = [];
	const ten = 10 ** Math.floor(Math.log10(least));
	const apart = ten * [1, 2, 5, 10].find((n) => n * ten >= least);
	for (let t = Math.ceil(view.from / apart) * apart; t <= view.to;
		t += apart) {
		const x = Math.round(xOf(t));
		p.rect(x, top, 1, p.height, 4);
		ticks.push([x, time(t, apart)]);
	}
	return ticks;
}

// Which pixels show events themselves: 1 where all of them are there.
function covered({ width, xOf }) {
	const out = new Uint8Array(width), list = used.filter((b) => !b.long);
	if (list.length && log.exact >= log.events)
		return out.fill(1);
	for (const b of list)
		out.fill(1, Math.max(Math.ceil(xOf(b.from)), 0),
			Math.max(Math.floor(xOf(b.to)), 0));
	return out;
}

const scratch = []; // arrays of a number for each pixel

function scratchOf(i, { width }) {
	if (scratch[i]?.length !== width)
		scratch[i] = new Float64Array(width);
	return scratch[i];
}

// How strong a type is drawn: less if it can't match, 0 if it is hidden.
const strength = (type) => query?.types.get(type) !== false ? 1
	: only ? 0 : 0.25;

function paintSums(p, frame, r, y, h) {
	const t = r.track;
	if (t.use === "heat")
		paintHeat(p, frame, t, y, h);
	else if (isPlot(t))
		paintCounter(p, frame, t, y, h);
	else if (t.use === "ranges" && !t.folded)
		paintBusy(p, frame, t, y);
	else
		paintCounts(p, frame, countsOf(t, t.folded), y, h, !t.folded);
}

// Events in a pixel, stacked by type; heights grow as square roots, so that
// one event is seen beside thousands.
function paintCounts(p, frame, list, y, h, hole) {
	const { width, covered } = frame, sums = scratchOf(0, frame).fill(0);
	list = list.filter((s) => strength(s.kind) &&
		total(s, "count", view.from, view.to) > 0);
	list.forEach((s, n) => {
		const out = columns(frame, s, "count", scratchOf(n + 1, frame));
		for (let x = 0; x < width; x++)
			sums[x] += out[x];
	});
	// powers of two, so that heights keep still while the view moves
	const most = 2 ** Math.ceil(Math.log2(
		sums.reduce((a, v) => Math.max(a, v), 0) || 1));
	const colour = list.map((s) => shade(hueOf(s), strength(s.kind)));
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
function paintBusy(p, frame, t, y) {
	const { width, covered, step, dpr } = frame;
	for (const lane of t.lanes) {
		const top = y + Math.round(place[lane.id].y * dpr);
		for (const s of lane.series.filter((s) => s.busy)) {
			const busy = columns(frame, s, "busy", scratchOf(0, frame));
			const count = columns(frame, s, "count", scratchOf(1, frame));
			const full = strength(s.kind);
			for (let x = 0; x < width; x++)
				if (full && !covered[x] && busy[x] + count[x] > 1e-9)
					p.rect(x, top, 1, Math.round((LINE - 2) * dpr),
						shade(hueOf(s), full *
							(0.2 + 0.8 * Math.min(busy[x] / step, 1))));
		}
	}
}

function paintCounter(p, { width, from, step, dpr, xOf }, t, y, h) {
	const colour = hash(t.name), line = Math.max(Math.round(1.5 * dpr), 1);
	const end = Math.min(width, Math.ceil(xOf(log.span)) + 1);
	for (const s of t.series.filter((s) => s.last)) {
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

// A strip for each bucket of a histogram, the larger values above.
function paintHeat(p, frame, t, y, h) {
	const rows = t.series.map((s) => s.row), low = Math.min(...rows);
	const high = h / (Math.max(...rows) - low + 1);
	const counts = t.series.map((s, n) =>
		columns(frame, s, "count", scratchOf(n, frame)));
	const most = counts.reduce((m, out) =>
		out.reduce((a, v) => Math.max(a, v), m), 0);
	t.series.forEach((s, n) => {
		const bottom = y + h - Math.round((s.row - low) * high);
		const top = y + h - Math.round((s.row - low + 1) * high);
		for (let x = 0; x < frame.width; x++)
			if (counts[n][x] > 1e-9)
				p.rect(x, top, 1, bottom - top, shade(0, 0.25 + 0.75 *
					Math.log2(1 + counts[n][x]) / Math.log2(1 + most)));
	});
}

function paintEvents(p, { width, height, dpr, step, top, yOf, xOf }) {
	const line = Math.round(LINE * dpr), seen = [], labels = [];
	// few instants are wider, so that they are found
	const few = eventsIn(used, view.from, view.to) < width / 4;
	const thin = Math.max(Math.round(dpr * (few ? 2 : 1)), 1);
	visit(used, (g, i) => {
		const at = place[g.track[i]];
		if (!at || g.depth[i] < 0 || !shown(g, i))
			return;
		const x = Math.round(xOf(g.time[i])), y = yOf(at.row.y);
		const full = query && !matches(g)[i] ? 0.25 : 1;
		if (x >= width || y > height)
			return;
		if (!g.length[i]) {
			// one pixel shows one instant of a colour
			const c = shade(g.type.color, full), key = x * 1024 + c;
			if (x >= 0 && !g.block.long && seen[g.track[i]] !== key)
				p.rect(x, y + 3, thin,
					Math.round(at.row.height * dpr) - 7, c);
			seen[g.track[i]] = key;
			return;
		}
		const end = Math.round(xOf(g.time[i] + g.length[i] - 1));
		const w = Math.max(end - x, thin);
		if (end < 0 || (g.block.long && w < 3) ||
			at.row.track.use !== "ranges")
			return;
		const low = y + Math.round(at.y * dpr) +
			Math.min(g.depth[i], LINES - 1) * line;
		// a gap tells neighbours apart
		p.rect(x, low, w > 3 ? w - 1 : w, line - 2,
			shade(colourOf(g, i), full));
		if (w > 24 * dpr)
			labels.push([Math.max(x, 0), low, Math.min(end, width),
				g.name[i], full]);
	});
	for (const [x, y, end, text, full] of labels) {
		const cut = fit(text, end - x - 9 * dpr);
		if (cut && y > top - line)
			p.text(x + 4 * dpr, y + line - 6 * dpr, cut, full < 1 ? 1 : 6);
	}
}

// The middle of a track, or of the one that it is folded into.
function middleOf(id, { yOf, top }) {
	let t = log.track[id];
	while (t && !place[t.id])
		t = t.up;
	const r = t && place[t.id].row;
	return r ? Math.max(yOf(r.y + r.height / 2), top) : -1;
}

// Fat lines from what was sent to where it was received.
function paintLinks(p, frame) {
	const list = log.lines.filter((l) => l.to >= view.from &&
		l.from <= view.to && strength(l.type));
	// of very many, some
	const each = Math.ceil(list.length / 1000), many = list.length > 60;
	for (const l of list.filter((_, i) => i % each === 0))
		p.line(frame.xOf(l.from), middleOf(l.source, frame),
			frame.xOf(l.to), middleOf(l.target, frame),
			(many ? 1.5 : 3) * frame.dpr,
			shade(l.type.color, many ? 0.5 : 0.7));
}

const widths = new Map();

// A text, cut to a width.
function fit(text, room) {
	const key = `${log.context.font} ${text}`;
	if (widths.size > 5000)
		widths.clear();
	if (!widths.has(key))
		widths.set(key, log.context.measureText(text).width);
	const w = widths.get(key), n = Math.floor(text.length * room / w) - 1;
	return w <= room ? text : n > 3 ? `${text.slice(0, n)}…` : "";
}

// What lies over the tracks: the selection, marks, the chosen event.
function overlay(c, { width, height, dpr, top, xOf, yOf }) {
	if (selection) {
		const x = xOf(selection.from), end = xOf(selection.to);
		const r = place[selection.track]?.row;
		c.fillStyle = log.css[5];
		c.globalAlpha = 0.15;
		c.fillRect(x, r ? yOf(r.y) : 0, end - x, r ? r.height * dpr : height);
		c.globalAlpha = 1;
		c.fillRect(x, 0, dpr, height);
		c.fillRect(end, 0, dpr, height);
	}
	const at = chosen && place[chosen.track.id];
	if (at) {
		const x = xOf(chosen.time), range = chosen.duration !== undefined;
		const y = yOf(at.row.y + (range ? at.y - 1 +
			chosen.group.depth[chosen.i] * LINE : 2));
		c.strokeStyle = log.css[1];
		c.lineWidth = 2 * dpr;
		if (y >= top)
			c.strokeRect(x - 2 * dpr, y, Math.max(xOf(chosen.end) - x, dpr) +
				4 * dpr, (range ? LINE : at.row.height - 5) * dpr);
	}
	marks.forEach((t, i) => {
		c.fillStyle = log.css[1];
		c.fillRect(xOf(t), 0, dpr, height);
		c.fillRect(xOf(t), 0, 14 * dpr, 14 * dpr);
		c.fillStyle = log.css[0];
		c.fillText("AB"[i], xOf(t) + 3 * dpr, 11 * dpr);
	});
}
