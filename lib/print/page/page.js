// SPDX-License-Identifier: BSD-2-Clause
// The shell of every page: data, numbers, tables, tabs, keys, themes, files.
//
// What comes from a log is hostile: it reaches the document through el()
// alone, as text or as the value of a harmless attribute.
"use strict";

const $ = (id) => document.getElementById(id);
const views = {}; // how each kind of page is shown, by head.page
const keys = {}; // what keys do, and the buttons that name them
const SVG = /^(svg|g|path|rect|text|title)$/;

// A tag with its classes; attributes, if there are any; and children: nodes and
// texts, also in lists, or missing.
function el(tag, ...children) {
	const [name, ...classes] = tag.split(".");
	const attributes = children[0]?.constructor === Object
		? children.shift() : {};
	const e = SVG.test(name) ? document.createElementNS(
		"http://www.w3.org/2000/svg", name) : document.createElement(name);
	if (classes.length)
		e.classList.add(...classes);
	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === "function")
			e.addEventListener(name, value);
		else if (name === "style") // the policy allows no attribute
			e.style.cssText = value;
		else if (value !== false && value !== undefined)
			e.setAttribute(name, value === true ? "" : value);
	}
	e.append(...children.flat(9).filter((c) => c || c === 0));
	return e;
}

// The data of a block.  Its text is let go where it is not read again.
async function bytesOf(id, last) {
	const text = $(id).textContent;
	const raw = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text)
		: Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
	const stream = new Response(raw).body
		.pipeThrough(new DecompressionStream("gzip"));
	if (last)
		$(id).remove();
	try {
		return new Uint8Array(await new Response(stream).arrayBuffer());
	} catch {
		throw new Error(`block ${id} is damaged`);
	}
}

const numbers = (how) => new Intl.NumberFormat("en", how);
const grouped = numbers({ maximumFractionDigits: 3 });
const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const count = (n, noun) => `${grouped.format(n)} ${noun}${n == 1 ? "" : "s"}`;
let clock = "ns"; // or "ticks" of an unknown rate, or "events" without a clock

// Nanoseconds: four digits, or as many as tell steps of a size apart.
function time(ns, step = 0) {
	if (clock !== "ns") {
		const n = Math.round(ns) + 0; // never -0
		return clock === "events" && step ? `event ${grouped.format(n)}`
			: count(n, clock.slice(0, -1));
	}
	const [scale, unit] = units.find(([scale]) =>
		Math.max(Math.abs(ns), step) >= scale) ?? units[3];
	const digits = Math.ceil(Math.log10(scale / step) - 1e-9), v = ns / scale;
	return `${step ? v.toFixed(between(digits, 0, 12))
		: Number(v.toPrecision(4))} ${unit}`;
}

const digits4 = numbers({ maximumSignificantDigits: 4 });

function bytes(n) {
	const i = Math.min(Math.log2(Math.max(Math.abs(n), 1)) / 10 | 0, 5);
	return `${digits4.format(n / 1024 ** i)} ${
		["", "Ki", "Mi", "Gi", "Ti", "Pi"][i]}B`;
}

let plain = false; // numbers are shown without commas and units

function show(v, unit) {
	if (plain || (typeof v !== "number" && typeof v !== "bigint"))
		return String(v ?? "");
	return Number.isNaN(v) ? "" : unit === "ns" ? time(Number(v))
		: unit === "at" ? time(Number(v), 1) : unit === "id" ? String(v)
		: unit === "%" ? `${(100 * Number(v)).toFixed(1)} %`
		: unit === "bytes" ? bytes(Number(v))
			: grouped.format(v) + (unit ? ` ${unit}` : "");
}

// Short, for an axis: 12k rather than 12,000.
const brief = numbers({ notation: "compact", maximumSignificantDigits: 3 });
const mark = (v, unit) => /^(bytes|ns|%)$/.test(unit) ? show(v, unit)
	: brief.format(v);

// A step of 1, 2, 5 or 10 times a power of ten that is not smaller.
function stepOf(least) {
	const ten = 10 ** Math.floor(Math.log10(least));
	return ten * [1, 2, 5, 10].find((n) => n * ten >= least);
}

const between = (v, low, high) => Math.min(Math.max(v, low), high);
const sum = (list, f = Number) => list.reduce((n, v) => n + f(v), 0);
const baseName = (path) => path.replace(/^\/.*\//, "");

function say(text) {
	if ($("status").textContent !== text)
		$("status").textContent = text;
}

// A cell is a value, or one that is shown by a node, or in a unit of its own.
const cell = (value, node, unit) => ({ value, node, unit });
const valueOf = (c) => c?.node || c?.unit ? c.value : c;

// Numbers before texts, and what is missing before both.
function compare(a, b) {
	const rank = (v) => typeof v === "string" ? 2
		: Number(v != null && v === v);
	return rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0);
}

// columns: {name, unit, text: not a number}.  Shows the first rows, and more
// when asked.
function table(caption, columns, rows, choose) {
	const body = el("tbody"), more = el("button", { click: add }, "More rows");

	function add() {
		const shown = body.children.length;
		body.append(...rows.slice(shown, shown + 200).map((row) => el("tr",
			choose && { tabindex: 0, click: () => choose(row),
				keydown: (e) => e.key === "Enter" && choose(row) },
			columns.map((c, i) => el("td", { class: !c.text && "number" },
				row[i]?.node ?? show(valueOf(row[i]),
					row[i]?.unit ?? c.unit))))));
		more.hidden = body.children.length >= rows.length;
	}
	function sort(i, head) {
		const number = (v) => columns[i].text || v === "" || isNaN(v) ||
			typeof v !== "string" ? v : Number(v);
		const key = (row) => number(valueOf(row[i]));
		const up = head.ariaSort !== "ascending";
		rows = rows.toSorted((p, q) => (up ? 1 : -1) *
			compare(key(p), key(q)));
		for (const other of head.parentNode.children)
			other.ariaSort = null;
		head.ariaSort = up ? "ascending" : "descending";
		body.replaceChildren();
		add();
	}
	add();
	return el("div", el("table", el("caption", caption),
		el("thead", el("tr", columns.map((c, i) => el("th",
			{ scope: "col", class: !c.text && "number" },
			el("button", { click: (e) => sort(i, e.target.closest("th")) },
				c.name))))), body), more);
}

