// SPDX-License-Identifier: BSD-2-Clause
// Draws a timeline into a buffer of pixels, or as SVG.
"use strict";

const FONT = "11px system-ui, \"DejaVu Sans\", sans-serif";
const SHADES = 16; // steps of a colour from the background to itself
// Colours are numbers: first these, then those of the palette and of types, in
// steps from the background to themselves.
const NAMES = ["bg", "fg", "dim", "line", "grid", "accent", "on", "bar"];
const ink = Object.fromEntries(NAMES.map((name, i) => [name, i]));
const shade = (colour, part) => NAMES.length + colour * SHADES +
	Math.min(Math.max(Math.round(part * (SHADES - 1)), 0), SHADES - 1);
const css = (colour) => log.css[colour];

// The browser resolves the colours of the theme; scripts can't.
function readColours() {
	const probe = document.body.appendChild(el("i"));
	const own = log.types.filter((t) => t.own);
	const rgb = (colour) => {
		probe.style.color = colour;
		return getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
	};
	const list = NAMES.map((name) => rgb(`var(--${name})`));
	own.forEach((t, i) => { t.color = PALETTE + i; });
	for (let i = 0; i < PALETTE + own.length; i++) {
		const full = rgb(own[i - PALETTE]?.own ?? `var(--c${i})`);
		for (let n = 0; n < SHADES; n++)
			list.push(full.map((v, j) => Math.round(list[0][j] +
				(v - list[0][j]) * n / (SHADES - 1))));
	}
	probe.remove();
	log.css = list.map((c) => `#${c.map((v) =>
		v.toString(16).padStart(2, "0")).join("")}`);
	log.paint = Uint32Array.from(list, ([r, g, b]) =>
		255 << 24 | b << 16 | g << 8 | r);
}

// A colour for a name.
const hash = (text) => [...text].reduce((h, c) =>
	Math.imul(h, 31) + c.codePointAt(0) >>> 0, 0) % (PALETTE - 1);
const hueOf = (series) => series.type?.color ?? 0;
const colourOf = (g, i) => g.length[i] && g.type.several && !g.type.own
	? hash(nameOf(g, i)) : g.type.color;

// Rectangles, and texts and lines over them.  Pixels are some ten times faster
// than paths, which are kept where no pixels are given.
class Picture {
	constructor(width, height, pixels) {
		Object.assign(this, { width, height, pixels, paths: {}, over: [] });
		pixels?.fill(log.paint[ink.bg]);
	}

	rect(x, y, w, h, colour) {
		const { pixels, width } = this;
		if (!pixels) {
			const path = this.paths[css(colour)] ??= [], last = path.at(-1);
			if (last?.y === y && last.h === h && last.x + last.w === x)
				last.w += w;
			else
				path.push({ x, y, w, h });
			return;
		}
		const right = Math.min(x + w, width), pixel = log.paint[colour];
		const bottom = Math.min(y + h, this.height);
		x = Math.max(x, 0);
		for (y = Math.max(y, 0); y < bottom; y++) {
			const end = y * width + right;
			let at = y * width + x;
			if (right - x > 16)
				pixels.fill(pixel, at, end);
			else
				while (at < end)
					pixels[at++] = pixel;
		}
	}

	text(x, y, text, colour) {
		if (text)
			this.over.push({ x, y, text, colour });
	}

	line(x, y, x1, y1, size, colour) {
		this.over.push({ x, y, x1, y1, size, colour });
	}

	drawOver(c) {
		for (const { x, y, x1, y1, size, text, colour } of this.over) {
			c.fillStyle = c.strokeStyle = css(colour);
			c.lineWidth = size;
			c.beginPath();
			c.moveTo(x, y);
			if (text)
				c.fillText(text, x, y);
			else
				c.lineTo(x1, y1);
			c.stroke();
		}
	}

	svg() {
		const escape = (text) => text.replace(/[&<>]/g, (c) =>
			`&#${c.charCodeAt(0)};`)
			.replace(/[^\t\x20-\ud7ff\ue000-\ufffd]/g, "\ufffd");
		return Object.entries(this.paths).map(([colour, path]) =>
			`<path fill="${colour}" d="${path.map((r) =>
				`M${r.x} ${r.y}h${r.w}v${r.h}h${-r.w}z`).join("")}"/>`)
			.concat(this.over.map(({ x, y, x1, y1, size, text, colour }) => text
				? `<text x="${x}" y="${y}" fill="${css(colour)}">${
					escape(text)}</text>`
				: `<path d="M${x} ${y}L${x1} ${y1}" stroke="${css(colour)
				}" stroke-width="${size}"/>`)).join("");
	}
}

