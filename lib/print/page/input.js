// SPDX-License-Identifier: BSD-2-Clause
// Keys, mouse, wheel, fingers, and what they change; files to keep.

let gesture = 0; // the number of the last one

// Doubles tell such times apart.
const leastSize = () => Math.max(10, log.span / 2 ** 46);

function bounded(from, to) {
	const size = between(to - from, leastSize(), log.span * 1.02 || 10);
	const over = log.span * 0.01;
	from = Math.max(Math.min((from + to - size) / 2,
		log.span + over - size), -over);
	return { from, to: from + size };
}

// Changes of the same gesture are undone at once.
function setView(from, to, id = ++gesture) {
	if (id !== log.gesture)
		undo.push(view);
	log.gesture = id;
	view = bounded(from, to);
	refresh();
}

const sizeOf = () => view.to - view.from;
const timeAt = (x) => view.from + x / $("area").clientWidth * sizeOf();
const centre = (t) => setView(t - sizeOf() / 2, t + sizeOf() / 2);
const hairlineAt = () => hairline ?? (view.from + view.to) / 2;
const here = () => pointer ? pointer.x : $("area").clientWidth / 2;

const around = (x, factor) => [view.from, view.to].map((end) => timeAt(x) +
	(end - timeAt(x)) * Math.max(factor, leastSize() / sizeOf()));
const moved = (part, v = view) => [v.from, v.to].map((t) =>
	t + part * (v.to - v.from));

// By hundredths of the view; with Shift, an edge of the selection too.
function moveHairline(n, e) {
	const was = hairlineAt();
	hairline = between(was + n * sizeOf() / 100, 0, log.span);
	if (hairline < view.from || hairline > view.to)
		setView(...moved(n / 5));
	if (e?.shiftKey)
		select(selection?.from === was ? selection.to : selection?.to === was
			? selection.from : was, hairline);
	drawBeside();
	refreshMarks();
}

// The event at a time: the range there, at a height of its row if one is given,
// or the nearest instant.
function eventAt(t, row, y, near) {
	const lanes = new Set(row.track.lanes.map((l) => l.id));
	let best = null, least = near;
	visit(used, (g, i) => {
		if (!lanes.has(g.track[i]) || !shown(g, i))
			return;
		const start = g.time[i], end = start + Math.max(g.length[i] - 1, 0);
		const low = place[g.track[i]].y + g.depth[i] * LINE;
		const away = Math.max(start - t, t - end, 0);
		if (away <= least && (!g.length[i] || y === undefined ||
			(y >= low && y < low + LINE))) {
			least = away;
			best = new LogEvent(g, i);
		}
	});
	return best;
}

function rowAt({ y }) {
	const at = y - RULER + scrolled();
	return y < RULER ? undefined
		: rows.find((r) => at >= r.y && at < r.y + r.height);
}

function under(p) {
	const row = rowAt(p), t = timeAt(p.x);
	const px = sizeOf() / $("area").clientWidth;
	return { row, t, px, event: row && eventAt(t, row,
		p.y - RULER + scrolled() - row.y, 5 * px) };
}

function chooseEvent(event) {
	chosen = event;
	if (event && tabNow < tabList.length - 1)
		tab(tabList.length - 1);
	const show = () => $("event")?.replaceChildren(eventOf());
	show();
	refreshMarks();
	if (event && !event.ends)
		lookUp(event).then(show);
}

// The ends of the life of its block, its stack.
async function lookUp(event) {
	event.stack = await stackOf(event);
	event.ends = [["Freed", await otherEnd(event, true)],
		["Allocated", await otherEnd(event, false)]].filter(([, e]) => e);
	refreshMarks();
}

function tip() {
	const box = $("tip"), { clientWidth, clientHeight } = $("area");
	const { row, event, t, px } = pointer && !pointer.drag
		? under(pointer) : {};
	box.hidden = !row;
	if (!row)
		return;
	const { track } = row, layer = layerAt(pointer, track);
	document.querySelector(`[data-track="${track.id}"] .beside`)
		?.replaceChildren(...besideOf(track, t));
	const list = event ? [["at", time(event.time, 1)],
		["for", show(event.duration, "ns")], ...event.texts()]
		: [["at", time(t, px)], ...countsIn(track).map((s) =>
			[s.type?.name ?? rowName(s.row, track.unit), show(Number(
				total(s, "count", t - px, t + px).toPrecision(3)))])
			.filter(([, n]) => n !== "0").slice(0, 12),
		...track.series.filter((s) => s.last).map((s) =>
			["value", show(valueAt(s, t), track.unit)]),
		...layer ? [[baseName(layer.name), short(layer.values[
			Math.floor(pointer.x * devicePixelRatio)], "bytes")]] : []];
	box.replaceChildren(el("b", (event ?? track).name), facts(list));
	const { x, y } = pointer, above = y > clientHeight / 2;
	box.style = `left: ${x}px; top: ${y + (above ? -10 : 18)}px; translate: ${
		-100 * x / clientWidth}% ${above ? -100 : 0}%`;
}

