// SPDX-License-Identifier: BSD-2-Clause
// Stacks as boxes: callers above what they call, as wide as what they have.

const BAR = 19; // pixels of a frame
// top: the stack that is zoomed to, a list of ids; text: what is sought
const flame = { top: [], text: "", frames: [], paint() {}, moved() {} };

const newNode = (name, up, more) => ({ name, up, value: 0, parts: [],
	...more });
const idOf = (node) => node.key ?? node.name;
const pathOf = (node) => node ? [...pathOf(node.up), node] : [];
const found = (node) => flame.text !== "" &&
	node.name.toLowerCase().includes(flame.text.toLowerCase());

// The boxes of at least half a pixel: {list: its nodes, x, width, row}.  Where
// frames are joined, one whose only callee has all of it is one box with that.
function layFlame(root, width, joined) {
	let top = root;
	for (const id of flame.top)
		top = top.parts.find((p) => idOf(p) === id) ?? top;
	flame.zoomed = top;
	const frames = pathOf(top.up).map((node, row) =>
		({ list: [node], x: 0, width, row }));

	function lay(node, x, wide, row) {
		const list = [node];
		let { parts } = node;
		while (joined && node.up && parts[0]?.value >= 0.985 * node.value &&
			parts[0].fill === node.fill) {
			list.push(parts[0]);
			({ parts } = parts[0]);
		}
		frames.push({ list, x, width: wide, row });
		for (const p of parts) {
			const part = wide * p.value / (node.value || 1);
			if (part >= 0.5)
				lay(p, x, part, row + 1);
			x += part;
		}
	}
	lay(top, 0, width, frames.length);
	return frames;
}

function openFrame(e, node) {
	if (e.shiftKey && node.key)
		showAlone(node.key);
	else
		flame.zoom(node);
}

// Arrow keys walk the frames, Enter and Escape zoom, with Shift Enter shows one
// alone.
function onFlameKey(e) {
	const node = flame.chosen, beside = node.up?.parts ?? [node];
	const to = { ArrowUp: node.up, ArrowDown: node.parts[0],
		ArrowLeft: beside[beside.indexOf(node) - 1],
		ArrowRight: beside[beside.indexOf(node) + 1] }[e.key];
	if (e.key === "Enter" || e.key === " ")
		openFrame(e, node);
	else if (e.key === "Escape" && flame.top.length)
		flame.zoom(pathOf(node)[0]);
	else if (!e.key.startsWith("Arrow"))
		return;
	if (to)
		flame.choose(to);
	e.preventDefault();
	e.stopPropagation();
}

// A picture of stacks.  widthOf: of screen or paper; text: what a node is said
// to be.
function flameOf(root, widthOf, text, joined, label) {
	const picture = el("svg", { id: "flame", role: "application", tabindex: 0,
		"aria-label": label, keydown: onFlameKey });
	flame.chosen = root;

	function frameOf({ list, x, width: wide, row }) {
		const label = list.map((node) => node.name).join(" › ");
		const fits = Math.floor((wide - 6) / 6.3);
		return el("g", { class: `frame${list.some(found) ? " found" : ""}${
			list.includes(flame.chosen) ? " chosen" : ""}`,
		click: (e) => openFrame(e, list[0]),
		pointerenter: () => say(text(list[0])) },
		el("rect", { x, y: row * BAR, width: Math.max(wide - 0.5, 0.5),
			height: BAR - 1, class: list[0].fill }), fits > 2 && el("text",
			{ x: x + 3, y: row * BAR + 13 }, label.length > fits
				? `${label.slice(0, fits - 1)}…` : label),
		el("title", list.length > 1 ? `${label}: ${text(list[0])}`
			: text(list[0])));
	}
	function paint() {
		flame.frames = layFlame(root, widthOf(), joined);
		picture.setAttribute("width", widthOf());
		picture.setAttribute("height", BAR * (1 + Math.max(
			...flame.frames.map((f) => f.row))));
		picture.classList.toggle("searched", flame.text !== "");
		picture.replaceChildren(...flame.frames.map(frameOf));
	}
	function choose(node) {
		flame.chosen = node;
		paint();
		say(text(node));
	}
	// to a frame; from there, to the one above
	function zoom(node) {
		const ids = pathOf(node).slice(1).map(idOf);
		flame.top = ids.join() === flame.top.join() ? ids.slice(0, -1) : ids;
		choose(node);
		flame.moved();
	}
	Object.assign(flame, { choose, paint, zoom });
	paint();
	return picture;
}
