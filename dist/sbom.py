#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The software bill of materials of a source archive, as SPDX 2.3 in JSON.

    sbom.py ARCHIVE.tar.gz VERSION SECONDS >teltools.spdx.json

SECONDS since 1970 are the time of the release, so that the same archive gives
the same document.
"""

import datetime
import fnmatch
import hashlib
import json
import sys
import tarfile
import tomllib

# What the programs are linked with, or load: what Debian calls it, and why.
NEEDED = (
    ("bzip2", "bzip2-1.0.6", "RUNTIME_DEPENDENCY_OF"),
    ("elfutils", "GPL-2.0-or-later OR LGPL-3.0-or-later", "OPTIONAL_DEPENDENCY_OF"),
    ("libarchive", "BSD-2-Clause", "RUNTIME_DEPENDENCY_OF"),
    ("libunwind", "MIT", "OPTIONAL_DEPENDENCY_OF"),
    ("libzstd", "BSD-3-Clause", "DYNAMIC_LINK"),
    ("lz4", "BSD-2-Clause", "RUNTIME_DEPENDENCY_OF"),
    ("sqlite3", "LicenseRef-public-domain", "OPTIONAL_DEPENDENCY_OF"),
    ("xz-utils", "LicenseRef-public-domain", "RUNTIME_DEPENDENCY_OF"),
    ("zlib", "Zlib", "RUNTIME_DEPENDENCY_OF"),
)


def checksums(data):
    """The digests that SPDX has for a file."""
    return [
        {"algorithm": name.upper(), "checksumValue": getattr(hashlib, name)(data).hexdigest()}
        for name in ("sha1", "sha256")
    ]


def annotations(text):
    """The patterns of REUSE.toml, each with its licence."""
    found = []
    for entry in tomllib.loads(text)["annotations"]:
        paths = entry["path"]
        for path in [paths] if isinstance(paths, str) else paths:
            if "SPDX-License-Identifier" in entry:
                found.append((path, entry["SPDX-License-Identifier"]))
    return found


def licence_of(name, data, declared):
    """The licence that the file names, or the last one declared for it."""
    found = "NOASSERTION"
    if b"SPDX-License-Identifier: BSD-2-Clause" in data:
        found = "BSD-2-Clause"
    for path, licence in declared:
        if fnmatch.fnmatchcase(name, path):
            found = licence
    return found


def files_of(archive):
    """An entry for each file, in order of names."""
    found = []
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile():
                found.append((member.name.split("/", 1)[1], tar.extractfile(member).read()))
    declared = annotations(dict(found)["REUSE.toml"].decode())
    licences = [licence_of(name, data, declared) for name, data in sorted(found)]
    return [
        {
            "SPDXID": "SPDXRef-File-%d" % number,
            "fileName": "./" + name,
            "checksums": checksums(data),
            "licenseConcluded": licence,
            "licenseInfoInFiles": [licence],
            "copyrightText": "NOASSERTION",
        }
        for number, ((name, data), licence) in enumerate(zip(sorted(found), licences), 1)
    ]


def package(name, version, licence):
    """A package without its files."""
    return {
        "SPDXID": "SPDXRef-" + name,
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
    }


def main(archive, version, seconds):
    files = files_of(archive)
    own = package("teltools", version, "BSD-2-Clause")
    own["filesAnalyzed"] = True
    own["copyrightText"] = "Copyright (c) 2026 The teltools authors"
    own["hasFiles"] = [entry["SPDXID"] for entry in files]
    sums = sorted(entry["checksums"][0]["checksumValue"] for entry in files)
    own["packageVerificationCode"] = {
        "packageVerificationCodeValue": hashlib.sha1("".join(sums).encode()).hexdigest()
    }
    with open(archive, "rb") as file:
        own["checksums"] = checksums(file.read())
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-teltools")]
    for name, _, relation in NEEDED:
        if relation.endswith("_OF"):
            relations.append(("SPDXRef-" + name, relation, "SPDXRef-teltools"))
        else:
            relations.append(("SPDXRef-teltools", relation, "SPDXRef-" + name))
    time = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
    json.dump(
        {
            "spdxVersion": "SPDX-2.3",
            "dataLicense": "CC0-1.0",
            "SPDXID": "SPDXRef-DOCUMENT",
            "name": "teltools-" + version,
            "documentNamespace": "urn:teltools:%s:%s" % (version, own["checksums"][1]["checksumValue"]),
            "creationInfo": {
                "created": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "creators": ["Tool: teltools-sbom"],
            },
            "hasExtractedLicensingInfos": [
                {
                    "licenseId": "LicenseRef-public-domain",
                    "extractedText": "SQLite is in the public domain.",
                }
            ],
            "packages": [own] + [package(name, "NOASSERTION", licence) for name, licence, _ in NEEDED],
            "files": files,
            "relationships": [
                {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                for a, kind, b in relations
            ],
        },
        sys.stdout,
        indent=1,
    )
    print()


main(*sys.argv[1:])
