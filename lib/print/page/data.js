// SPDX-License-Identifier: BSD-2-Clause
// Events and sums of a log, from the blocks of its page.

const unzig = (v) => typeof v === "bigint"
	? (v & 1n ? -(v >> 1n) - 1n : v >> 1n)
	: v < 2 ** 31 ? v >> 1 ^ -(v & 1) : (v % 2 ? -(v + 1) / 2 : v / 2);

class Bytes {
	constructor(bytes, at = 0) {
		this.bytes = bytes;
		this.at = at;
	}

	// A number up to 2^49, a BigInt above.
	varint() {
		const c = this.bytes[this.at];
		if (c > 127)
			return this.longer();
		this.at++;
		return c;
	}

	longer() {
		const { bytes } = this, first = this.at;
		if (bytes[first + 1] < 128) {
			this.at += 2;
			return bytes[first] & 127 | bytes[first + 1] << 7;
		}
		let c = bytes[this.at++], v = c & 127;
		for (let scale = 128; c > 127; scale *= 128) {
			c = bytes[this.at++];
			v += (c & 127) * scale;
		}
		return this.at - first < 8 ? v : BigInt.asUintN(64,
			bytes.subarray(first, this.at).reduceRight((big, part) =>
				big << 7n | BigInt(part & 127), 0n));
	}

	// A column; or with total = 1 its sums: out[i] is that of i numbers.
	plain(n, Make = Float64Array, total = 0) {
		const out = new Make(n + total);
		for (let i = 0; i < n; i++)
			out[i + total] = Number(this.varint()) + (total && out[i]);
		return out;
	}

	// A column of deltas; of BigInts where it does not fit into doubles.
	deltas(n, from = 0, wrap = BigInt.asIntN) {
		const first = this.at, out = new Float64Array(n);
		const least = wrap === BigInt.asUintN ? 0 : -Infinity;
		for (let i = 0, v = from; i < n; i++) {
			const d = this.varint();
			v += Number(unzig(d));
			if (typeof d === "bigint" || v < least ||
				!Number.isSafeInteger(v)) {
				this.at = first;
				v = BigInt(from);
				return Array.from(out, () =>
					v = wrap(64, v + unzig(BigInt(this.varint()))));
			}
			out[i] = v;
		}
		return out;
	}

	// The same, as the nearest doubles.
	doubles(n, from) {
		const list = this.deltas(n, from);
		return Array.isArray(list) ? Float64Array.from(list, Number) : list;
	}

	skip(n) {
		while (n > 0)
			n -= !(this.bytes[this.at++] > 127);
	}

	slice(n) {
		this.at += n;
		return this.bytes.slice(this.at - n, this.at);
	}

	strings() {
		const decoder = new TextDecoder();
		return Array.from({ length: this.varint() }, () =>
			decoder.decode(this.slice(this.varint())));
	}
}

// Nanoseconds, where the log has them.
const timed = (t) => clock === "ns" ? t : undefined;

// What every event has, beside its fields.
const PROPERTIES = new Map(Object.entries({
	kind: (e) => e.type.kind, name: (e) => e.type.name,
	code: (e) => e.type.code, time: (e) => timed(e.time),
	duration: (e) => timed(e.duration), label: (e) => e.labels()[0],
	track: (e) => e.track.name,
}));

const nameOf = (group, i) => group.strings[group.name[i] - 1] ??
	group.type.name;

class LogEvent {
	constructor(group, i) {
		this.group = group;
		this.i = i;
	}

	get type() { return this.group.type; }
	get name() { return nameOf(this.group, this.i); }
	get time() { return this.group.time[this.i]; }
	get track() { return log.track[this.group.track[this.i]]; }
	get end() { return this.time + (this.duration ?? 0); }
	get duration() {
		const n = this.group.length[this.i];
		return n ? n - 1 : undefined;
	}

	get(name, isField) {
		const v = isField ? undefined : PROPERTIES.get(name)?.(this);
		const f = this.group.fields.get(name);
		return v ?? (f?.text ? this.group.strings[f.values[this.i]]
			: f?.values[this.i]);
	}