const rowName = (row, unit) => row === 0 ? "0"
	: `${show(2 ** (row - 1), unit)} to ${show(2 ** row, unit)}`;

function select(from, to) {
	selection = from === undefined ? null
		: { from: between(Math.min(from, to), 0, log.span),
			to: between(Math.max(from, to), 0, log.span) };
	refreshMarks();
}

// The edge of the selection that stays while the one at a pixel is dragged.
function otherEdge(x) {
	const { from, to } = selection ?? {};
	const at = (t) => Math.abs(timeAt(x) - t) * $("area").clientWidth <
		5 * sizeOf();
	return at(to) ? from : at(from) ? to : undefined;
}

const on = (element, list) => Object.entries(list).forEach(([name, f]) =>
	element.addEventListener(name, f, { passive: false }));

function listen() {
	const area = $("area"), canvas = $("canvas"), fingers = new Map();
	let pinch = 0, wheel = 0, wheeled = 0;
	const point = (e) => {
		const box = area.getBoundingClientRect();
		return { x: e.clientX - box.left, y: e.clientY - box.top };
	};
	const spread = () => {
		const [a, b] = [...fingers.values()];
		return [Math.abs(a.x - b.x) || 1, (a.x + b.x) / 2];
	};

	// Drag selects; a finger, or with Shift the mouse, moves.
	function up(e) {
		fingers.delete(e.pointerId);
		if (pointer?.drag && !pointer.moved && e.type === "pointerup") {
			const { row, event } = under(pointer);
			chooseEvent(event ?? null);
			if (isNote(pointer, row?.track))
				keys.p();
		}
		if (pointer)
			pointer.drag = undefined;
	}
	on(canvas, {
		wheel(e) {
			const { deltaX: dx, deltaY: dy } = e;
			// the wheel alone scrolls the page
			if (!e.ctrlKey && !e.shiftKey && Math.abs(dx) <= Math.abs(dy))
				return;
			if (wheel !== gesture || e.timeStamp - wheeled > 600)
				wheel = ++gesture;
			wheeled = e.timeStamp;
			pointer = point(e);
			setView(...e.shiftKey || Math.abs(dx) > Math.abs(dy)
				? moved((dx || dy) / area.clientWidth)
				: around(pointer.x, 1.0015 ** (dy * (e.deltaMode ? 30 : 1))),
			wheel);
			e.preventDefault();
		},
		pointerdown(e) {
			const p = point(e), ruler = p.y < RULER, edge = otherEdge(p.x);
			canvas.setPointerCapture(e.pointerId);
			fingers.set(e.pointerId, p);
			pointer = { ...p, drag: { ...p, view, id: ++gesture,
				start: edge ?? timeAt(p.x), select: edge !== undefined ||
					e.pointerType !== "touch" && !e.shiftKey || ruler } };
			if (fingers.size === 2)
				pinch = spread()[0];
		},
		pointermove(e) {
			const drag = pointer?.drag, p = point(e);
			if (fingers.has(e.pointerId))
				fingers.set(e.pointerId, p);
			pointer = { ...p, drag, moved: drag && (pointer.moved ||
				Math.abs(p.x - drag.x) + Math.abs(p.y - drag.y) > 4) };
			if (fingers.size === 2) {
				const [now, x] = spread();
				pointer.moved = true;
				setView(...around(x, pinch / now), drag?.id);
				pinch = now;
			} else if (drag?.select && pointer.moved) {
				select(drag.start, timeAt(p.x));
			} else if (drag && pointer.moved) {
				setView(...moved((drag.x - p.x) / area.clientWidth,
					drag.view), drag.id);
			}
			const track = rowAt(p)?.track;
			canvas.style.cursor = otherEdge(p.x) !== undefined ? "ew-resize"
				: isNote(p, track) ? "pointer" : "";
			light(layerAt(p, track)?.layer);
			hairline = timeAt(p.x);
			refreshMarks();
			requestAnimationFrame(tip);
		},
		pointerup: up, pointercancel: up,
		pointerleave() {
			pointer = hairline = null;
			refreshMarks();
			tip();
		},
		dblclick(e) {
			const { event } = under(point(e));
			const d = event && Math.max(event.end - event.time, sizeOf() / 50);
			setView(...event ? [event.time - d * 0.2, event.time + d * 1.2]
				: around(here(), 0.5));
		},
	});
	on($("tree"), { click: onTree, dblclick: onTree, keydown: onTree });
	on(document, { pointerover: (e) => light(layerBeside(e)) });
	on(window, { scroll: () => scrolled() !== log.picture.scroll && refresh()
	});
	on($("find"), { submit(e) {
		e.preventDefault();
		const text = $("q").value.trim();
		if (query?.text === text) {
			only = !only;
			refresh();
		} else if (!goWhere(text)) {
			find(text);
		}
	} });
	on($("q"), { search: () => $("q").value || find("") });
	new ResizeObserver(refresh).observe(area);
}

