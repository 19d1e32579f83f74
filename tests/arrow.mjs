// SPDX-License-Identifier: BSD-2-Clause
// Compares a table that telcat -f arrow wrote, as apache-arrow and flechette
// read it, with what telcat -f json printed of the same log:
//
//	node arrow.mjs TABLE OUTPUT
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(path.join(process.cwd(), 'arrow.mjs'));
const arrow = require('apache-arrow');
const flechette = await import(require.resolve('@uwdata/flechette'));
const [table, output] = process.argv.slice(2);

const fail = (...what) => {
    console.error(...what);
    process.exit(1);
};

// Integers that a double cannot hold are strings in JSON.
const lines = fs.readFileSync(output, 'utf8').split('\n').slice(0, -1)
    .map((line) => JSON.parse(line));

// Members of structs under the names that columns have; what is null is absent.
function flatten(fields, prefix = '', into = new Map()) {
    for (const [name, value] of Object.entries(fields)) {
        if (typeof value === 'object' && value !== null && !Array.isArray(value))
            flatten(value, `${prefix}${name}.`, into);
        else if (value !== null)
            into.set(prefix + name, value);
    }
    return into;
}

function same(value, want, datatype) {
    if (datatype === 'list') {
        const got = [...value];
        return got.length === want.length && got.every((v, i) =>
            typeof v === 'number' && !Number.isInteger(v) ?
                Math.fround(want[i]) === Math.fround(v) :
                typeof v === 'boolean' || typeof want[i] === 'string' &&
                    typeof v === 'string' ? v === want[i] :
                    BigInt(v) === BigInt(want[i]));
    }
    if (datatype === 'string' || datatype === 'boolean')
        return value === want;
    if (datatype === 'double')
        return [value, Math.fround(value)].some((v) => Object.is(v,
            Number(want === 'inf' ? Infinity :
                want === '-inf' ? -Infinity : want)) ||
            Object.is(v, Math.fround(want)));
    return BigInt(value) === BigInt(want);
}

function compare(name, columns, rows) {
    if (rows !== lines.length)
        fail(name, rows, 'rows, not', lines.length);
    lines.forEach((want, i) => {
        const expected = flatten(want.fields);
        let fields = 0, labels = 0;
        for (const c of columns) {
            const value = c.get(i);
            const field = c.metadata.get('tel.field');
            const datatype = c.metadata.get('tel.datatype');
            if (value === null || value === undefined)
                continue;
            if (field === undefined) {
                if (c.name === 'clock' ?
                    BigInt(value) !== BigInt(want.clock) :
                    value !== want[c.name])
                    fail(name, i, c.name, value, want);
            } else if (Array.isArray(expected.get(field)) &&
                datatype !== 'list') {
                // a stack: its number, and its innermost frame
                fields += datatype !== 'label';
                if (datatype === 'label' && value !== expected.get(field)[0])
                    fail(name, i, field, value, want);
            } else if (datatype === 'label') {
                labels++;
                if (value !== want.labels[field])
                    fail(name, i, field, value, want);
            } else {
                fields++;
                if (!same(value, expected.get(field.replace(/\.label$/, '_label')) ??
                    expected.get(field), datatype))
                    fail(name, i, field, value, want);
            }
        }
        if (fields !== expected.size ||
            labels !== Object.keys(want.labels ?? {}).length)
            fail(name, i, fields, labels, want);
    });
}

const bytes = fs.readFileSync(table);
const a = arrow.tableFromIPC(bytes);
compare('apache-arrow', a.schema.fields.map((f, i) => {
    const column = a.getChildAt(i);
    return { name: f.name, metadata: f.metadata, get: (r) => column.get(r) };
}), a.numRows);
const b = flechette.tableFromIPC(bytes, { useBigInt: true });
compare('flechette', b.schema.fields.map((f, i) => {
    const column = b.getChildAt(i);
    return { name: f.name, metadata: f.metadata ?? new Map(),
        get: (r) => column.at(r) };
}), b.numRows);
console.log(`${path.basename(table)}: ${lines.length} rows`);
