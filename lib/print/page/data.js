// SPDX-License-Identifier: BSD-2-Clause
// Events and sums of a log, from the blocks of its page.
"use strict";

// One event of a block, as search and tables see it.
class LogEvent {
	constructor(group, i) {
		this.group = group;
		this.i = i;
	}

	get time() { return this.group.time[this.i]; }
	get end() { return this.time + Math.max(this.group.length[this.i] - 1, 0); }
	get track() { return log.track[this.group.track[this.i]]; }
	get name() { return nameOf(this.group, this.i); }

	get(name, field) {
		const { type, fields, labels, length, strings } = this.group;
		if (!field) {
			if (name === "kind" || name === "code")
				return type[name];
			if (name === "name")
				return type.name;
			if (name === "time")
				return this.time;
			if (name === "label")
				return this.labels()[0];
			if (name === "track")
				return this.track.name;
			if (name === "duration" && length[this.i])
				return length[this.i] - 1;
		}
		const f = type.fields.findIndex((f) => f.name === name);
		if (f >= 0)
			return type.fields[f].type === "string"
				? strings[fields[f][this.i]] : fields[f][this.i];
		const l = type.fields.findIndex((f) => `label of ${f.name}` === name);
		return labels[l] && strings[labels[l][this.i] - 1];
	}

	labels() {
		return this.group.labels.map((l) => this.group.strings[l[this.i] - 1])
			.filter((s) => s !== undefined);
	}

	strings() {
		return [this.name, this.group.type.name, this.track.name,
			...this.labels(), ...this.group.type.fields.filter(
				(f) => f.type === "string").map((f) => this.get(f.name, true))];
	}

	// Its fields as text, by name.
	texts() {
		return this.group.type.fields.map((f, n) => {
			const v = this.get(f.name, true), label =
				this.group.labels[n] &&
				this.group.strings[this.group.labels[n][this.i] - 1];
			const text = f.type === "hex" ? `0x${v.toString(16)}`
				: f.type === "bool" ? String(Boolean(v))
				: show(v, f.unit);
			return [f.name, label === undefined ? text
				: `${text} (${label})`];
		});
	}
}

function nameOf(group, i) {
	return group.strings[group.name[i] - 1] ?? group.type.name;
}

function decode(block, bytes) {
	const b = new Bytes(bytes), groups = [];
	for (let left = b.varint(); left > 0; left--) {
		const type = log.types[b.varint()], n = b.varint();
		const g = { type, n, time: b.deltas(n, block.from),
			track: b.deltas(n), length: b.plain(n),
			name: b.plain(n, Int32Array), fields: [], labels: [],
			depth: new Int16Array(n), match: null, version: -1, block };
		type.fields.forEach((f, i) => {
			g.fields[i] = f.type === "string" ? b.plain(n, Int32Array)
				: f.type === "double" ? b.doubles(n)
				: b.deltas(n, 0, !/^(int|time)$/.test(f.type));
			if (f.labels)
				g.labels[i] = b.plain(n, Int32Array);
		});
		groups.push(g);
	}
	const strings = b.strings();
	for (const g of groups) {
		g.strings = strings;
		// ranges of several names have a colour by name
		for (let i = 0; i < g.n && !g.type.several; i++)
			if (g.length[i])
				g.type.several = nameOf(g, i) !== (g.type.one ??= nameOf(g, i));
	}
	return groups;
}

// The groups of a block, decoded when they are needed.
async function load(block) {
	block.age = ++log.age;
	if (!block.groups && !block.coming)
		block.coming = bytesOf(`b${block.block}`).then((bytes) => {
			block.groups = decode(block, bytes);
			block.coming = null;
			log.decoded += block.events;
			forget();
		});
	await block.coming;
	return block.groups;
}

// How many events a time has in blocks, about.
const eventsIn = (list, from, to) => list.reduce((n, b) => n + b.events *
	Math.max(Math.min(b.to, to) - Math.max(b.from, from), 0) /
	(b.to - b.from || 1), 0);