	label(name) {
		const { labels } = this.group.fields.get(name) ?? {};
		return labels && this.group.strings[labels[this.i] - 1];
	}

	labels() {
		return this.type.fields.map((f) => this.label(f.name))
			.filter((s) => s !== undefined);
	}

	texts() {
		return this.type.fields.flatMap(({ name, type, unit }) => {
			const v = this.get(name, true), label = this.label(name);
			if (v === undefined)
				return [];
			const text = type === "hex" ? `0x${v.toString(16)}`
				: type === "bool" ? String(Boolean(v)) : show(v, unit);
			return [[name, label === undefined ? text : `${text} (${label})`]];
		});
	}
}

// The values of a field, which are decoded when they are asked for.
class Field {
	constructor(b, { type, labels, optional }, n) {
		Object.assign(this, { bytes: b.bytes, type, n, text: type === "string",
			at: b.at });
		if (type === "double")
			b.at += 8 * n;
		else
			b.skip(n);
		this.labelsAt = labels && b.at;
		b.skip(labels ? n : 0);
		this.there = optional && b.at;
		b.skip(optional ? n : 0);
	}

	// Undefined where an event lacks the field.
	get values() {
		return this.made ??= this.make(new Bytes(this.bytes, this.at));
	}

	get labels() {
		return this.labelsAt && (this.named ??= new Bytes(this.bytes,
			this.labelsAt).plain(this.n, Uint32Array));
	}

	make(b) {
		const { text, type, n } = this;
		const list = text ? b.plain(n, Uint32Array)
			: type === "double" ? new Float64Array(b.slice(8 * n).buffer)
				: b.deltas(n, 0, /^(int|time)$/.test(type)
					? BigInt.asIntN : BigInt.asUintN);
		return this.there ? Array.from(list, (v, i) =>
			b.bytes[this.there + i] ? v : undefined) : list;
	}
}

function decode(block, bytes) {
	const b = new Bytes(bytes);
	const groups = Array.from({ length: b.varint() }, (_, number) => {
		const type = log.types[b.varint()], n = b.varint();
		return { block, order: block.block + number / 1e4, type, n,
			time: b.doubles(n, block.from),
			track: b.deltas(n), length: b.plain(n),
			name: b.plain(n, Uint32Array), depth: new Int16Array(n),
			fields: new Map(type.fields.map((f) =>
				[f.name, new Field(b, f, n)])) };
	});
	const strings = b.strings();
	return groups.map((g) => Object.assign(g, { strings }));
}

const cache = new Set(); // decoded blocks, the most recently used ones last

async function load(block) {
	block.coming ??= bytesOf(`b${block.block}`).then((data) =>
		decode(block, data));
	block.groups = await block.coming;
	cache.delete(block);
	cache.add(block);
	for (const old of [...cache].slice(0, -CACHE)) {
		if (!used.includes(old)) {
			old.groups = old.coming = undefined;
			cache.delete(old);
		}
	}
	return block;
}

// Calls f(group, i) for each event of decoded blocks.
function visit(blocks, f) {
	for (const { groups } of blocks)
		for (const g of groups)
			for (let i = 0; i < g.n; i++)
				f(g, i);
}

const blocksIn = (from, to) => log.blocks.filter((b) =>
	!b.long && b.start <= to && b.hi >= from);

const eventsIn = (blocks, from, to) => sum(blocks, (b) => b.events *
	Math.max(Math.min(b.to, to) - Math.max(b.from, from), 0) /
	(b.to - b.from || 1));

// True if all events that start in a time are in blocks.
const isExact = (from, to) => log.gaps.every(([start, end]) => start > to ||
	end < from);

const byMost = (f) => (a, b) => f(b) - f(a);
const descend = (t) => [t, ...t.lanes.slice(1), ...t.inner.flatMap(descend)];

