// SPDX-License-Identifier: BSD-2-Clause
// The shell of every page: data, numbers, tables, tabs, keys, themes, files.
//
// What comes from a log is hostile.  It reaches the document through el()
// alone, as text or as the value of a harmless attribute.
"use strict";

const $ = (id) => document.getElementById(id);
const views = {}; // how each kind of page is shown, by head.page
const keys = new Map(); // a key to [what it does, function]

function el(tag, attributes, ...children) {
	const e = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {})) {
		if (typeof value === "function")
			e.addEventListener(name, value);
		else if (value !== false && value !== undefined)
			e.setAttribute(name, value === true ? "" : value);
	}
	e.append(...children);
	return e;
}

// ------------------------------------------------------------------- data

async function bytesOf(id) {
	const text = $(id).textContent;
	const raw = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text)
		: Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
	const stream = new Blob([raw]).stream()
		.pipeThrough(new DecompressionStream("gzip"));
	try {
		return new Uint8Array(await new Response(stream).arrayBuffer());
	} catch {
		throw new Error(`block ${id} is damaged`);
	}
}

const unzig = (v) => typeof v === "bigint"
	? (v & 1n ? -(v >> 1n) - 1n : v >> 1n)
	: (v % 2 ? -(v + 1) / 2 : v / 2);

// Reads the columns of a block.  Behind the end of a damaged one are zeros.
class Bytes {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	// A number up to 2^49, a BigInt above.
	varint() {
		const first = this.at;
		let v = 0, scale = 1, c;
		do {
			c = this.bytes[this.at++];
			v += (c & 127) * scale;
			scale *= 128;
		} while (c > 127);
		if (scale <= 2 ** 49)
			return v;
		v = 0n;
		for (let i = first; i < this.at; i++)
			v |= BigInt(this.bytes[i] & 127) << BigInt(7 * (i - first));
		return BigInt.asUintN(64, v);
	}

	plain(n, Make = Float64Array) {
		const out = new Make(n), { bytes } = this;
		for (let i = 0; i < n; i++)
			out[i] = bytes[this.at] < 128 ? bytes[this.at++]
				: Number(this.varint());
		return out;
	}

	// Running totals of a column: out[i] is the sum of what is before i.
	totals(n, Make) {
		const out = new Make(n + 1), { bytes } = this;
		for (let i = 0; i < n; i++)
			out[i + 1] = out[i] + (bytes[this.at] < 128 ? bytes[this.at++]
				: Number(this.varint()));
		return out;
	}

	// A column of deltas; of BigInts where it does not fit into doubles.
	deltas(n, from = 0, unsigned = false) {
		const first = this.at, out = new Float64Array(n);
		let v = from, i;
		for (i = 0; i < n; i++) {
			const d = this.varint();
			if (typeof d === "bigint")
				break;
			v += d % 2 ? -(d + 1) / 2 : d / 2;
			if (!Number.isSafeInteger(v) || (unsigned && v < 0))
				break;
			out[i] = v;
		}
		if (i === n)
			return out;
		const wrap = unsigned ? BigInt.asUintN : BigInt.asIntN;
		const big = [];
		this.at = first;
		v = BigInt(from);
		for (i = 0; i < n; i++) {
			v = wrap(64, v + unzig(BigInt(this.varint())));
			big.push(v);
		}
		return big;
	}

	doubles(n) {
		const out = new Float64Array(n);
		const all = new DataView(this.bytes.buffer, this.bytes.byteOffset);
		for (let i = 0; i < n; i++, this.at += 8)
			out[i] = all.getFloat64(this.at, true);
		return out;
	}

	strings() {
		const out = [], decoder = new TextDecoder();
		for (let n = this.varint(); n > 0; n--) {
			const length = this.varint();
			out.push(decoder.decode(
				this.bytes.subarray(this.at, this.at += length)));
		}
		return out;
	}
}