let asked = true; // until the page is ready

function refresh() {
	if (!asked)
		requestAnimationFrame(drawAll);
	asked = true;
}

function drawAll() {
	const canvas = $("canvas"), dpr = window.devicePixelRatio || 1;
	const [w, h] = [$("area").clientWidth, $("area").clientHeight].map((n) =>
		Math.max(Math.round(n * dpr), 1));
	const start = performance.now(), c = log.context;
	asked = false;
	choose();
	if (canvas.width !== w || canvas.height !== h || !log.image) {
		canvas.width = w;
		canvas.height = h;
		log.image = new ImageData(w, h);
		arrange();
	}
	const p = new Picture(w, h, new Uint32Array(log.image.data.buffer));
	c.font = FONT.replace("11", 11 * dpr);
	const frame = paint(p, dpr);
	c.putImageData(log.image, 0, 0);
	p.drawOver(c);
	overlay(c, frame);
	frames = [...frames.slice(-500), performance.now() - start];
	drawTree();
	settle();
}

// Draws all that is in view; what the parts of a picture need is its frame.
function paint(p, dpr) {
	const scroll = $("scroll").scrollTop, { width, height } = p;
	const step = (view.to - view.from) / width, top = Math.round(RULER * dpr);
	const frame = { width, height, dpr, top, step, from: view.from,
		covered: new Uint8Array(width), xOf: (t) => (t - view.from) / step,
		yOf: (y) => top + Math.round((y - scroll) * dpr) };
	// which pixels show events themselves: where all of them are there
	for (const b of used.filter((b) => !b.long))
		if (log.exact >= log.events)
			frame.covered.fill(1);
		else
			frame.covered.fill(1, Math.max(Math.ceil(frame.xOf(b.from)), 0),
				Math.max(Math.floor(frame.xOf(b.to)), 0));
	const ticks = ruler(p, frame);
	for (const r of rows) {
		const y = frame.yOf(r.y), h = Math.round(r.height * dpr);
		if (y + h < top || y > height)
			continue;
		if (r.track.use === "log")
			p.rect(0, y, width, h, ink.bar);
		p.rect(0, y + h - 1, width, 1, ink.line);
		paintSums(p, frame, r.track, y, h - 2);
	}
	paintEvents(p, frame);
	paintLinks(p, frame);
	p.rect(0, 0, width, top, ink.bar);
	p.rect(0, top - 1, width, 1, ink.line);
	for (const [x, text] of ticks)
		if (fit(text, width - x - 6 * dpr) === text)
			p.text(x + 4 * dpr, 17 * dpr, text, ink.dim);
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
		p.rect(x, top, 1, p.height, ink.grid);
		ticks.push([x, time(t, apart)]);
	}
	return ticks;
}

// How strong a type is drawn: less if it can't match, 0 if it is hidden.
const strength = (type) => query?.types.get(type) !== false ? 1
	: only ? 0 : 0.25;

const scratch = []; // sums of a series for each pixel

function sumsOf(frame, list, column, first = 0) {
	return list.map((s, n) => {
		if (scratch[n + first]?.length !== frame.width)
			scratch[n + first] = new Float64Array(frame.width);
		return columns(frame, s, column, scratch[n + first]);
	});
}

const mostOf = (lists) => lists.reduce((most, list) => list.reduce((a, v) =>
	Math.max(a, v), most), 0);

function paintSums(p, frame, t, y, h) {
	// of what is shown a second time there are no events
	const { series } = t, covered = t.copy || t.folded ? [] : frame.covered;
	if (t.use === "heat") {
		// a strip for each bucket of a histogram, the larger values above
		const numbers = series.map((s) => s.row), low = Math.min(...numbers);
		const high = h / (Math.max(...numbers) - low + 1);
		const counts = sumsOf(frame, series, "count");
		const most = Math.log2(1 + mostOf(counts));
		numbers.forEach((row, n) => {
			const top = y + h - Math.round((row - low + 1) * high);
			paintStrip(p, top, y + h - Math.round((row - low) * high) - top, 0,
				(x) => counts[n][x] > 1e-9 &&
					0.25 + 0.75 * Math.log2(1 + counts[n][x]) / most);
		});
	} else if (t.isPlot) {
		for (const s of series.filter((s) => s.last))
			paintCounter(p, frame, s, hash(t.name), y, h);
	} else if (t.use === "ranges" && !t.folded) {
		// the more of a pixel's time ranges fill, the stronger
		for (const lane of t.lanes)
			for (const s of lane.series.filter((s) => s.busy)) {
				const [busy] = sumsOf(frame, [s], "busy");
				const [count] = sumsOf(frame, [s], "count", 1);
				const full = strength(s.type);
				paintStrip(p, y + Math.round(place[lane.id].y * frame.dpr),
					Math.round((LINE - 2) * frame.dpr), hueOf(s), (x) =>
						!covered[x] && busy[x] + count[x] > 1e-9 && full *
							(0.2 + 0.8 * Math.min(busy[x] / frame.step, 1)));
			}
	} else {
		paintCounts(p, frame, countsOf(t, t.folded), y, h, covered);
	}
}

