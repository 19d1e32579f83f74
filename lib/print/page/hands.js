// SPDX-License-Identifier: BSD-2-Clause
// Keys, mouse, wheel, fingers, and what they change; files to keep.
"use strict";

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
	const own = ["time", "duration", "track", "kind", "type", "name"];
	// fields of these names are written as in tel-filter(7)
	const head = [...own, ...[...names].map((n) =>
		own.includes(n) ? `.${n}` : n)];
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
