// SPDX-License-Identifier: BSD-2-Clause
// Charts as SVG elements: histograms, curves, bars and ranges.

const WIDE = 600, HIGH = 260, LEFT = 76, RIGHT = 30, TOP = 10, BOTTOM = 44;
const HUES = 10; // colours --c0 to --c9
const drawn = []; // what the panel shows: {title, kind, data}

const hue = (i) => `var(--c${i % HUES})`;

// Logarithms of both signs, and 0.
const bend = (v) => Math.sign(v) * Math.log2(1 + Math.abs(v));

// Where values from lo to hi are between pixels a and b.
function scale(lo, hi, a, b, log, unit) {
	const f = log ? bend : (v) => v;
	const from = f(lo), width = f(hi) - from || 1;
	const at = (v) => a + (b - a) * (f(v) - from) / width;
	const ticks = [], most = Math.max(2, Math.abs(b - a) / 60);
	if (log) {
		const base = unit === "bytes" ? 2 : 10;
		const all = Math.log(1 + Math.abs(hi) + Math.abs(lo)) / Math.log(base);
		const step = base ** Math.ceil(all / most);
		for (let v = 1; v <= Math.max(hi, -lo); v *= step)
			ticks.push(v, -v);
		ticks.push(0);
	} else {
		const least = Math.max(hi - lo || 1, Math.abs(lo) / 2 ** 45) / most;
		const step = unit === "bytes"
			? 2 ** Math.ceil(Math.log2(least)) : stepOf(least);
		for (let v = Math.ceil(lo / step) * step; v <= hi; v += step)
			ticks.push(Math.abs(v) < step / 2 ? 0 : v);
	}
	return { at, lo, hi, unit, ticks: ticks.filter((v) => v >= lo && v <= hi) };
}

const pathOn = (name, d) => el("path", { class: name, d });
const textAt = (x, y, anchor, ...parts) => el("text",
	{ x, y, "text-anchor": anchor }, parts);
const box = (x, y, width, height, fill, text) => el("rect",
	{ x, y, width, height, fill }, hint(text));
const hint = (text) => el("title", text);

const across = (x, floor) => el("g.axes", x.ticks.map((v) => [
	pathOn("grid", `M${x.at(v).toFixed(1)} ${TOP}V${floor}`),
	textAt(x.at(v), floor + 15, "middle", mark(v, x.unit))]));

function frame(x, y, xTitle, yTitle) {
	const floor = HIGH - BOTTOM, g = across(x, floor);
	for (const v of y.ticks)
		g.append(pathOn("grid",
			`M${LEFT} ${y.at(v).toFixed(1)}H${WIDE - RIGHT}`),
		textAt(LEFT - 6, y.at(v) + 4, "end", mark(v, y.unit)));
	g.append(pathOn("axis", `M${LEFT} ${TOP}V${floor}H${WIDE - RIGHT}`),
	el("text.title", { x: (LEFT + WIDE - RIGHT) / 2,
		y: HIGH - 8, "text-anchor": "middle" }, xTitle),
	el("text.title", { "text-anchor": "middle",
		transform: `translate(12 ${(TOP + floor) / 2}) rotate(-90)` }, yTitle));
	return g;
}

// The picture as a file: what the style sheet says is written into it.
function pictureOf(node) {
	const copy = node.cloneNode(true), all = copy.querySelectorAll("*");
	node.querySelectorAll("*").forEach((e, i) => {
		const style = getComputedStyle(e);
		for (const name of ["fill", "stroke", "fill-opacity"])
			all[i].setAttribute(name, style.getPropertyValue(name));
	});
	copy.setAttribute("font-family", "sans-serif");
	copy.setAttribute("font-size", "11");
	copy.prepend(el("rect", { width: "100%", height: "100%",
		fill: getComputedStyle(document.body).backgroundColor }));
	return xml(new XMLSerializer().serializeToString(copy));
}

