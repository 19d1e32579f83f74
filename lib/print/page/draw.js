// SPDX-License-Identifier: BSD-2-Clause
// Draws a timeline into a buffer of pixels, or as SVG.

const FONT = "11px system-ui, \"DejaVu Sans\", sans-serif";
// A colour is a list of pixels, from the background to the colour itself.
const SHADES = 15;
const ink = {};
const shade = (colour, part = 1) => colour[Math.round(part * SHADES)];
const css = (pixel) => `#${[0, 8, 16].map((bits) => (pixel >>> bits & 255)
	.toString(16).padStart(2, "0")).join("")}`;

// The browser resolves the colours of the theme; scripts can't.
function readColours() {
	const probe = document.body.appendChild(el("i"));
	const rgb = (colour) => {
		probe.style.color = colour;
		return getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
	};
	const back = rgb("var(--bg)");
	const shades = (colour) => {
		const full = rgb(colour);
		return Array.from({ length: SHADES + 1 }, (_, n) => back.reduce(
			(pixel, v, i) => pixel + 256 ** i * Math.round(v +
				(full[i] - v) * n / SHADES), 255 * 256 ** 3));
	};
	for (const name of ("bg fg dim line grid accent on black bar " +
		"h0 h1 h2 h3 h4 h5 h6 t0 t1 t2 t3 t4 t5").split(" "))
		ink[name] = shades(`var(--${name})`);
	// a type that is not one of the most frequent is grey
	for (const t of log.types)
		t.ink = ink[`t${t.hue}`] ?? ink.dim;
	probe.remove();
}

// What is read on a colour: three hues are light in both themes.
const textOn = (colour) => colour === ink.h6 ? ink.fg : [1, 3, 4].some((i) =>
	[ink[`t${i}`], ink[`h${i}`]].includes(colour)) ? ink.black : ink.on;

// Rectangles of a part of time, and texts and lines over them.  Pixels are some
// ten times faster than paths, which are kept where no pixels are given.
class Picture {
	constructor(width, height, dpr = 1, pixels = null) {
		const { from, to } = view, step = (to - from) / width;
		const top = Math.round(RULER * dpr), scroll = scrolled();
		Object.assign(this, { width, height, dpr, pixels, from, step, top,
			scroll, paths: {}, over: [], axes: [], // texts beside it, by height
			cells: new Map(), // sums of series
			xOf: (t) => (t - from) / step,
			yOf: (y) => top + Math.round((y - scroll) * dpr) });
	}

	rect(x, y, w, h, colour, part) {
		this.fill(x, y, w, h, shade(colour, part));
	}

	fill(x, y, w, h, pixel) {
		const { pixels, width, paths } = this, colour = pixels || css(pixel);
		if (!pixels) {
			paths[colour] = `${paths[colour] ?? ""}M${x} ${y}h${w}v${h}h${-w}z`;
			return;
		}
		const left = Math.max(x, 0), wide = Math.min(x + w, width) - left;
		const end = Math.min(y + h, this.height) * width;
		for (let row = Math.max(y, 0) * width + left; row < end; row += width)
			for (let at = row; at < row + wide; at++)
				pixels[at] = pixel;
	}

	text(x, y, text, colour) {
		if (text)
			this.over.push({ x, y, text, colour: css(shade(colour)) });
	}

	line(d, size, colour, part, opacity = 1) {
		this.over.push({ d, size, colour: css(shade(colour, part)), opacity });
	}

	drawOver(c) {
		for (const { x, y, text, d, size, colour, opacity = 1 } of this.over) {
			c.fillStyle = c.strokeStyle = colour;
			c.globalAlpha = opacity;
			c.lineWidth = size;
			if (text)
				c.fillText(text, x, y);
			else
				c.stroke(new Path2D(d));
		}
	}