// Calls f(group, i) for the events that start in a time, as long as more(block)
// before the next block is true.
async function each({ from, to }, f, more) {
	for (const block of blocksIn(from, to)) {
		if (!more(block))
			break;
		visit([await load(block)], (g, i) => {
			if (g.time[i] >= from && g.time[i] <= to && shown(g, i))
				f(g, i);
		});
	}
}

// The first place in a sorted list, or in a part, whose number is not less.
function lower(list, v, low = 0, high = list.length) {
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
async function loadSeries() {
	let block, data;
	for (const s of log.series) {
		// they come in the order of their blocks, and share them
		if (block !== s.block)
			data = await bytesOf(`b${s.block}`, true);
		block = s.block;
		const b = new Bytes(data, s.offset), { k } = s;
		s.at = b.plain(k, Int32Array, 1).subarray(1);
		s.type = log.types[s.type];
		// any sum is a difference of totals
		for (const name of s.columns) {
			const small = name === "count" && log.events < 2 ** 32;
			s[name] = /count|busy/.test(name)
				? b.plain(k, small ? Uint32Array : Float64Array, 1)
				: b.doubles(k);
		}
		const t = log.track[s.track];
		t.series.push(s);
		if (s.last) {
			s.low = s.min.reduce((a, v) => Math.min(a, v), 0);
			s.high = mostOf([s.max]);
			t.curve ??= s;
		}
	}
}

async function loadLinks({ block, n }) {
	const b = new Bytes(await bytesOf(`b${block}`, true));
	const times = b.doubles(n);
	const [source, after, target, type] = [1, 2, 3, 4].map(() => b.plain(n));
	times.forEach((from, i) => log.lines.push({ from, to: from +
		unzig(after[i]), source: source[i], target: target[i],
	type: log.types[type[i]] }));
}

// Sums of a column for each of some steps of time.
function columns({ from, step, width }, s, column,
	out = new Float64Array(width)) {
	const sum = s[column], { at } = s, k = at.length;
	const scale = step / s.width, first = from / s.width;
	// the last bucket ends with the log: nothing of it is behind that
	const end = log.span / s.width;
	let before = 0, j = lower(at, Math.floor(first));
	if (!(at[j] <= first + width * scale))
		return out.fill(0);
	for (let x = 0; x <= width; x++) {
		const p = first + x * scale, i = Math.floor(p);
		if (p >= end && p > 0) {
			j = k;
		} else if (j < k && at[j] < i) {
			// there, if no bucket is missing
			const last = Math.min(k - 1, j + i - at[j]);
			j = at[last] === i ? last : lower(at, i, j + 1, last + 1);
		}
		const v = j < k && at[j] === i
			? sum[j] + (p - i) * (sum[j + 1] - sum[j]) : sum[j];
		if (x > 0)
			out[x - 1] = v - before;
		before = v;
	}
	return out;
}

const total = (s, column, from, to) => s[column]
	? columns({ from, step: to - from, width: 1 }, s, column)[0] : 0;

// The least, the highest and the last value of a counter in each column.
function curveOf(s, { from, step, width }) {
	const [low, high, last] = [0, 1, 2].map(() => new Float64Array(width));
	let j = s ? lower(s.at, Math.floor(from / s.width)) : 0;
	let value = s?.last[j - 1] ?? 0;
	for (let x = 0; s && x < width; x++) {
		const stop = (from + (x + 1) * step) / s.width;
		low[x] = high[x] = value;
		for (; j < s.at.length && s.at[j] < stop; j++) {
			low[x] = Math.min(low[x], s.min[j]);
			high[x] = Math.max(high[x], s.max[j]);
			value = s.last[j];
		}
		last[x] = value;
	}
	return { low, high, last };
}

const valueAt = (s, t) =>
	s.last[lower(s.at, Math.floor(t / s.width) + 1) - 1];

// The series of events, not of values, of a track or all below it too.
const countsOf = (t, list = [t]) => list.flatMap((d) => d.series).filter((s) =>
	!s.last && (s.row === undefined || t.use === "heat"));
const countsIn = (t) => countsOf(t, t.folded ? descend(t) : t.lanes);