Object.assign(keys, {
	w: () => setView(...around(here(), 0.6)),
	s: () => setView(...around(here(), 1.7)),
	a: () => setView(...moved(-0.2)), d: () => setView(...moved(0.2)),
	ArrowLeft: (e) => moveHairline(-1, e),
	ArrowRight: (e) => moveHairline(1, e),
	"[": () => select(hairlineAt(), selection?.to ?? view.to),
	"]": () => select(selection?.from ?? view.from, hairlineAt()),
	0: () => setView(0, log.span),
	z: () => setView(region().from, region().to),
	u() {
		view = undo.pop() ?? view;
		gesture++;
		refresh();
	},
	n: (e) => step(!e?.shiftKey),
	p: () => $("facts").querySelector("button")?.click(),
	e: () => dialog("files"),
	i() {
		dialog("logs");
		$("about-logs").append(about());
	},
	// a search that goes on, or else the selection
	Escape() {
		if (!searching) {
			chooseEvent(null);
			select();
			if (memory)
				showAlone("");
		}
		keys.stop();
	},
	stop: () => { searching = null; },
	csv: () => keepAs("csv", "text/csv", csv()),
	svg: () => keepAs("svg", "image/svg+xml", svg()),
	png: () => keepAs("png", "image/png", png()),
});

async function keepAs(extension, type, data) {
	$("dialog").close();
	save(`${log.title.replace(/[^\w.-]+/g, "_")}.${extension}`, type,
		await data);
}

async function csv() {
	const list = await eventsOf(region()), own = ["time", "duration", "track",
		"kind", "type", "name"];
	const names = [...new Set(list.flatMap((e) =>
		e.type.fields.map((f) => f.name)))];
	// fields of these names are written as in tel-filter(7)
	const at = new Map(names.map((n, i) => [n, i]));
	return csvOf([[...own, ...names.map((n) => own.includes(n) ? `.${n}` : n)]])
		+ list.map((e) => {
			const cells = names.map(() => "");
			for (const { name } of e.type.fields)
				cells[at.get(name)] = csvCell(e.get(name, true));
			return `${[e.time, e.duration, e.track.name, e.type.kind,
				e.type.name, e.name].map(csvCell).concat(cells)}\n`;
		}).join("");
}

function svg() {
	const w = $("area").clientWidth, h = $("area").clientHeight, left = 230;
	const picture = new Picture(w, h), names = new Picture(left, h);
	log.context.font = FONT;
	paintMarks(paint(picture));
	for (const { track, y, height } of rows) {
		const x = 6 + 12 * track.level;
		const middle = y + height / 2 + RULER - picture.scroll;
		if (middle > RULER)
			names.text(x, middle + 4,
				fit(baseName(track.name), left - 70 - x), ink.fg);
	}
	for (const [y, text] of picture.axes)
		names.text(left - 6 - textWidth(text), y + 4, text, ink.dim);
	return `<svg xmlns="http://www.w3.org/2000/svg" width="${w + left
	}" height="${h}" font-family="system-ui, sans-serif" font-size="11">` +
		`<rect width="100%" height="100%" fill="${css(shade(ink.bg))}"/>` +
		`<svg x="${left}" width="${w}">${picture.svg()}</svg>${
			names.svg()}</svg>`;
}

async function png() {
	const image = new Image(), dpr = devicePixelRatio;
	image.src = `data:image/svg+xml,${encodeURIComponent(svg())}`;
	await image.decode();
	const canvas = el("canvas", { width: image.width * dpr,
		height: image.height * dpr });
	canvas.getContext("2d").drawImage(image, 0, 0, canvas.width,
		canvas.height);
	return new Promise((done) => canvas.toBlob(done));
}