const svgButton = (name, picture) => el("button", { click: () =>
	save(`${name}.svg`, "image/svg+xml", pictureOf(picture)) }, "SVG");
const csvButton = (name, rows) => el("button", { click: () =>
	save(`${name}.csv`, "text/csv", csvOf(rows)) }, "CSV");

// A chart, what it is about, and its numbers as a table and a file.
// data: {columns, rows}, as table() has them.
function figure(kind, title, about, height, plot, data, names) {
	const picture = el("svg", { viewBox: `0 0 ${WIDE} ${height}`,
		width: WIDE, height, role: "img", "aria-label":
			`${title}: ${data.rows.length} rows, in the table below` },
	plot);
	const file = title.replace(/[^\w.-]+/g, "-").slice(0, 60);
	const rows = closed("Numbers", () =>
		table(title, data.columns, data.rows));
	drawn.push({ title, kind, rows: data.rows, picture });
	return el("figure", el("figcaption", el("b", title), " ",
		el("span.dim", about || "")), picture,
	names?.length > 1 && el("p.legend",
		names.map((name, i) => el("span", el("svg",
			{ width: 10, height: 10, "aria-hidden": "true" },
			el("rect", { width: 10, height: 10, fill: hue(i) })),
		` ${name} `))),
	el("div", svgButton(file, picture), " ", csvButton(file,
		[data.columns.map((c) => c.name), ...data.rows])), rows);
}

const columnsOf = (...list) => list.map(([name, unit, text]) =>
	({ name, unit, text }));

// buckets: {lo, hi, count}.  range: {lo, hi, most} of all that are compared.
// density: how high the bar of a bucket is, where not by its weight alone.
function histogramOf(title, about, unit, buckets, range, logX, logY, density) {
	const x = scale(range.lo, range.hi, LEFT, WIDE - RIGHT, logX, unit);
	const y = scale(0, range.most, HIGH - BOTTOM, TOP, logY);
	return figure("histogram", title, about, HIGH, [
		frame(x, y, `value${unit ? ` (${unit === "ns" ? "time" : unit})` : ""}${
			logX ? ", logarithmic" : ""}`, `weight${density ? " / width" : ""}${
			logY ? ", logarithmic" : ""}`),
		...buckets.map((b) => {
			const left = x.at(b.lo), up = y.at(density ? density(b) : b.count);
			return box(left + 0.25, up, Math.max(x.at(b.hi) - left - 0.5, 0.5),
				Math.max(y.at(0) - up, b.count > 0 ? 1 : 0), hue(0),
				`${spanOf(b.lo, b.hi, unit)}: ${grouped.format(b.count)}`);
		})],
	{ columns: columnsOf(["from", unit], ["to", unit], ["weight"]),
		rows: buckets.map((b) => [b.lo, b.hi, b.count]) });
}

// series: {name, points: [[x, y], ...], area}.  NaN is a gap.
function curvesOf(title, about, series, o) {
	const all = series.flatMap((s) => s.points).filter(([, v]) => v === v);
	const span = (i, first) => all.reduce(([lo, hi], p) =>
		[Math.min(lo, p[i]), Math.max(hi, p[i])], [first, first]);
	const [lo, hi] = span(0, o.logX && all.length ? all[0][0] : 0);
	const [least, most] = span(1, 0);
	const x = scale(lo, hi || 1, LEFT, WIDE - RIGHT, o.logX, o.xUnit);
	const y = scale(least, most || 1, HIGH - BOTTOM, TOP, false, o.unit);
	const paths = series.map((s, i) => {
		let pen = "M";
		const line = s.points.map(([a, b]) => {
			const step = b === b ? `${pen}${x.at(a).toFixed(1)} ${
				y.at(b).toFixed(1)}` : "";
			pen = b === b ? "L" : "M";
			return step;
		}).join("");
		const last = s.points.at(-1);
		const area = s.area && last ? `${line}L${x.at(last[0]).toFixed(1)} ${
			y.at(0)}L${x.at(s.points[0][0]).toFixed(1)} ${y.at(0)}Z` : "";
		return el("path", { d: area || line, class: area ? "area" : "curve",
			[area ? "fill" : "stroke"]: hue(i) }, hint(s.name));
	});
	return figure("curves", title, about, HIGH, [
		frame(x, y, `${o.xTitle}${o.logX ? ", logarithmic" : ""}`, o.yTitle),
		...paths],
	{ columns: columnsOf(["curve", "", true], [o.xTitle, o.xUnit],
		[o.yTitle || "value", o.unit]),
	rows: series.flatMap((s) => s.points.map((p) => [s.name, ...p])) },
	series.map((s) => s.name));
}

