// SPDX-License-Identifier: BSD-2-Clause
// Events and sums of a log, from the blocks of its page.
"use strict";

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
		const c = this.bytes[this.at++];
		return c < 128 ? c : this.long(c);
	}

	long(c) {
		const first = this.at - 1;
		let v = c & 127, scale = 1;
		while (c > 127) {
			c = this.bytes[this.at++];
			scale *= 128;
			v += (c & 127) * scale;
		}
		if (scale < 2 ** 49)
			return v;
		v = 0n;
		for (let i = first; i < this.at; i++)
			v |= BigInt(this.bytes[i] & 127) << BigInt(7 * (i - first));
		return BigInt.asUintN(64, v);
	}

	plain(n, Make = Float64Array) {
		const out = new Make(n);
		for (let i = 0; i < n; i++)
			out[i] = Number(this.varint());
		return out;
	}

	// Running totals of a column: out[i] is the sum of what is before i.
	totals(n, Make) {
		const out = new Make(n + 1);
		for (let i = 0; i < n; i++)
			out[i + 1] = out[i] + Number(this.varint());
		return out;
	}

	// A column of deltas; of BigInts where it does not fit into doubles.
	deltas(n, from = 0, wrap = BigInt.asIntN) {
		const first = this.at, out = new Float64Array(n);
		const least = wrap === BigInt.asUintN ? 0 : -Infinity;
		for (let i = 0, v = from; i < n; i++) {
			const d = this.varint();
			v += Number(unzig(d));
			if (typeof d === "bigint" || !Number.isSafeInteger(v) ||
				v < least) {
				this.at = first;
				v = BigInt(from);
				return Array.from(out, () =>
					v = wrap(64, v + unzig(BigInt(this.varint()))));
			}
			out[i] = v;
		}
		return out;
	}

	doubles(n) {
		const all = new DataView(this.bytes.buffer, this.at, 8 * n);
		this.at += 8 * n;
		return Float64Array.from({ length: n }, (_, i) =>
			all.getFloat64(8 * i, true));
	}

	strings() {
		const decoder = new TextDecoder();
		return Array.from({ length: this.varint() }, () => {
			const n = this.varint();
			return decoder.decode(
				this.bytes.subarray(this.at, this.at += n));
		});
	}
}

// What every event has, beside its fields.
const PROPERTIES = new Map(Object.entries({
	kind: (e) => e.type.kind, name: (e) => e.type.name,
	code: (e) => e.type.code, time: (e) => e.time,
	duration: (e) => e.duration, label: (e) => e.labels()[0],
	track: (e) => e.track.name,
}));

// One event of a block, as search and tables see it.
class LogEvent {
	constructor(group, i) {
		this.group = group;
		this.i = i;
	}

	get type() { return this.group.type; }
	get name() { return this.group.name[this.i]; }
	get time() { return this.group.time[this.i]; }
	get end() { return this.time + (this.duration ?? 0); }
	get track() { return log.track[this.group.track[this.i]]; }

	get duration() {
		const length = this.group.length[this.i];
		return length ? length - 1 : undefined;
	}

	get(name, isField) {
		return (isField ? undefined : PROPERTIES.get(name)?.(this)) ??
			this.group.fields.get(name)?.values[this.i];
	}

	label(name) { return this.group.fields.get(name)?.labels?.[this.i]; }

	labels() {
		return this.type.fields.map((f) => this.label(f.name))
			.filter((s) => s !== undefined);
	}

	strings() {
		return [this.name, this.type.name, this.track.name, ...this.labels(),
			...this.type.fields.filter((f) => f.type === "string")
				.map((f) => this.get(f.name, true))];
	}

	// Its fields as text, by name.
	texts() {
		return this.type.fields.map(({ name, type, unit }) => {
			const v = this.get(name, true), label = this.label(name);
			const text = type === "hex" ? `0x${v.toString(16)}`
				: type === "bool" ? String(Boolean(v)) : show(v, unit);
			return [name, label === undefined ? text : `${text} (${label})`];
		});
	}
}