// ---------------------------------------------------------------- numbers

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });
const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

let clock = "ns"; // or "ticks" of an unknown rate, or "events" without a clock

// Nanoseconds: four digits, or as many as tell steps of a size apart.
function time(ns, step = 0) {
	if (clock !== "ns")
		return clock === "events" && step ? `event ${grouped.format(
			Math.round(ns))}` : `${grouped.format(Math.round(ns))} ${clock}`;
	const [scale, unit] = units.find(([scale]) =>
		Math.max(Math.abs(ns), step) >= scale) || units[3];
	const digits = Math.ceil(Math.log10(scale / step) - 1e-9);
	return `${step ? (ns / scale).toFixed(Math.min(Math.max(digits, 0), 12))
		: Number((ns / scale).toPrecision(4))} ${unit}`;
}

function bytes(n) {
	let i = 0;
	for (; Math.abs(n) >= 1024 && i < 5; i++)
		n /= 1024;
	return `${n.toLocaleString("en", { maximumSignificantDigits: 4 })} ${
		["B", "KiB", "MiB", "GiB", "TiB", "PiB"][i]}`;
}

function show(v, unit) {
	if (v === undefined || v === null || Number.isNaN(v))
		return "";
	if (typeof v !== "number" && typeof v !== "bigint")
		return String(v);
	if (unit === "ns")
		return time(Number(v));
	if (unit === "bytes")
		return bytes(Number(v));
	return grouped.format(v) + (unit ? ` ${unit}` : "");
}

// ---------------------------------------------------------- parts of pages

function say(text) {
	if ($("status").textContent !== text)
		$("status").textContent = text;
}

// columns: {name, unit, text: not a number}.  A cell is a value or a node.
// Shows the first rows, and more when asked: a log can have millions.
function table(caption, columns, rows, choose) {
	const body = el("tbody"), step = 200;
	const more = el("button", { click: add }, "More rows");
	let shown = 0, order = 0;

	function cell(value, column) {
		return el("td", column.text ? {} : { class: "number" },
			value instanceof Node ? value : show(value, column.unit));
	}
	function add() {
		for (const row of rows.slice(shown, shown + step)) {
			const go = choose && (() => choose(row));
			body.append(el("tr", go ? { tabindex: 0, click: go,
				keydown: (e) => e.key === "Enter" && go() } : {},
				...columns.map((c, i) => cell(row[i], c))));
		}
		shown = Math.min(shown + step, rows.length);
		more.hidden = shown >= rows.length;
	}
	function sort(i, th) {
		order = order === i + 1 ? -order : i + 1;
		const key = (row) => row[i] instanceof Node
			? row[i].textContent : row[i] ?? -Infinity;
		rows = [...rows].sort((p, q) => {
			const a = key(p), b = key(q);
			return (a < b ? -1 : a > b ? 1 : 0) * Math.sign(order);
		});
		for (const other of th.parentNode.children)
			other.removeAttribute("aria-sort");
		th.setAttribute("aria-sort",
			order > 0 ? "ascending" : "descending");
		body.replaceChildren();
		shown = 0;
		add();
	}
	const heads = columns.map((c, i) => el("th",
		{ scope: "col", class: c.text ? "" : "number" },
		el("button", { click: (e) =>
			sort(i, e.target.closest("th")) }, c.name)));
	add();
	return el("div", {}, el("table", {}, el("caption", {}, caption),
		el("thead", {}, el("tr", {}, ...heads)), body), more);
}

// Names and values.
function facts(list) {
	return el("dl", {}, ...list.filter(([, v]) => v !== "" && v !== undefined)
		.flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)]));
}

let tabList = [], tabNow = 0;

function tabs(list) {
	tabList = list;
	$("tabs").replaceChildren(...list.map(([name], i) => el("button", {
		role: "tab", id: `tab${i}`, "aria-controls": "panel",
		click: () => tab(i),
		keydown: (e) => {
			const d = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
			if (d) {
				tab((i + d + list.length) % list.length);
				$(`tab${tabNow}`).focus();
				e.stopPropagation();
			}
		},
	}, name)));
	tab(0);
}

