// SPDX-License-Identifier: BSD-2-Clause
// Keys, mouse, wheel, fingers, and what they change; files to keep.
"use strict";

const calm = matchMedia("(prefers-reduced-motion: reduce)");
let gesture = 0; // the number of the last one

function bounded(from, to) {
	const size = Math.min(Math.max(to - from, 10), log.span * 1.02 || 10);
	const over = log.span * 0.01;
	from = Math.max(Math.min(from, log.span + over - size), -over);
	return { from, to: from + size };
}

// Changes of the same gesture are undone at once.
function setView(from, to, id = ++gesture) {
	if (id !== log.gesture) {
		undo.push(view);
		redo = [];
	}
	log.gesture = id;
	view = bounded(from, to);
	refresh();
}

function back(one, other) {
	if (one.length) {
		other.push(view);
		view = one.pop();
		gesture++;
		refresh();
	}
}

const sizeOf = () => view.to - view.from;
const timeAt = (x) => view.from + x / $("area").clientWidth * sizeOf();
const centre = (t, size = sizeOf()) => setView(t - size / 2, t + size / 2);

// The view zoomed around the time at a pixel; and moved.
function around(x, factor) {
	const t = timeAt(x);
	return [t - (t - view.from) * factor, t + (view.to - t) * factor];
}
const moved = (part, v = view) => [v.from, v.to].map((t) =>
	t + part * (v.to - v.from));

const zoom = (factor) => glide(...around(
	pointer ? pointer.x : $("area").clientWidth / 2, factor));
const pan = (part) => glide(...moved(part));

// Moves there in a tenth of a second, or at once where motion is not wanted.
function glide(from, to) {
	const a = view, b = bounded(from, to), start = performance.now();
	const id = ++gesture;
	const go = (now) => {
		const part = Math.min(Math.max((now - start) / 100, 0), 1);
		if (id !== gesture)
			return;
		setView(a.from + (b.from - a.from) * part,
			a.to + (b.to - a.to) * part, id);
		if (part < 1)
			requestAnimationFrame(go);
	};
	go(calm.matches ? Infinity : start);
}

function rowAt(y) {
	const at = y - RULER + $("scroll").scrollTop;
	return rows.find((r) => at >= r.y && at < r.y + r.height);
}