const cut = (text) => text.length > 28 ? `${text.slice(0, 27)}…` : text;
const spanOf = (lo, hi, unit) => `${show(lo, unit)} to ${show(hi, unit)}`;

// Rows of a label and what is drawn of it, step pixels each.  values: those of
// the axis; drawOf(row, up, x): the shapes below a height.
function rowsOf(kind, title, about, unit, rows, step, values, log, drawOf,
	table, names) {
	const left = 16 + 6.4 * Math.max(6, ...rows.map(([label]) =>
		cut(String(label)).length));
	const height = TOP + rows.length * step + 30;
	const x = scale(Math.min(0, ...values), Math.max(0, ...values) || 1, left,
		WIDE - 110, log, unit);
	return figure(kind, title, about, height, [across(x, height - 28),
		rows.map((row, i) => [textAt(left - 6, TOP + i * step + step / 2 + 1,
			"end", cut(String(row[0])), hint(row[0])),
		drawOf(row, TOP + i * step, x)])],
	table, names);
}

// rows: [label, value of each name ...], drawn beside each other.
function barsOf(title, about, unit, names, rows, log, most = 40) {
	const shown = rows.slice(0, most), n = names.length;
	const thick = n > 1 ? 12 : 14;
	const values = shown.flatMap((r) => r.slice(1)).map(Number)
		.filter(Number.isFinite);
	const drawOf = ([label, ...cells], up, x) => cells.map((v, k) => {
		const value = Number(v ?? NaN), a = x.at(0), b = x.at(value);
		const y = up + k * thick;
		return Number.isFinite(value) && [box(Math.min(a, b), y,
			Math.max(Math.abs(b - a), 1), thick - 1, hue(k),
			`${label}, ${names[k]}: ${show(value, unit)}`),
		textAt(Math.max(a, b) + 4, y + thick / 2 + 4, "start",
			mark(value, unit))];
	});
	return rowsOf("bars", title, [about, rows.length > most &&
		`${rows.length - most} more in the table`].filter(Boolean).join("; "),
	unit, shown, thick * n + 7, values, log, drawOf,
	{ columns: columnsOf(["", "", true], ...names.map((s) => [s, unit])),
		rows }, names);
}

// rows: [name, least, most, marks: [[name, value], ...]].
function rangesOf(title, about, unit, rows) {
	const names = rows[0][3].map((m) => m[0]);
	const flat = rows.map(([name, lo, hi, marks]) =>
		[name, lo, hi, ...marks.map((m) => m[1])]);
	const drawOf = ([, lo, hi, marks], up, x) => {
		const range = box(x.at(lo), up + 3, Math.max(x.at(hi) - x.at(lo), 1),
			14, hue(0), spanOf(lo, hi, unit));
		range.setAttribute("fill-opacity", 0.4);
		return [range, marks.map(([what, v], k) => box(x.at(v) - 1.5, up, 3, 20,
			hue(k + 1), `${what}: ${show(v, unit)}`))];
	};
	return rowsOf("range", title, about, unit, rows, 24,
		flat.flatMap((row) => row.slice(1)), false, drawOf,
		{ columns: columnsOf(["", "", true], ["least", unit], ["most", unit],
			...names.map((name) => [name, unit])), rows: flat },
		["from the least to the most", ...names]);
}
