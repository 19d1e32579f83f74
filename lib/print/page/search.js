// SPDX-License-Identifier: BSD-2-Clause
// The common part of the language of tel-filter(7): names, literals,
// comparisons, patterns, lists, has(), label(), && || ! and parentheses.
//
// compile() makes a function of an expression.  It returns true, false, or
// undefined where a value is missing.  It asks an event for values by name:
// get(name, isField), undefined where there is none, and for all of its labels.
"use strict";

const TOKEN = new RegExp(`\\s*(?:${[
	/(?<time>\d+(?:\.\d+)?(?:ns|us|ms|s)\b)/,
	new RegExp(/(?<number>0[xX][\da-fA-F]+|0b[01]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)/
		.source + /(?<size>[kKMGT]?)(?!\w)/.source),
	/(?<word>\.?[A-Za-z_]\w*)/,
	/(?<string>"(?:[^"\\]|\\.)*"|'[^']*')/,
	/(?<sign>&&|\|\||\.\.|[=!<>]=|[!=]\*|!~|[-!<>~(),])/,
].map((part) => part.source).join("|")})\\s*`, "y");
const SCALE = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
const NAMES = ["kind", "name", "code", "time", "label", "duration", "track"];

function tokens(text) {
	const out = [];
	TOKEN.lastIndex = 0;
	while (TOKEN.lastIndex < text.length) {
		const at = TOKEN.lastIndex, found = TOKEN.exec(text);
		if (!found)
			throw new Error(`column ${at + 1}: expected an expression`);
		out.push({ at, ...found.groups, text: found[0].trim() });
	}
	return out;
}

function literal(t) {
	if (t.time) {
		const [, n, unit] = /^([\d.]+)(\w+)$/.exec(t.time);
		return Math.round(Number(n) * SCALE[unit]);
	}
	if (t.string)
		return t.string[0] === "'" ? t.string.slice(1, -1)
			: t.string.slice(1, -1).replace(/\\(x[\da-fA-F]{2}|.)/g,
				(_, c) => ({ n: "\n", t: "\t", r: "\r" })[c] ??
					(c[0] === "x" && c[1] ? String.fromCharCode(
						parseInt(c.slice(1), 16)) : c));
	const size = 1024 ** " KMGT".indexOf((t.size || " ").toUpperCase());
	const n = t.number;
	if (/^0\d/.test(n))
		return parseInt(n, 8) * size;
	if (Number.isSafeInteger(Number(n)) || /[.e]/.test(n.replace(/^0x.*/, "")))
		return Number(n) * size;
	return BigInt(n) * BigInt(size);
}

// A glob of tel-filter as a regular expression.
const glob = (text) => new RegExp(`^${text.replace(
	/\\(.)|\[(!?)((?:\]|[^\]])[^\]]*)\]|[\s\S]/g, (c, quoted, not, set) =>
		set ? `[${not ? "^" : ""}${set.replace(/[\\[\]^]/g, "\\$&")}]`
			: c === "*" ? "[\\s\\S]*" : c === "?" ? "[\\s\\S]"
				: (quoted || c).replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))}$`);

const compare = {
	"==": (a, b) => a == b, "!=": (a, b) => a != b,
	"<": (a, b) => a < b, "<=": (a, b) => a <= b,
	">": (a, b) => a > b, ">=": (a, b) => a >= b,
};
// Strings and numbers do not compare; integers of both kinds do.
const alike = (a, b) => a !== undefined && b !== undefined &&
	(typeof a === "string") === (typeof b === "string");

