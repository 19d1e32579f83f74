// SPDX-License-Identifier: BSD-2-Clause
// The common part of the language of tel-filter(7): names, literals,
// comparisons, patterns, lists, has(), label(), && || ! and parentheses.
"use strict";

const TOKEN = new RegExp(`\\s*(?:${[
	/(?<time>\d+(?:\.\d+)?(?:ns|us|ms|s)\b)/,
	/(?<number>0[xX][\da-fA-F]+|0b[01]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)/.source +
		/(?<size>[kKMGT]?)(?!\w)/.source,
	/(?<word>\.?[A-Za-z_]\w*)/,
	/(?<string>"(?:[^"\\]|\\.)*"|'[^']*')/,
	/(?<sign>&&|\|\||\.\.|[=!<>]=|[!=]\*|!~|[-!<>~(),])/,
].map((part) => part.source ?? part).join("|")})\\s*`, "y");
const SCALE = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
const ESCAPES = { n: "\n", t: "\t", r: "\r" };

function tokens(text) {
	const out = [];
	for (let at = TOKEN.lastIndex = 0; at < text.length; at = TOKEN.lastIndex) {
		const found = TOKEN.exec(text);
		if (!found)
			throw new Error(`column ${at + 1}: expected an expression`);
		out.push({ at, ...found.groups });
	}
	return out;
}

function literal({ time, number, size, string }) {
	if (time)
		return Math.round(parseFloat(time) *
			SCALE[time.replace(/[\d.]+/, "")]);
	if (string)
		return string[0] === "'" ? string.slice(1, -1) : string.slice(1, -1)
			.replace(/\\(?:x([\da-fA-F]{2})|(.))/g, (_, hex, c) => hex
				? String.fromCharCode(parseInt(hex, 16)) : ESCAPES[c] ?? c);
	const scale = 1024 ** " KMGT".indexOf((size || " ").toUpperCase());
	const n = /^0\d+$/.test(number) ? parseInt(number, 8) : Number(number);
	return Number.isSafeInteger(n) || /^\d+[.e]/.test(number) ? n * scale
		: BigInt(number) * BigInt(scale);
}

// A glob of tel-filter as a regular expression.
const glob = (text) => new RegExp(`^${text.replace(
	/\\(.)|\[(!?)((?:\]|[^\]])[^\]]*)\]|[\s\S]/g, (c, quoted, not, set) =>
		set ? `[${not ? "^" : ""}${set.replace(/[\\[\]^]/g, "\\$&")}]`
			: c === "*" ? "[\\s\\S]*" : c === "?" ? "[\\s\\S]"
				: (quoted || c).replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))}$`);

const COMPARE = {
	"=": (a, b) => a == b, "<": (a, b) => a < b, "<=": (a, b) => a <= b,
	">": (a, b) => a > b, ">=": (a, b) => a >= b,
};
// Strings and numbers do not compare; integers of both kinds do.
const alike = (a, b) => (typeof a === "string") === (typeof b === "string");

// Makes a function of an expression, which returns true, false, or undefined
// where a value is missing.  It asks an event for get(name, isField),
// label(name) and labels().  fields: the names of all fields of the log.
function compile(text, fields) {
	const list = tokens(text);
	let at = 0;

	const bad = (what) => {
		throw new Error(`column ${(list[at]?.at ?? text.length) + 1}: ${what}`);
	};
	const sign = (...signs) => signs.includes(list[at]?.sign) &&
		list[at++].sign;
	const need = (s) => sign(s) || bad(`expected ${s}`);
	// Of a value there are none, one, or many labels.
	const one = (get) => (e) => [get(e)].filter((v) => v !== undefined);

	function field() {
		const { word, string } = list[at] ?? {};
		const name = string ? literal(list[at]) : word?.replace(/^\./, "");
		if (!name || (word && !fields.has(name)))
			bad(name ? `no type has a field ${name}` : "expected a field");
		at++;
		return name;
	}
	// bare: names that are not known are strings.
	function value(bare) {
		if (sign("-")) {
			const inner = value();
			return (e) => inner(e).filter((v) => alike(v, 0)).map((v) => -v);
		}
		if (sign("(")) {
			const inner = either();
			need(")");
			return one(inner);
		}
		const t = list[at] ?? {}, name = t.word;
		if (t.time || t.number || t.string) {
			const v = literal(list[at++]);
			return () => [v];
		}
		if (!name)
			bad("expected a value");
		at++;
		if (/^(has|label|field)$/.test(name) && sign("(")) {
			const known = name === "has" && PROPERTIES.has(list[at]?.word);
			const f = known ? list[at++].word : field();
			need(")");
			return name === "has" ? (e) => [e.get(f) !== undefined]
				: one((e) => name === "label" ? e.label(f) : e.get(f, true));
		}
		if (/^(true|false)$/.test(name))
			return () => [name === "true"];
		if (name === "label")
			return (e) => e.labels();
		if (PROPERTIES.has(name))
			return one((e) => e.get(name));
		if (bare)
			return () => [name];
		at--;
		const f = field();
		return one((e) => e.get(f, true));
	}
	function test() {
		if (sign("!")) {
			const inner = test();
			return (e) => {
				const v = inner(e);
				return v === undefined ? v : !v;
			};
		}
		const { word } = list[at] ?? {}, left = value();
		const op = sign(...["==", "!=", "<", "<=", ">", ">=", "~", "!~", "=*",
			"!*"]) || (list[at]?.word === "in" && list[at++].word);
		const bare = /^(kind|name)$/.test(word);
		const fold = (v) => word === "kind" ? String(v).toLowerCase() : v;
		// True if any value is so: undefined if there is none.
		const any = (is) => (e) => {
			const found = left(e).map((v) => is(v, e))
				.filter((v) => v !== undefined);
			return found.length ? found.includes(true) !== (op?.[0] === "!")
				: undefined;
		};
		const how = op && op.replace(/^[!=]/, "");
		if (!op)
			return any((v) => alike(v, "") ? undefined : Boolean(v));
		if (/[~*]/.test(how)) {
			if (!list[at]?.string)
				bad("expected a pattern in quotes");
			const pattern = literal(list[at++]);
			const re = how === "~" ? new RegExp(pattern) : glob(pattern);
			return any((v) => re.test(v));
		}
		const against = (right, compare) => (v, e) => {
			const [w] = right(e);
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
		return (e) => {
			const found = parts.map((part) => part(e));
			return found.includes(strong) ? strong
				: found.includes(undefined) ? undefined : !strong;
		};
	}
	const both = () => chain(test, "&&", false);
	const either = () => chain(both, "||", true);

	const result = either();
	if (at < list.length)
		bad("expected an operator");
	return result;
}

// What a search box says: an expression, or words to find in any string.
function search(text, fields) {
	if (/[=<>~!&|()]|\bin\b/.test(text))
		return compile(text, fields);
	const part = text.toLowerCase();
	return (e) => e.strings().some((s) => s.toLowerCase().includes(part));
}