async function tab(i = tabNow) {
	tabNow = i;
	tabList.forEach((_, j) => {
		$(`tab${j}`).setAttribute("aria-selected", j === i);
		$(`tab${j}`).tabIndex = j === i ? 0 : -1;
	});
	$("panel").setAttribute("aria-labelledby", `tab${i}`);
	const content = await tabList[i][1]();
	if (content && tabNow === i)
		$("panel").replaceChildren(content);
}

function dialog(title, ...content) {
	const close = el("button", { click: () => $("dialog").close() }, "Close");
	$("dialog").replaceChildren(el("h2", { id: "dialog-title" }, title),
		...content, el("p", {}, close));
	$("dialog").showModal();
}

function help() {
	dialog("Keys", el("table", {}, ...[...keys].map(([key, [what]]) =>
		el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, key)),
			el("td", {}, what)))));
}

function button(text, what, action) {
	$("buttons").append(el("button", { title: what, click: action }, text),
		" ");
}

// Lets the user keep data as a file.
function save(name, type, data) {
	const url = URL.createObjectURL(data instanceof Blob ? data
		: new Blob([data], { type }));
	el("a", { href: url, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(url), 60000);
}

const csvRow = (cells) => cells.map((c) => /[",\r\n]/.test(c ?? "")
	? `"${String(c).replace(/"/g, '""')}"` : String(c ?? "")).join(",");

// What outlives a reload.  Storage may be forbidden: nothing depends on it.
function keep(name, value) {
	try {
		if (value === undefined)
			return sessionStorage.getItem(name);
		sessionStorage.setItem(name, value);
	} catch { /* as if it was empty */ }
	return null;
}

const themes = ["", "light", "dark"];
let onTheme = () => {};

function theme(name) {
	document.documentElement.dataset.theme = name;
	keep("theme", name);
	onTheme();
}

function onKey(e) {
	const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
	if (e.key === "Escape" && typing)
		e.target.blur();
	if (typing || $("dialog").open || e.altKey || e.metaKey || e.ctrlKey)
		return;
	const found = keys.get(e.key.length === 1 ? e.key.toLowerCase() : e.key);
	if (found) {
		found[1](e);
		e.preventDefault();
	}
}

// A live page is written anew again and again.  It reloads itself whole, as
// file: pages may not read others, and its view is in its address.
function live(seconds) {
	setTimeout(() => {
		if (document.hidden || $("dialog").open)
			live(seconds);
		else
			location.reload();
	}, seconds * 1000);
}

function fail(error) {
	document.body.prepend(el("p", { id: "failed", role: "alert" },
		`This page could not be shown: ${error.message}`));
	throw error;
}

async function start() {
	if (typeof DecompressionStream === "undefined")
		throw new Error("the browser is too old (DecompressionStream)");
	const head = JSON.parse(new TextDecoder().decode(await bytesOf("head")));
	window.teltools.head = head;
	clock = head.unit || clock;
	theme(keep("theme") || "");
	$("title").textContent = head.title.replace(/^\/.*\//, "");
	$("title").title = head.title;
	document.addEventListener("keydown", onKey);
	await views[head.page](head);
	keys.set("t", ["Light, dark, or as the system", () =>
		theme(themes[(themes.indexOf(
			document.documentElement.dataset.theme) + 1) % 3])]);
	keys.set("?", ["Show these keys", help]);
	button("Theme", "Light, dark, or as the system", keys.get("t")[1]);
	button("?", "Keys", help);
	if (head.live > 0)
		live(head.live);
}

// The scripts behind this one have run when the promise does.
window.teltools = {};
window.teltools.ready = Promise.resolve().then(start).catch(fail);