// Columns of a table: * for text, > for how long, @ for when, # for bytes.
const heads = (...names) => names.map((name) => ({
	name: name.replace(/^[*>@#%]/, ""), text: name[0] === "*",
	unit: { ">": "ns", "@": "at", "#": "bytes", "%": "%" }[name[0]] ?? "" }));

const facts = (list) => el("dl", list.filter(([, v]) => (v ?? "") !== "")
	.map(([k, v]) => [el("dt", k), el("dd", v)]));

// Shows its name; the rest is made once it is open.
const closed = (name, make, open) => el("details", { open, toggle: (e) => {
	if (e.target.children.length < 2)
		e.target.append(make());
} }, el("summary", name));

let tabList = [], tabNow = 0;

// list: [name, function that makes the content].
function tabs(list, first) {
	tabList = list;
	$("tabs").append(...list.map(([name], i) => el("button", { role: "tab",
		id: `tab${i}`, "aria-controls": "panel", click: () => tab(i),
		keydown: (e) => {
			const d = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
			if (d) {
				tab((i + d + list.length) % list.length);
				$(`tab${tabNow}`).focus();
				e.stopPropagation();
			}
		} }, name)));
	return tab(first % list.length || 0);
}

async function tab(i = tabNow) {
	keep("tab", tabNow = i);
	[...$("tabs").children].forEach((e, j) => {
		e.ariaSelected = j === i;
		e.tabIndex = j === i ? 0 : -1;
	});
	$("panel").setAttribute("aria-labelledby", `tab${i}`);
	const content = await tabList[i][1]();
	if (tabNow === i)
		$("panel").replaceChildren(content);
}

function dialog(id) {
	$("dialog").replaceChildren($(id).content.cloneNode(true));
	$("dialog").showModal();
}

function save(name, type, data) {
	const url = URL.createObjectURL(new Blob([data], { type }));
	el("a", { href: url, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(url), 60000);
}

function csvCell(c) {
	if (typeof c !== "string")
		return c;
	// a quote before what a spreadsheet takes for a formula
	const text = /^[=+@-]/.test(c) && isNaN(c) ? `'${c}` : c;
	return /[",\r\n]/.test(c) ? `"${text.replace(/"/g, '""')}"` : text;
}

const csvOf = (rows) => rows.map((row) => `${row.map(csvCell)}\n`).join("");

// Without what XML cannot have.
const xml = (text) => text.replace(
	/[^\t\n\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");

// What outlives a reload.  All files of a tab share it: each page has its own.
function keep(name, value) {
	if (name !== "theme")
		name = `${location.pathname} ${document.title} ${name}`;
	try {
		if (value === undefined)
			return sessionStorage.getItem(name) ?? "";
		sessionStorage.setItem(name, value);
	} catch { /* nothing depends on it */ }
	return "";
}

const look = document.documentElement.dataset;
const nextTheme = { "": "light", light: "dark", dark: "" };
let onTheme = () => {};

function theme(name) {
	keep("theme", look.theme = name);
	onTheme();
}

function onKey(e) {
	const typing = e.target.matches?.("select, [type=search]");
	// the text of a search stays, so that n goes on
	if (e.key === "Escape" && typing) {
		e.target.blur();
		keys.stop?.();
		e.preventDefault();
	}
	const found = keys[e.key.length === 1 ? e.key.toLowerCase() : e.key];
	if (found && !typing && !$("dialog").open && !e.altKey && !e.metaKey &&
		!e.ctrlKey) {
		found(e);
		e.preventDefault();
	}
}

// Pages of files may not read others: a live one reloads.
const live = (seconds) => setTimeout(() => {
	if (document.hidden || $("dialog").open)
		live(seconds);
	else
		location.reload();
}, seconds * 1000);

function fail(error) {
	document.body.prepend(el("p", { id: "failed", role: "alert" },
		`This page could not be shown: ${error.message}`));
	throw error;
}

async function start() {
	if (typeof DecompressionStream === "undefined")
		throw new Error("the browser is too old (DecompressionStream)");
	const head = JSON.parse(new TextDecoder().decode(
		await bytesOf("head", true)));
	teltools.head = head;
	document.body.className = head.page;
	clock = head.unit || clock;
	theme(keep("theme"));
	$("title").textContent = head.title.split(", ").map(baseName).join(", ");
	$("title").title = head.title;
	Object.assign(keys, {
		"t": () => theme(nextTheme[look.theme]),
		"?": () => dialog("keys"), "/": () => $("q").focus() });
	for (const media of ["print", "(prefers-color-scheme: dark)"])
		matchMedia(media).onchange = () => onTheme();
	document.addEventListener("keydown", onKey);
	document.addEventListener("click", (e) =>
		keys[e.target.dataset?.key]?.());
	await views[head.page](head);
	if (head.live > 0)
		live(head.live);
}

// The scripts behind this one have run when the promise does.
const teltools = window.teltools ??= {};
teltools.ready = Promise.resolve().then(start).catch(fail);