// The event at a time: the range there, at that height of its row if one is
// given, or the nearest instant.
function eventAt(t, row, y, near) {
	const lanes = new Set(row.track.lanes.map((l) => l.id));
	let best = null, least = near;
	visit(used, (g, i) => {
		if (!lanes.has(g.track[i]) || g.depth[i] < 0 || !shown(g, i))
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

// What is at a pixel: its row, its time, and the event there.
function under({ x, y }) {
	const row = rowAt(y), t = timeAt(x);
	const px = sizeOf() / $("area").clientWidth;
	return y < RULER || !row ? {} : { row, t, px, event: eventAt(t, row,
		y - RULER + $("scroll").scrollTop - row.y, 5 * px) };
}

function chooseEvent(event) {
	chosen = event;
	if (event || tabNow === EVENT)
		tab(EVENT);
	refresh();
}

// Describes what is under the pointer.
function tip() {
	const box = $("tip"), { row, event, t, px } =
		pointer && !pointer.drag ? under(pointer) : {};
	box.hidden = !row;
	if (!row)
		return;
	const list = event ? [["at", time(event.time, 1)],
		["for", show(event.duration, "ns")], ...event.texts()]
		: [["at", time(t, px)]];
	const { track } = row, add = (s) => {
		const n = total(s, "count", t - px, t + px);
		if (n > 0.001 && list.length < 12)
			list.push([s.row === undefined ? s.kind?.name : rowName(track,
				s.row), show(Number(n.toPrecision(3)))]);
	};
	if (!event) {
		countsOf(track, track.folded).forEach(add);
		for (const s of track.series.filter((s) => s.last))
			list.push(["value", show(valueAt(s, t), unitOf(track))]);
	}
	box.replaceChildren(el("b", {}, event ? event.name : track.name),
		facts(list));
	const area = $("area"), w = box.offsetWidth, h = box.offsetHeight;
	const { x, y } = pointer, below = y + 18 + h < area.clientHeight;
	box.style.left = `${Math.max(Math.min(x + 14,
		area.clientWidth - w - 4), 0)}px`;
	box.style.top = `${below ? y + 18 : Math.max(y - h - 10, 0)}px`;
}

// A row of a heat strip has the values of a power of two.
const rowName = (track, row) => row === 0 ? "0"
	: `${show(2 ** (row - 1), track.unit)} to ${show(2 ** row, track.unit)}`;

function mark() {
	const t = timeAt(pointer ? pointer.x : $("area").clientWidth / 2);
	marks = marks.length < 2 ? [...marks, t] : [t];
	refresh();
}

function setSelection(from, to, track = 0) {
	selection = from === undefined ? null
		: { from: Math.min(from, to), to: Math.max(from, to), track };
	if (selection && tabNow === EVENT)
		tab(0);
	refresh();
}

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
	const on = (list, of = canvas) => Object.entries(list).forEach(
		([name, f]) => of.addEventListener(name, f, { passive: false }));

	// Drag moves; with Shift, or on the ruler, it selects.
	function up(e) {
		fingers.delete(e.pointerId);
		if (pointer?.drag && !pointer.moved && e.type === "pointerup")
			chooseEvent(under(pointer).event || null);
		if (pointer)
			pointer.drag = undefined;
	}
	on({
		wheel(e) {
			const { deltaX: dx, deltaY: dy } = e;
			if (wheel !== gesture || e.timeStamp - wheeled > 600)
				wheel = ++gesture;
			wheeled = e.timeStamp;
			pointer = point(e);
			setView(...e.shiftKey || Math.abs(dx) > Math.abs(dy)
				? moved((dx || dy) / area.clientWidth)
				: around(pointer.x, 1.0015 ** (dy * (e.deltaMode ? 30 : 1) *
					(e.ctrlKey ? 4 : 1))), wheel);
			e.preventDefault();
		},
		pointerdown(e) {
			const p = point(e), ruler = p.y < RULER;
			canvas.setPointerCapture(e.pointerId);
			fingers.set(e.pointerId, p);
			pointer = { ...p, drag: { ...p, view, id: ++gesture,
				scroll: $("scroll").scrollTop, select: e.shiftKey || ruler,
				track: ruler ? 0 : rowAt(p.y)?.track.id } };
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
				setSelection(timeAt(drag.x), timeAt(p.x), drag.track);
			} else if (drag && pointer.moved) {
				setView(...moved((drag.x - p.x) / area.clientWidth,
					drag.view), drag.id);
				$("scroll").scrollTop = drag.scroll + drag.y - p.y;
			}
			requestAnimationFrame(tip);
		},
		pointerup: up, pointercancel: up,
		pointerleave() {
			pointer = null;
			tip();
		},
		dblclick(e) {
			const { event } = under(point(e));
			const d = event && Math.max(event.end - event.time, sizeOf() / 50);
			if (event)
				glide(event.time - d * 0.2, event.time + d * 1.2);
			else
				zoom(0.5);
		},
	});
	on({ wheel(e) { $("scroll").scrollTop += e.deltaY; } }, $("gutter"));
	on({ scroll: refresh }, $("scroll"));
	on({ submit(e) {
		e.preventDefault();
		if (query?.text === $("q").value.trim())
			step(true);
		else
			find($("q").value);
	} }, $("find"));
	on({ search: () => $("q").value || find("") }, $("q"));
	on({ change(e) {
		only = e.target.checked;
		log.told = "";
		refresh();
	} }, $("only"));
	new ResizeObserver(refresh).observe(area);
}

function makeKeys() {
	const scroll = (d) => () => { $("scroll").scrollTop += d; };
	commands([
		["w", "Zoom in", () => zoom(0.6)], ["s", "Zoom out", () => zoom(1.7)],
		[["a", "ArrowLeft"], "Earlier", () => pan(-0.2)],
		[["d", "ArrowRight"], "Later", () => pan(0.2)],
		["ArrowUp", "Tracks above", scroll(-60)],
		["ArrowDown", "Tracks below", scroll(60)],
		["0", "All of the log", () => glide(0, log.span), "Whole log"],
		["z", "Zoom to the selection", () =>
			glide(region().from, region().to)],
		["u", "Undo the last change of the view", () => back(undo, redo),
			"Undo"],
		["r", "Redo it", () => back(redo, undo)],
		["/", "Search", () => $("q").focus()],
		["n", "Next event that matches", () => step(true)],
		["p", "Previous event that matches", () => step(false)],
		["g", "Go to a time, a track, an event", goDialog, "Go to"],
		["v", "Select what is visible",
			() => setSelection(view.from, view.to, chosenTrack)],
		["m", "Set a mark; two marks show their difference", mark],
		["Escape", "Clear the selection and the marks", () => {
			marks = [];
			chooseEvent(null);
			setSelection();
		}],
		["f", "Fold or unfold all tracks", () => {
			const folded = !log.tracks.some((t) => t.level && t.folded);
			for (const t of log.tracks)
				setFold(t, t.level > 0 && folded);
		}],
		["e", "Export as CSV, SVG or PNG", exportDialog, "Export"],
		["Drag", "Moves; with Shift, or on the ruler, it selects"],
		["Wheel", "Zooms; with Shift it moves"],
		["Double click", "Zooms to an event"],
	]);
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

function exportDialog() {
	const name = log.title.replace(/[^\w.-]+/g, "_");
	dialog("Export", ...[
		[`${selection ? "Selected" : "Visible"} events as CSV`, "csv",
			"text/csv", csv],
		["The view as SVG", "svg", "image/svg+xml", svg],
		["The view as PNG", "png", "image/png", png],
	].map(([text, ext, type, make]) => el("p", {}, el("button", {
		click: async () => {
			$("dialog").close();
			save(`${name}.${ext}`, type, await make());
		} }, text))));
}

async function csv() {
	const list = await eventsOf(region()), own = ["time", "duration", "track",
		"kind", "type", "name"];
	const names = [...new Set(list.flatMap((e) =>
		e.type.fields.map((f) => f.name)))];
	// fields of these names are written as in tel-filter(7)
	return [[...own, ...names.map((n) => own.includes(n) ? `.${n}` : n)],
		...list.map((e) => [e.time, e.duration, e.track.name, e.type.kind,
			e.type.name, e.name, ...names.map((n) => e.get(n, true))])]
		.map((row) => `${csvRow(row)}\n`).join("");
}

// The names of the tracks are left of the drawing.
function svg() {
	const w = $("area").clientWidth, h = $("area").clientHeight, left = 230;
	const p = new Svg(w, h);
	log.context.font = FONT;
	paint(p, 1);
	for (const r of rows) {
		const y = RULER + r.y - $("scroll").scrollTop;
		const x = 6 + 12 * r.track.level;
		if (y + r.height > RULER)
			p.text(x, y + r.height / 2 + 4,
				fit(baseName(r.track.name), left - 10 - x), 1);
	}
	return `<svg xmlns="http://www.w3.org/2000/svg" width="${w + left
	}" height="${h}" font-family="system-ui, sans-serif" font-size="11">` +
		`<rect width="100%" height="100%" fill="${log.css[0]}"/><svg x="${
			left}" width="${w}">${p.done}</svg>${p.late.join("")}</svg>`;
}

async function png() {
	const image = new Image(), dpr = window.devicePixelRatio || 1;
	image.src = `data:image/svg+xml,${encodeURIComponent(svg())}`;
	await image.decode();
	const canvas = el("canvas", { width: image.width * dpr,
		height: image.height * dpr });
	canvas.getContext("2d").drawImage(image, 0, 0, canvas.width,
		canvas.height);
	return new Promise((done) => canvas.toBlob(done));
}
