// SPDX-License-Identifier: BSD-2-Clause
// Draws a timeline into a buffer of pixels, or as SVG.
"use strict";

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

const colourOf = (g, i) => g.length[i] && g.type.several && !g.type.own
	? hash(nameOf(g, i)) : g.type.color;

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
		if (fit(text, p.width - x - 6 * dpr) === text)
			p.text(x + 4 * dpr, 17 * dpr, text, 2);
	p.flush();
}

// Steps of 1, 2 or 5, at least 100 pixels apart.
function ruler(p, frame) {
	const least = Math.max(frame.step * 110 * frame.dpr, 1);
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
	// few instants are wider, so that they are found
	const few = eventsIn(used, view.from, view.to) < p.width / 4;
	const thin = Math.max(Math.round(dpr * (few ? 2 : 1)), 1), labels = [];
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
					p.rect(x, y + 3, thin,
						Math.round(at.row.height * dpr) - 7, c);
					continue;
				}
				const end = Math.round((g.time[i] + g.length[i] - 1 -
					view.from) / step);
				const w = Math.max(end - x, thin);
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
	return n > 3 ? `${text.slice(0, n)}…` : "";
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
