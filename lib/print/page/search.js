// SPDX-License-Identifier: BSD-2-Clause
// The part of the language of tel-filter(7) that it has in pages.

const TOKEN = new RegExp(`\\s*(?:${[
	/(?<number>\d+(?:\.\d+)?(?:e[-+]?\d+)?\w*)/,
	/(?<sign>in\b|&&|\|\||\.\.|[=!<>]=|[!=]\*|!~|[-!<>~(),])/,
	/(?<word>\.?[a-z_]\w*(?:\.[a-z_]\w*)*)/,
	/(?<string>"(?:[^"\\]|\\.)*"|'[^']*')/,
].map((part) => part.source).join("|")})\\s*`, "iy");
const NUMBER = /^(0x[\da-f]+|0[bo]\d+|[\d.]+(?:e[-+]?\d+)?)(\w*)$/i;
const SCALE = { "": 1, ns: 1, us: 1e3, ms: 1e6, s: 1e9, k: 2 ** 10,
	K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };
const ESCAPES = { n: "\n", t: "\t", r: "\r" };
const COMPARE = {
	"=": (a, b) => a == b, "<": (a, b) => a < b, "<=": (a, b) => a <= b,
	">": (a, b) => a > b, ">=": (a, b) => a >= b,
};

function literal({ number, string }) {
	if (string)
		return string[0] === "'" ? string.slice(1, -1) : string.slice(1, -1)
			.replace(/((?:\\x[\da-fA-F]{2})+)|\\(.)/g, (_, bytes, c) => bytes
				? new TextDecoder().decode(Uint8Array.from(
					bytes.slice(2).split("\\x"), (hex) => parseInt(hex, 16)))
				: ESCAPES[c] ?? c);
	const [, digits, unit] = NUMBER.exec(number) ?? [];
	const text = digits?.replace(/^0(?=\d)/, "0o");
	const scale = SCALE[unit?.replace(/^([kKMGT])iB$/, "$1")];
	const v = text * scale;
	return v >= 2 ** 53 && /^(\d+|0\w+)$/.test(text)
		? BigInt(text) * BigInt(scale)
		: /s/.test(unit) ? Math.round(v) : v;
}

// The bytes of a text as characters, and a glob, which matches these.
const bytesIn = (text) => unescape(encodeURIComponent(text));

function glob(text) {
	const re = new RegExp(`^${bytesIn(text).replace(
		/\\(.)|\[([!^]?)((?:\]|[^\]])[^\]]*)\]|[\s\S]/g,
		(c, quoted, not, set) => set
			? `[${not && "^"}${set.replace(/[\\[\]^]/g, "\\$&")}]`
			: c === "*" ? "[\\s\\S]*" : c === "?" ? "[\\s\\S]"
				: (quoted || c).replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))}$`);
	return { test: (v) => re.test(bytesIn(v)) };
}

// A function of an event over another, undefined where that is.
const over = (inner, f) => (e) => {
	const v = inner(e);
	return v === undefined ? v : f(v, e);
};

// Strings and numbers do not compare.
const alike = (a, b) => (typeof a === "string") === (typeof b === "string");