// The blocks that were not used for the longest time go first.
function forget() {
	if (log.decoded <= CACHE)
		return;
	const old = log.blocks.filter((b) => b.groups && !used.includes(b))
		.sort((a, b) => a.age - b.age);
	for (const b of old) {
		if (log.decoded <= CACHE / 2)
			break;
		b.groups = null;
		log.decoded -= b.events;
	}
}

const blocksIn = (from, to) => log.blocks.filter((b) =>
	!b.long && (b.start ?? b.from) <= to && (b.hi ?? b.to) >= from);

// True if all events of a time are in blocks.
function isExact(from, to) {
	if (log.exact >= log.events)
		return true;
	let at = from;
	for (const b of blocksIn(from, to)) {
		if (b.from > to)
			break;
		if (b.from > at)
			return false;
		at = Math.max(at, b.to);
	}
	return at >= to;
}

// Calls f(group, i) for each event that starts in a time, on a track or below.
async function each(from, to, track, f) {
	const below = track && new Set(descend(log.track[track]).map((t) => t.id));
	for (const block of blocksIn(from, to)) {
		for (const g of await load(block)) {
			for (let i = 0; i < g.n; i++) {
				if (g.time[i] >= from && g.time[i] <= to &&
					(below ? below.has(g.track[i])
						: !log.track[g.track[i]]?.copy) && shown(g, i))
					f(g, i);
			}
		}
	}
}

const descend = (t) => [t, ...t.lanes.slice(1), ...t.children.flatMap(descend)];

// The first place in a sorted list whose number is not less.
function lower(list, v) {
	let low = 0, high = list.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (list[middle] < v)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// Series are sparse: s.at has the numbers of the buckets that are there.
async function loadSeries(s) {
	// they come in the order of their blocks, and share them
	if (log.last?.block !== s.block)
		log.last = { block: s.block, bytes: bytesOf(`b${s.block}`) };
	const b = new Bytes(await log.last.bytes), { k } = s;
	b.at = s.offset || 0;
	s.at = b.totals(k, Int32Array).subarray(1);
	s.kind = s.type >= 0 ? log.types[s.type] : null;
	for (const name of s.columns) {
		if (name === "count" || name === "busy") {
			// any range is a difference of totals
			s[name] = b.totals(k, name === "count" && log.events < 2 ** 32
				? Uint32Array : Float64Array);
		} else {
			const list = b.deltas(k);
			s[name] = list.buffer ? list : Float64Array.from(list, Number);
		}
	}
	s.counter = !!s.last;
	if (s.counter) {
		s.low = s.min.reduce((a, v) => Math.min(a, v), 0);
		s.high = s.max.reduce((a, v) => Math.max(a, v), s.low);
	}
	log.track[s.track].series.push(s);
}

// The sum of a column from one time to another.
function total(s, column, from, to) {
	const sum = s[column], until = (time) => {
		const p = Math.max(time / s.width, 0), i = Math.floor(p);
		const j = lower(s.at, i);
		return sum[j] + (s.at[j] === i ? (p - i) * (sum[j + 1] - sum[j]) : 0);
	};
	return sum ? until(to) - until(from) : 0;
}

// The same for each pixel of a frame.
function columns(frame, s, column, out) {
	const sum = s[column], { at } = s, k = at.length;
	const scale = frame.step / s.width, first = frame.from / s.width;
	let before = 0, j = lower(at, Math.floor(first));
	for (let x = 0; x <= frame.width; x++) {
		const p = first + x * scale, i = Math.floor(p);
		while (j < k && at[j] < i)
			j++;
		const v = j < k && at[j] === i
			? sum[j] + (p - i) * (sum[j + 1] - sum[j]) : sum[j];
		if (x > 0)
			out[x - 1] = v - before;
		before = v;
	}
	return out;
}

// The value of a counter at a time.
const valueAt = (s, time) =>
	s.last[lower(s.at, Math.floor(time / s.width) + 1) - 1] ?? 0;