// Pixels of one height, each as strong as a function says.
function paintStrip(p, y, h, colour, strongAt) {
	for (let x = 0; x < p.width; x++) {
		const part = strongAt(x);
		if (part)
			p.rect(x, y, 1, h, shade(colour, part));
	}
}

// Events in a pixel, stacked by type; heights grow as square roots, so that
// one event is seen beside thousands.
function paintCounts(p, frame, list, y, h, covered) {
	list = list.filter((s) => strength(s.type));
	const counts = sumsOf(frame, list, "count");
	const sums = new Float64Array(p.width);
	for (const one of counts)
		for (let x = 0; x < p.width; x++)
			sums[x] += one[x];
	// powers of two, so that heights keep still while the view moves
	const most = 2 ** Math.ceil(Math.log2(mostOf([sums]) || 1));
	const colours = list.map((s) => shade(hueOf(s), strength(s.type)));
	for (let x = 0; x < p.width; x++) {
		if (sums[x] < 1e-9 || covered[x])
			continue;
		const full = Math.max(Math.sqrt(sums[x] / most) * h, 2);
		let bottom = y + h, sum = 0;
		for (let n = 0; n < list.length; n++) {
			sum += counts[n][x];
			const top = y + h - Math.round(full * sum / sums[x]);
			if (top < bottom)
				p.rect(x, top, 1, bottom - top, colours[n]);
			bottom = top;
		}
	}
}

function paintCounter(p, { width, from, step, dpr, xOf }, s, colour, y, h) {
	const line = Math.max(Math.round(1.5 * dpr), 1), { at } = s;
	const end = Math.min(width, Math.ceil(xOf(log.span)) + 1);
	const scale = (h - 4 * dpr) / (s.high - s.low || 1);
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
			const c = shade(g.type.color, full), key = x * 4096 + c;
			if (x >= 0 && !g.block.long && seen[g.track[i]] !== key)
				p.rect(x, y + 3, thin, Math.round(at.row.height * dpr) - 7, c);
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
		if (w > 24 * dpr && low > top - line)
			labels.push([Math.max(x, 0), low, Math.min(end, width),
				nameOf(g, i), full < 1 ? "fg" : "on"]);
	});
	for (const [x, y, end, text, colour] of labels)
		p.text(x + 4 * dpr, y + line - 6 * dpr, fit(text, end - x - 9 * dpr),
			ink[colour]);
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
	const box = (colour, ...where) => {
		c.fillStyle = css(ink[colour]);
		c.fillRect(...where);
	};
	if (selection) {
		const x = xOf(selection.from), end = xOf(selection.to);
		const r = place[selection.track]?.row;
		c.globalAlpha = 0.15;
		box("accent", x, r ? yOf(r.y) : 0, end - x,
			r ? r.height * dpr : height);
		c.globalAlpha = 1;
		box("accent", x, 0, dpr, height);
		box("accent", end, 0, dpr, height);
	}
	const at = chosen && place[chosen.track.id];
	if (at) {
		const x = xOf(chosen.time), range = chosen.duration !== undefined;
		const y = yOf(at.row.y + (range ? at.y - 1 +
			chosen.group.depth[chosen.i] * LINE : 2));
		c.strokeStyle = css(ink.fg);
		c.lineWidth = 2 * dpr;
		if (y >= top)
			c.strokeRect(x - 2 * dpr, y, Math.max(xOf(chosen.end) - x, dpr) +
				4 * dpr, (range ? LINE : at.row.height - 5) * dpr);
	}
	marks.forEach((t, i) => {
		const x = xOf(t);
		box("fg", x, 0, dpr, height);
		box("fg", x, 0, 14 * dpr, 14 * dpr);
		c.fillStyle = css(ink.bg);
		c.fillText("AB"[i], x + 3 * dpr, 11 * dpr);
	});
}
