# SPDX-License-Identifier: BSD-2-Clause
"""What a log says is allocated: a model of live blocks, from telstat(1),
tel-alloc(5) and teltools(7), that shares nothing with the tools."""

import re

# Text of an MPS log has no lines of roles; these are those of its pools.
MPS = {"PoolAlloc": "alloc pReturn size pool=pool",
       "PoolFree": "free old size pool=pool",
       "PoolFinish": "destroy-pool pool=pool"}


def operations(lines):
    """Of text, see tel-text(5): role, process, pool, address, old, size."""
    def read_role(text):
        role, *parts = text.split()
        # the first three have no names
        return role, dict(part.split("=") for part in [
            part if "=" in part else name + "=" + part
            for name, part in zip(("address", "size", "pool") + ("",) * 9,
                                  parts)])

    roles = {name: read_role(text) for name, text in MPS.items()}
    for line in lines:
        words = line.split(None, 3 if line.startswith("# role:") else 2)
        if line.startswith("# role:"):
            roles[words[2]] = read_role(words[3])
        if line.startswith("#") or len(words) < 3 or words[1] not in roles:
            continue
        role, parts = roles[words[1]]
        fields = dict(re.findall(r"([\w-]+)=(-?0x[0-9a-f]+|-?\d+)", words[2]))

        def number(name, default="0"):
            text = fields.get(parts.get(name), default)
            # blocks by number start at 0, and -1 is none
            shift = name in ("address", "old") and "0x" not in text
            return int(text, 0) + shift
        yield (role, number("process"), number("pool", "-1"), number("address"),
               number("old", "0x0"), number("size") * number("count", "1"))


def live(lines, pools=None):
    """Reads events in order of time; returns what they add up to.  pools: gets
    a list of what each pool allocated, and of its live and peak bytes."""
    current = {}
    blocks, n = {}, dict.fromkeys(
        [what + of for what in ("allocated", "freed", "live", "peak")
         for of in ("_blocks", "_bytes")] + ["unknown", "inherited"], 0)
    left = [0, 0]  # by processes that ended, blocks and bytes
    ended, first = [], None  # processes; the first one that allocated

    def count(what, number, size):
        n[what + "_blocks"] += number
        n[what + "_bytes"] += size

    def count_pool(pool, blocks_more, size):
        if pools is None or pool <= 0:
            return
        if pool not in current:
            current[pool] = [pool, 0, 0, 0, 0]
            pools.append(current[pool])
        row = current[pool]
        row[1] += blocks_more
        row[2] += max(size, 0) * blocks_more
        row[3] += size
        row[4] = max(row[4], row[3])

    def take(key, part, freed=True):
        """Takes all of a block; or what a pool frees, its front or its end."""
        process, address = key
        if part and key not in blocks:
            key = next((k for k, (size, _) in blocks.items() if k[0] == process
                        and k[1] + size == address + part), key)
        if key not in blocks:
            # telrec numbers programs that a process executes above 22 bits
            child = first not in (None, process) and process < 1 << 22
            n["inherited" if child else "unknown"] += address > 0
            return
        whole, pool = blocks.pop(key)
        size = min(part or whole, whole)
        if size < whole:
            front = key[1] == address
            blocks[process, key[1] + size * front] = whole - size, pool
        count("live", -(size == whole), -size)
        count_pool(pool, 0, -size)
        if freed:
            count("freed", size == whole, size)

    for role, process, pool, address, old, size in operations(lines):
        # one that failed changes nothing
        if role in ("alloc", "new", "realloc") and address <= 0 and \
                not (role == "realloc" and old and size == 0):
            continue
        for key in [k for k in blocks if k[0] in ended] if ended else []:
            left = [left[0] + 1, left[1] + blocks[key][0]]
            take(key, 0, freed=False)
        ended = [process] if role == "end-process" else []
        if role == "destroy-pool":
            for key in [k for k, block in blocks.items() if block[1] == pool]:
                take(key, 0, freed=False)
            current.pop(pool, None)
        elif role.startswith(("free", "delete")):
            take((process, address), size if pool >= 0 else 0)
        elif role in ("alloc", "realloc", "new"):
            if role == "realloc" and old:
                take((process, old), 0)
            # a larger one is an error
            if address <= 0 or size > 1 << 47:
                continue
            first = process if first is None else first
            if (process, address) in blocks:
                take((process, address), 0, freed=False)
            blocks[process, address] = size, pool
            count("allocated", 1, size)
            count("live", 1, size)
            count_pool(pool, 1, size)
            if n["live_bytes"] > n["peak_bytes"]:
                n["peak_blocks"] = n["live_blocks"]
                n["peak_bytes"] = n["live_bytes"]
    for i, of in enumerate(("_blocks", "_bytes")):
        n["leaked" + of] = n["live" + of] + left[i]
    return n