function decode(block, bytes) {
	const b = new Bytes(bytes), later = [];
	// the strings come behind the numbers that refer to them
	const text = (n, first, other) => {
		const out = [...b.plain(n)];
		later.push((strings) => out.forEach((v, i) => {
			out[i] = strings[v - first] ?? other;
		}));
		return out;
	};
	const groups = Array.from({ length: b.varint() }, () => {
		const type = log.types[b.varint()], n = b.varint(), fields = new Map();
		const g = { block, type, n, fields, time: b.deltas(n, block.from),
			track: b.deltas(n), length: b.plain(n),
			name: text(n, 1, type.name), depth: new Int16Array(n) };
		for (const f of type.fields)
			fields.set(f.name, { values: f.type === "string" ? text(n, 0)
				: f.type === "double" ? b.doubles(n)
					: b.deltas(n, 0, /^(int|time)$/.test(f.type)
						? BigInt.asIntN : BigInt.asUintN),
			labels: f.labels && text(n, 1) });
		return g;
	});
	const strings = b.strings();
	later.forEach((f) => f(strings));
	// ranges of several names have a colour by name
	visit([{ groups }], ({ type, length, name }, i) => {
		if (length[i])
			type.several ||= name[i] !== (type.one ??= name[i]);
	});
	return groups;
}

// The groups of a block, decoded when they are needed.
const cache = new Set(); // such blocks, the most recently used ones last

async function load(block) {
	block.coming ??= bytesOf(`b${block.block}`).then((bytes) =>
		decode(block, bytes));
	const groups = block.groups = await block.coming;
	cache.delete(block);
	cache.add(block);
	let events = 0;
	for (const b of [...cache].reverse()) {
		events += b.events;
		if (events > CACHE && b !== block && !used.includes(b)) {
			b.groups = b.coming = undefined;
			cache.delete(b);
		}
	}
	return groups;
}

// Calls f(group, i) for each event of decoded blocks.
function visit(blocks, f) {
	for (const { groups } of blocks)
		for (const g of groups)
			for (let i = 0; i < g.n; i++)
				f(g, i);
}

const blocksIn = (from, to) => log.blocks.filter((b) =>
	!b.long && (b.start ?? b.from) <= to && (b.hi ?? b.to) >= from);

// How many events a time has in blocks, about.
const eventsIn = (blocks, from, to) => blocks.reduce((n, b) => n + b.events *
	Math.max(Math.min(b.to, to) - Math.max(b.from, from), 0) /
	(b.to - b.from || 1), 0);

// True if all events of a time are in blocks.
function isExact(from, to) {
	for (const b of blocksIn(from, to))
		if (b.from <= from)
			from = Math.max(from, b.to);
	return from >= to || log.exact >= log.events;
}

const descend = (t) => [t, ...t.lanes.slice(1), ...t.children.flatMap(descend)];

// Calls f(group, i) for each event that starts in a time, on a track or below.
async function each(from, to, track, f) {
	const below = track && new Set(descend(log.track[track]));
	for (const block of blocksIn(from, to))
		visit([{ groups: await load(block) }], (g, i) => {
			const on = log.track[g.track[i]];
			if (g.time[i] >= from && g.time[i] <= to &&
				(below ? below.has(on) : !on?.copy) && shown(g, i))
				f(g, i);
		});
}

// ------------------------------------------------------------------- sums

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
	s.kind = s.row === undefined ? log.types[s.type] : undefined;
	// any sum is a difference of totals
	for (const name of s.columns) {
		const small = name === "count" && log.events < 2 ** 32;
		const list = /count|busy/.test(name)
			? b.totals(k, small ? Uint32Array : Float64Array) : b.deltas(k);
		s[name] = Array.isArray(list) ? Float64Array.from(list, Number) : list;
	}
	if (s.last) {
		s.low = s.min.reduce((a, v) => Math.min(a, v), 0);
		s.high = s.max.reduce((a, v) => Math.max(a, v), s.low);
	}
	log.track[s.track].series.push(s);
}

// Sums of a column for each pixel of a frame.
function columns({ from, step, width }, s, column, out) {
	const sum = s[column], { at } = s, k = at.length;
	const scale = step / s.width, first = from / s.width;
	let before = 0, j = lower(at, Math.floor(first));
	for (let x = 0; x <= width; x++) {
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

// The sum of a column from one time to another.
function total(s, column, from, to) {
	const sum = s[column] ?? [], until = (time) => {
		const p = time / s.width, i = Math.floor(p), j = lower(s.at, i);
		return sum[j] + (s.at[j] === i ? (p - i) * (sum[j + 1] - sum[j]) : 0);
	};
	return until(to) - until(from) || 0;
}

// The value of a counter at a time.
const valueAt = (s, time) =>
	s.last[lower(s.at, Math.floor(time / s.width) + 1) - 1] ?? 0;

// The series of events, not of values, of a track or all below it too.
const countsOf = (t, inner) => (inner ? descend(t) : [t])
	.flatMap((d) => d.series).filter((s) => !s.last &&
		(s.row === undefined || t.use === "heat"));