	svg() {
		const escape = (text) => text.replace(/[&<>]/g, (c) =>
			`&#${c.charCodeAt(0)};`);
		return xml(Object.entries(this.paths).map(([colour, d]) =>
			`<path fill="${colour}" d="${d}"/>`)
			.concat(this.over.map(({ x, y, text, d, size, colour, opacity }) =>
				text ? `<text x="${x}" y="${y}" fill="${colour}">${
					escape(text)}</text>`
					: `<path d="${d}" fill="none" stroke="${colour
					}" stroke-width="${size}" opacity="${opacity}"/>`))
			.join(""));
	}
}

let asked = true; // until the page is ready
let stale = true; // more has changed than the selection

function refresh() {
	stale = true;
	refreshMarks();
}

function refreshMarks() {
	if (!asked)
		requestAnimationFrame(drawAll);
	asked = true;
}

function drawAll() {
	const canvas = $("canvas"), dpr = devicePixelRatio;
	const [w, h] = [$("area").clientWidth, $("area").clientHeight].map((n) =>
		Math.max(Math.round(n * dpr), 1));
	const c = log.context;
	asked = false;
	if (stale)
		choose();
	if (canvas.width !== w || canvas.height !== h || !log.image) {
		canvas.width = w;
		canvas.height = h;
		Object.assign($("ruler"), { width: w, height: RULER * dpr });
		log.image = new ImageData(w, h);
		arrange();
		stale = true;
	}
	c.font = FONT.replace("11", 11 * dpr);
	if (stale)
		log.picture = paint(new Picture(w, h, dpr,
			new Uint32Array(log.image.data.buffer)));
	stale = false;
	const marks = new Picture(w, h, dpr);
	paintMarks(marks);
	c.putImageData(log.image, 0, 0);
	log.picture.drawOver(c);
	marks.drawOver(c);
	$("ruler").getContext("2d").drawImage(canvas, 0, 0);
	drawTree();
	drawAxes(dpr);
	settle();
}

function paint(p) {
	const { width, height, dpr, top } = p;
	// which pixels show events themselves: where all of them are there
	p.covered = new Uint8Array(width);
	for (const b of used.filter((b) => !b.long))
		if (log.exact >= log.events)
			p.covered.fill(1);
		else
			p.covered.fill(1, Math.max(Math.ceil(p.xOf(b.from)), 0),
				Math.max(Math.floor(p.xOf(b.to)), 0));
	// lines and tints are those of one row of pixels
	p.pixels?.fill(shade(ink.bg), 0, (top + 1) * width);
	const ticks = ruler(p);
	paintCollections(p);
	for (let y = top + 1; p.pixels && y < height; y++)
		p.pixels.copyWithin(y * width, top * width, (top + 1) * width);
	for (const r of rows) {
		const y = p.yOf(r.y), h = Math.round(r.height * dpr);
		if (y + h < top || y > height)
			continue;
		if (r.track.use === "log")
			p.rect(0, y, width, h, ink.bar);
		p.rect(0, p.yOf(r.end) - 1, width, 1, ink.line);
		(r.track.paint ?? paintSums)(p, r.track, y, h - 1);
	}
	paintEvents(p);
	paintLinks(p);
	paintDamage(p);
	p.rect(0, 0, width, top, ink.bar);
	p.rect(0, top - 1, width, 1, ink.line);
	for (const [x, text] of ticks)
		if (fit(text, width - x - 6 * dpr) === text)
			p.text(x + 4 * dpr, 17 * dpr, text, ink.dim);
	return p;
}

// Hatches where events are missing, as the log is damaged there.
function paintDamage(p) {
	const { xOf, top, height, width, dpr } = p;
	for (const [from, to] of log.damage) {
		const left = Math.max(xOf(from) - 4 * dpr, 0);
		const wide = Math.min(xOf(to) + 4 * dpr, width) - left;
		let d = "";
		for (let y = top; wide > 0 && y < height + wide; y += 6 * dpr) {
			const low = Math.min(y, height), high = Math.max(y - wide, top);
			d += `M${left + y - low} ${low}L${left + y - high} ${high}`;
		}
		p.line(d, dpr, ink.fg, 1, 0.4);
	}
}