// An expression as a function: true, false, or undefined where a value is
// missing.  It asks an event for get(name, isField), label(name), labels().
function compile(text, fields) {
	const list = [];
	let at = 0;

	const bad = (what, place = list[at]?.start ?? text.length) => {
		throw new Error(`column ${place + 1}: ${what}`);
	};
	const sign = (...signs) => signs.includes(list[at]?.sign) &&
		list[at++].sign;
	const need = (s) => sign(s) || bad(`expected ${s}`);
	function field() {
		const { word, string } = list[at] ?? {};
		const name = string ? literal(list[at]) : word?.replace(/^\./, "");
		if (!name || (word && !fields.has(name)))
			bad(name ? `no type has a field ${name}` : "expected a field");
		at++;
		return name;
	}
	function call(what) {
		const isOwn = what === "has" && PROPERTIES.has(list[at]?.word);
		const name = isOwn ? list[at++].word : field();
		need(")");
		return what === "has" ? (e) => e.get(name, !isOwn) !== undefined
			: what === "label" ? (e) => e.label(name)
				: (e) => e.get(name, true);
	}
	// A value is undefined where it is missing, and a list only of labels.
	// bare: a word is the kind, or the name, of a type.
	function value(bare) {
		if (sign("-"))
			return over(value(), (v) =>
				/^(number|bigint|boolean)$/.test(typeof v) ? -v : undefined);
		if (sign("(")) {
			const inner = either();
			need(")");
			return inner;
		}
		const { word, ...token } = list[at++] ?? {};
		if (token.number || token.string) {
			const v = literal(token);
			return v === v ? () => v : bad("expected a number", token.start);
		}
		if (/^(has|label|field)$/.test(word) && sign("("))
			return call(word);
		if (/^(true|false)$/.test(word))
			return () => word === "true";
		if (word === "label")
			return (e) => e.labels();
		if (PROPERTIES.has(word))
			return (e) => e.get(word);
		if (word && bare)
			return log.types.some((t) =>
				t[bare].toLowerCase() === word.toLowerCase())
				? () => word
				: bad(`no type has the ${bare} ${word}`, token.start);
		at--;
		const name = word ? field() : bad("expected a value");
		return (e) => e.get(name, true);
	}
	function test() {
		if (sign("!"))
			return over(test(), (v) => !v);
		const { word } = list[at] ?? {}, left = value();
		const op = sign("==", "!=", "<", "<=", ">", ">=", "~", "!~", "=*",
			"!*", "in");
		const bare = /^(kind|name)$/.test(word) && word;
		const fold = (v) => word === "kind" ? String(v).toLowerCase() : v;
		// True if any value is so: undefined if there is none.
		const not = op?.[0] === "!";
		const any = (is) => over(over(left, (v, e) => Array.isArray(v)
			? v.map((part) => is(part, e)).filter((r) => r !== undefined)
				.sort().pop() : is(v, e)), (found) => found !== not);
		if (!op)
			return any((v) => alike(v, "") ? undefined : v != 0);
		const how = op.replace(/^[!=]/, "");
		if (/[~*]/.test(how)) {
			if (!list[at]?.string)
				bad("expected a pattern in quotes");
			const pattern = literal(list[at++]);
			const re = how === "~" ? new RegExp(pattern, "s") : glob(pattern);
			return any((v) => re.test(v));
		}
		const against = (right, compare) => (v, e) => {
			const list = right(e), w = Array.isArray(list) ? list[0] : list;
			return w !== undefined && alike(v, w) ? compare(fold(v), fold(w))
				: undefined;
		};
		if (op !== "in")
			return any(against(value(bare), COMPARE[how]));
		const items = [];
		need("(");
		do {
			const low = value(bare), high = sign("..") ? value(bare) : low;
			items.push([against(low, COMPARE[">="]),
				against(high, COMPARE["<="])]);
		} while (sign(","));
		need(")");
		return any((v, e) => items.some(([low, high]) =>
			low(v, e) && high(v, e)));
	}
	function chain(inner, op, strong) {
		const parts = [inner()];
		while (sign(op))
			parts.push(inner());
		return parts.length < 2 ? parts[0] : (e) => {
			let found = !strong;
			for (const part of parts) {
				const v = part(e);
				if (v === strong)
					return v;
				found = v === undefined ? v : found;
			}
			return found;
		};
	}
	const both = () => chain(test, "&&", false);
	const either = () => chain(both, "||", true);

	for (let start = TOKEN.lastIndex = 0; start < text.length;
		start = TOKEN.lastIndex)
		list.push({ start, ...(TOKEN.exec(text) ??
			bad("expected an expression", start)).groups });
	for (const t of list)
		if (t.word === "type" && !fields.has("type"))
			t.word = "name";
	const result = either();
	return at < list.length ? bad("expected an operator") : result;
}

// A search is an expression, or words to find in any string.
function search(text, fields) {
	if (/[=<>~!&|()]|\bin\b/.test(text))
		return compile(text, fields);
	const part = text.toLowerCase();
	return texts((s) => s.toLowerCase().includes(part));
}

// A search for events any of whose texts is so: each text of a block is looked
// at once.
function texts(is) {
	const test = ({ type }) => is(type.name) || unknown();
	const tracks = Uint8Array.from(log.track, (t) => t && is(t.name));
	test.of = (g) => {
		const match = new Uint8Array(g.n).fill(is(g.type.name));
		const found = Uint8Array.from(["", ...g.strings], (s) => is(s));
		const mark = (hits, places) => hits.includes(1) &&
			places()?.forEach((v, i) => { match[i] |= hits[v]; });
		mark(found, () => g.name);
		mark(tracks, () => g.track);
		for (const f of g.fields.values()) {
			mark(found, () => f.labels);
			mark(found.subarray(1), () => f.text ? f.values : null);
		}
		return match;
	};
	return test;
}