// fields: the names of all fields of the log.
function compile(text, fields) {
	const list = tokens(text);
	let at = 0;

	const bad = (what) => {
		const t = list[at];
		throw new Error(`column ${t ? t.at + 1 : text.length + 1}: ${what}`);
	};
	const sign = (...signs) => signs.includes(list[at]?.sign) &&
		list[at++].sign;
	const need = (s) => sign(s) || bad(`expected ${s}`);

	function field() {
		const t = list[at];
		if (!t?.word && !t?.string)
			bad("expected a field");
		const name = t.string ? literal(t) : t.word.replace(/^\./, "");
		if (t.word && !fields.has(name))
			bad(`no type has a field ${name}`);
		at++;
		return name;
	}
	// A value: {get(event)}, and what it is called if it is a bare name.
	function value(bare) {
		const t = list[at];
		if (sign("-")) {
			const v = value(false);
			return { get: (e) => {
				const n = v.get(e);
				return typeof n === "string" || n === undefined
					? undefined : -n;
			} };
		}
		if (sign("(")) {
			const inner = either();
			need(")");
			return { get: inner, test: true };
		}
		if (t?.time || t?.number || t?.string) {
			at++;
			const v = literal(t);
			return { get: () => v, literal: v };
		}
		if (!t?.word)
			bad("expected a value");
		const name = t.word;
		at++;
		if (/^(has|label|field)$/.test(name) && sign("(")) {
			const other = list[at]?.word;
			const f = name === "has" && NAMES.includes(other)
				? (at++, other) : field();
			need(")");
			if (name === "has")
				return { get: (e) => e.get(f) !== undefined };
			return { get: (e) => e.get(name === "label"
				? `label of ${f}` : f, name === "field") };
		}
		if (name === "true" || name === "false")
			return { get: () => name === "true" };
		if (name === "label")
			return { get: (e) => e.labels()[0], labels: true };
		if (NAMES.includes(name))
			return { get: (e) => e.get(name), is: name };
		// beside kind and name, a bare word is one of theirs
		if (bare)
			return { get: () => name, literal: name };
		at--;
		const f = field();
		return { get: (e) => e.get(f, true) };
	}
	function test() {
		if (sign("!")) {
			const inner = test();
			return (e) => {
				const v = inner(e);
				return v === undefined ? v : !v;
			};
		}
		const left = value(false);
		const op = sign("==", "!=", "<", "<=", ">", ">=") ||
			sign("~", "!~", "=*", "!*") ||
			(list[at]?.word === "in" && (at++, "in"));
		const word = left.is === "kind" || left.is === "name";
		const fold = (v) => left.is === "kind" && typeof v === "string"
			? v.toLowerCase() : v;
		const any = (not, is) => (e) => {
			const values = left.labels ? e.labels() : [left.get(e)];
			const known = values.filter((v) => v !== undefined);
			return known.length ? known.some((v) => is(v, e)) !== not
				: undefined;
		};
		if (!op) {
			return (e) => {
				const v = left.get(e);
				return v === undefined || typeof v === "string"
					? undefined : Boolean(v);
			};
		}
		if (op === "in") {
			const items = [];
			need("(");
			do {
				const low = value(word);
				items.push([low, sign("..") ? value(word) : low]);
			} while (sign(","));
			need(")");
			return any(false, (v, e) => items.some(([low, high]) => {
				const a = low.get(e), b = high.get(e);
				return alike(v, a) && alike(v, b) &&
					fold(v) >= fold(a) && fold(v) <= fold(b);
			}));
		}
		if (/[~*]/.test(op)) {
			if (!list[at]?.string)
				bad("expected a pattern in quotes");
			const pattern = literal(list[at++]);
			const re = op.includes("~") ? new RegExp(pattern) : glob(pattern);
			return any(op[0] === "!", (v) => re.test(v));
		}
		const right = value(word);
		if (left.labels)
			return any(op === "!=", (v, e) => v === right.get(e));
		return (e) => {
			const a = fold(left.get(e)), b = fold(right.get(e));
			return alike(a, b) ? compare[op](a, b) : undefined;
		};
	}
	function chain(inner, op, strong) {
		const parts = [inner()];
		while (sign(op))
			parts.push(inner());
		return parts.length === 1 ? parts[0] : (e) => {
			let all = !strong;
			for (const part of parts) {
				const v = part(e);
				if (v === strong)
					return strong;
				if (v === undefined)
					all = undefined;
			}
			return all;
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
	if (!/[=<>~!&|()]|\bin\b/.test(text)) {
		const part = text.toLowerCase();
		return (e) => e.strings().some((s) => s.toLowerCase().includes(part));
	}
	return compile(text, fields);
}
