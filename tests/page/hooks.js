// SPDX-License-Identifier: BSD-2-Clause
// What tests ask of pages, which have it before their own script.
"use strict";

const isLog = () => window.teltools.head.page === "timeline";

window.teltools = {
	search(text) {
		if (isLog())
			return find(text);
		$("q").value = text;
		$("q").dispatchEvent(new Event("input"));
		return tab();
	},
	svg: (i) => isLog() ? svg() : pictureOf(drawn[i].picture),

	// of logs
	csv: () => csv(),
	png: () => png(),
	visible: () => rows.map(({ track: { id, name, use }, y, height }) =>
		({ track: id, name, use, y: y + RULER - scrolled(), h: height })),
	select(...where) {
		select(...where);
		return statistics(region());
	},
	// resolves when nothing is left to draw
	async settled() {
		while (isLog() && (asked || log.timer))
			await new Promise(requestAnimationFrame);
		return isLog() && log.shown;
	},

	// of reports
	tabs: () => [...$("tabs").children].map((e) => e.textContent),
	tab: (name) => tab(window.teltools.tabs().indexOf(name)),
	report(i) {
		$("snapshot").value = i;
		$("snapshot").dispatchEvent(new Event("input"));
		return tab();
	},
	drawn: () => drawn.map(({ title, kind, rows, picture }) => ({ title, kind,
		rows, shapes: picture.querySelectorAll("rect,path").length })),
	frames: () => flame.frames.map(({ list: [node], x, width, row }) =>
		({ name: node.name, value: node.value, depth: row, x, width })),
	zoom: (name) => flame.zoom(flame.frames.find((f) =>
		f.list[0].name === name).list[0]),
};