function ruler(p) {
	const apart = stepOf(Math.max(p.step * 110 * p.dpr, 1)), ticks = [];
	for (let t = Math.ceil(p.from / apart) * apart; t <= view.to; t += apart) {
		const x = Math.round(p.xOf(t));
		p.rect(x, p.top, 1, p.pixels ? 1 : p.height, ink.grid);
		ticks.push([x, time(t, apart)]);
	}
	return ticks;
}

// How strong a type is drawn: less if none of it matches, 0 if it is hidden.
const strength = (type) => !query || query.types.has(type) ? 1
	: only ? 0 : 0.25;

const scratch = {}; // sums for each pixel: new ones took 20 MB

function sumsOf(p, s, column) {
	if (scratch[column]?.length !== p.width)
		scratch[column] = new Float64Array(p.width);
	return columns(p, s, column, scratch[column]);
}

const mostOf = (lists) => lists.reduce((most, list) => list.reduce((a, v) =>
	Math.max(a, v), most), 0);

function paintSums(p, t, y, h) {
	// of what is shown a second time there are no events
	const covered = t.copy || t.folded ? [] : p.covered;
	if (t.use === "heat") {
		paintHeat(p, t, y, h);
	} else if (t.curve) {
		paintCounter(p, t.curve, y, h);
	} else if (t.use === "ranges" && !t.folded) {
		// the more of a pixel's time ranges fill, the stronger
		for (const lane of t.lanes)
			for (const s of lane.series.filter((s) => s.busy)) {
				const busy = sumsOf(p, s, "busy");
				const count = sumsOf(p, s, "count");
				const low = y + Math.round(place[lane.id].y * p.dpr);
				const high = Math.round((LINE - 2) * p.dpr);
				const full = strength(s.type);
				for (let x = 0; full && x < p.width; x++)
					if (!covered[x] && busy[x] + count[x] > 1e-9)
						p.rect(x, low, 1, high, s.type?.ink ?? ink.dim, full *
							(0.2 + 0.8 * Math.min(busy[x] / p.step, 1)));
			}
	} else {
		paintBars(p, countsIn(t).map((s) =>
			({ type: s.type, s })), y + h, h, covered);
	}
}

// Columns from one edge to another; equal ones are one rectangle.
function paintArea(p, top, bottom, colour, part, end = p.width) {
	const pixel = shade(colour, part);
	for (let x = 1, from = 0; x <= end; x++) {
		if (x < end && top[x] === top[from] && bottom[x] === bottom[from])
			continue;
		if (bottom[from] > top[from])
			p.fill(from, top[from], x - from, bottom[from] - top[from], pixel);
		from = x;
	}
}

function paintCounter(p, s, y, h,
	scale = (h - 4 * p.dpr) / (s.high - s.low || 1),
	{ low, high } = curveOf(s, p)) {
	const line = Math.max(Math.round(1.5 * p.dpr), 1);
	const end = Math.min(p.width, Math.ceil(p.xOf(log.span)) + 1);
	const up = (v) => y + h - Math.round((v - s.low) * scale), base = up(0);
	const first = p.xOf(s.at?.[0] * s.width || 0), top = high.map(up);
	low.fill(NaN, 0, Math.max(Math.ceil(first), 0)); // unknown
	paintArea(p, top.map((v) => Math.min(v, base)),
		low.map((v, x) => v === v ? Math.max(base, top[x]) : v), ink.dim,
		0.3, end);
	paintArea(p, top.map((v) => v - line),
		low.map((v, x) => Math.max(up(v) - line, top[x])), ink.dim, 1, end);
}

