// SPDX-License-Identifier: BSD-2-Clause
// The flame graph of stacks: callers above what they call, by a weight.
"use strict";

const FRAME = 17; // pixels of a frame's height
const flame = { root: null, top: null, chosen: null, weight: "", text: "" };

// rows: objects with "stack", outermost frame first, and weights.
function growFlame(rows, weight) {
	const root = { name: "all", value: 0, depth: 0, parts: new Map() };
	for (const row of rows) {
		const value = Number(row[weight] ?? 0);
		let node = root;
		root.value += value;
		for (const name of value > 0 ? row.stack.split(";") : []) {
			if (!node.parts.has(name))
				node.parts.set(name, { name, value: 0, up: node,
					depth: node.depth + 1, parts: new Map() });
			node = node.parts.get(name);
			node.value += value;
		}
	}
	return root;
}

const partsOf = (node) => [...node.parts.values()].sort((a, b) =>
	b.value - a.value);

const pathOf = (node) => node ? [...pathOf(node.up), node] : [];
const found = (node) => flame.text !== "" &&
	node.name.toLowerCase().includes(flame.text.toLowerCase());

// The weight in frames that the search finds.
function foundIn(node) {
	return found(node) ? node.value
		: partsOf(node).reduce((n, p) => n + foundIn(p), 0);
}

// The frames that are at least half a pixel wide: {node, x, width}.
function layFlame(width) {
	const list = pathOf(flame.top.up).map((node) => ({ node, x: 0, width }));
	const todo = [{ node: flame.top, x: 0, width }];
	while (todo.length) {
		const at = todo.pop();
		let x = at.x;
		list.push(at);
		for (const node of partsOf(at.node)) {
			const wide = at.width * node.value / (at.node.value || 1);
			if (wide >= 0.5)
				todo.push({ node, x, width: wide });
			x += wide;
		}
	}
	return list;
}

function flameText(node) {
	const unit = /bytes/.test(flame.weight) ? "bytes" : "";
	return `${node.name}: ${show(node.value, unit)}, ${
		(100 * node.value / (flame.root.value || 1)).toFixed(2)} % of all`;
}

// list: stacks.
function flameTab(list, weights) {
	if (!weights.includes(flame.weight))
		flame.weight = weights[0];
	const where = pathOf(flame.top).slice(1).map((n) => n.name);
	flame.root = flame.top = growFlame(list, flame.weight);
	for (const name of where)
		flame.top = flame.top.parts.get(name) ?? flame.top;
	flame.chosen = flame.top;
	const width = Math.max(($("panel").clientWidth || WIDE) - 30, 300);
	const picture = el("svg", { id: "flame", tabindex: 0, width,
		role: "application", "aria-label":
			"Flame graph; arrow keys choose a frame, Enter zooms",
		keydown: onFlameKey });
	const pick = picker("weight", weights, flame.weight, (name) => {
		flame.weight = name;
		tab();
	});

	function paint(focus) {
		const frames = layFlame(width), deep = frames.reduce((n, f) =>
			Math.max(n, f.node.depth), 0);
		picture.setAttribute("height", (deep + 1) * FRAME + 2);
		picture.replaceChildren(...frames.map(({ node, x, width }) => {
			const fill = hue([...node.name].reduce((h, c) =>
				(h * 31 + c.codePointAt(0)) % 9973, 7));
			return frameOf({ class: `frame${found(node) ? " found" : ""}${
				node === flame.chosen ? " chosen" : ""}`,
			click: () => zoom(node),
			pointerenter: () => say(flameText(node)) },
			{ x, y: node.depth * FRAME, width, height: FRAME - 1, fill },
			node.name, flameText(node));
		}));
		$("hits").textContent = flame.text && `${show(foundIn(flame.root) /
			(flame.root.value || 1), "%")} found`;
		if (focus)
			say(flameText(flame.chosen));
		flame.frames = frames;
	}
	function zoom(node) {
		flame.top = flame.chosen = node;
		paint(true);
	}
	function onFlameKey(e) {
		const node = flame.chosen;
		const beside = node.up ? partsOf(node.up) : [node];
		const at = beside.indexOf(node);
		const to = { ArrowUp: node.up, ArrowDown: partsOf(node)[0],
			ArrowLeft: beside[at - 1], ArrowRight: beside[at + 1] }[e.key];
		if (e.key === "Enter" || e.key === " ")
			zoom(node);
		else if (e.key === "Escape")
			zoom(flame.root);
		else if (!e.key.startsWith("Arrow"))
			return;
		if (to) {
			flame.chosen = to;
			paint(true);
		}
		e.preventDefault();
		e.stopPropagation();
	}
	Object.assign(flame, { paint, zoom });
	paint();
	drawn.push({ title: "Flame graph", kind: "flame", rows: list, picture,
		svg: () => pictureOf(picture) });
	return el("div", {}, el("p", {}, el("label", {}, "Width: ", pick), " ",
		el("button", { click: () => zoom(flame.root) }, "Zoom out"), " ",
		el("button", { click: () => save("flame.svg", "image/svg+xml",
			pictureOf(picture)) }, "SVG")),
	el("p", { class: "dim" }, "Callers are above what they call. A click or ",
		"Enter zooms, the arrow keys move, the search marks frames."),
	picture);
}