function paintEvents(p) {
	const { width, height, dpr, top, yOf, xOf } = p;
	const line = Math.round(LINE * dpr), seen = [];
	// few instants are wider, so that they are found
	const few = eventsIn(used, view.from, view.to) < width / 4;
	const thin = Math.max(Math.round(dpr * (few ? 2 : 1)), 1);
	// what matches a search is over all that does not
	for (const full of query ? [0.25, 1] : [1])
		visit(used, (g, i) => paintEvent(g, i, full));

	function paintEvent(g, i, full) {
		const at = place[g.track[i]];
		if (!at || !shown(g, i) ||
			(query && matches(g)[i] !== Number(full === 1)))
			return;
		const x = Math.round(xOf(g.time[i])), y = yOf(at.row.y);
		if (x >= width || y > height)
			return;
		if (!g.length[i]) {
			// one pixel shows one instant of a colour
			const key = x * 2 ** 32 + shade(g.type.ink, full);
			if (x >= 0 && !g.block.long && seen[g.track[i]] !== key)
				p.rect(x, y + 3, thin, Math.round(at.row.height * dpr) - 7,
					g.type.ink, full);
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
		p.rect(x, low, w > 3 ? w - 1 : w, line - 2, g.type.ink, full);
		const left = Math.max(x, 0) + 4 * dpr;
		if (w > 24 * dpr && low > top - line)
			p.text(left, low + line - 6 * dpr, fit(nameOf(g, i),
				Math.min(end, width) - left - 5 * dpr),
			full < 1 ? ink.fg : textOn(g.type.ink));
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
function paintLinks(p) {
	const list = log.lines.filter((l) => l.to >= view.from &&
		l.from <= view.to && strength(l.type));
	const each = Math.ceil(list.length / 1000), many = list.length > 60;
	for (const l of list.filter((_, i) => i % each === 0))
		p.line(`M${p.xOf(l.from)} ${middleOf(l.source, p)}L${
			p.xOf(l.to)} ${middleOf(l.target, p)}`,
		(many ? 1.5 : 3) * p.dpr, l.type.ink,
		(many ? 0.5 : 0.7) * strength(l.type));
}

const widths = new Map();

function textWidth(text) {
	const key = `${log.context.font} ${text}`;
	if (widths.size > 5000)
		widths.clear();
	if (!widths.has(key))
		widths.set(key, log.context.measureText(text).width);
	return widths.get(key);
}

function fit(text, room) {
	const w = textWidth(text), n = Math.floor(text.length * room / w) - 1;
	return w <= room ? text : n > 3 ? `${text.slice(0, n)}…` : "";
}

function paintMarks(p) {
	const { width, height, dpr, top, xOf, yOf } = p;
	const clip = (t) => between(xOf(t), -9, width + 9);
	const upright = (t, colour) => p.line(`M${clip(t)} 0V${height}`, dpr,
		colour);
	if (hairline !== null)
		upright(hairline, ink.dim);
	if (selection) {
		const { from, to } = selection, middle = (top + height) / 2;
		p.line(`M0 ${middle}H${clip(from)}M${clip(to)} ${middle}H${width}`,
			height - top, ink.bg, 1, 0.62);
		upright(from, ink.accent);
		upright(to, ink.accent);
	}
	const at = chosen && place[chosen.track.id];
	for (const [, e] of at && chosen.ends || [])
		p.line(`M${clip(e.time)} ${yOf(at.row.y) + 4 * dpr}H${
			clip(chosen.time)}`, 2 * dpr, ink.fg);
	if (at) {
		const isRange = chosen.duration !== undefined;
		const y = yOf(at.row.y + (isRange ? at.y - 1 +
			chosen.group.depth[chosen.i] * LINE : 2));
		if (y >= top)
			p.line(`M${clip(chosen.time) - 2 * dpr} ${y}H${clip(chosen.end) +
				2 * dpr}v${(isRange ? LINE : at.row.height - 5) * dpr}H${
				clip(chosen.time) - 2 * dpr}z`, 2 * dpr, ink.fg);
	}
}
