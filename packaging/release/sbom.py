#!/usr/bin/env python3
"""Prints the bill of materials (CycloneDX 1.6) of the programs of a release: which crates each of them is made of.

    packaging/release/sbom.py --version VERSION [--program PROGRAM]... [--static-program PROGRAM]...

PROGRAM is PACKAGE:TARGET:FILE, such as crawlpike-nginx:x86_64-unknown-linux-gnu:dist/ngx_http_crawlpike_module.so, with
what it is for behind another colon if there are several. The file name stands for the program, and the digest of the file
for its content. Crates that only run when the programs are built, such as procedural macros, are not in the programs and not
in the bill. A static program contains the C library of this machine. The time is SOURCE_DATE_EPOCH. Needs
cyclonedx-python-lib, which `.ci/setup dist` installs.
"""

import argparse
import datetime
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tomllib
import uuid

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

ROOT = pathlib.Path(__file__).resolve().parents[2]
LICENCE = LicenseFactory()


def digest(hexadecimal):
    """A SHA-256 digest, as components have it."""
    return HashType(alg=HashAlgorithm.SHA_256, content=hexadecimal)


def digests_of_crates():
    """The digests of the archives on crates.io, by name and version."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    return {(crate["name"], crate["version"]): crate.get("checksum") for crate in lock["package"]}


def tree(package, target):
    """The lines of `cargo tree` as depth, name, version and licence. The first line is the package itself."""
    command = ["cargo", "tree", "--locked", "-p", package, "--target", target, "-e", "normal,no-proc-macro"]
    command += ["--prefix", "depth", "--format", "{p}|{l}"]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        depth, name, version, licence = re.fullmatch(r"(\d+)(\S+) v([^ |]+)[^|]*\|(.*?)(?: \(\*\))?", line).groups()
        yield int(depth), name, version, licence


class Bill:
    """Components and which of them need which."""

    def __init__(self, version):
        self.version = version
        self.digests = digests_of_crates()
        self.crates = {}
        self.needs = {}
        product = Component(
            name="crawlpike", version=version, type=ComponentType.APPLICATION, bom_ref="crawlpike",
            purl=PackageURL("generic", None, "crawlpike", version), licenses=[LICENCE.make_from_string("Apache-2.0")],
        )
        self.bom = Bom(metadata=BomMetaData(component=product))
        self.programs = []

    def crate(self, name, version, licence):
        """The component of a crate."""
        if (name, version) not in self.crates:
            purl = PackageURL("cargo", None, name, version)
            # The old spelling of OR.
            expression = licence.replace("/", " OR ")
            checksum = self.digests[name, version]
            component = Component(
                name=name, version=version, type=ComponentType.LIBRARY, bom_ref=purl.to_string(), purl=purl,
                licenses=[LICENCE.make_from_string(expression)], hashes=[digest(checksum)] if checksum else [],
            )
            self.crates[name, version] = component
            self.bom.components.add(component)
        return self.crates[name, version]

    def add_program(self, package, target, file, purpose=None):
        """Adds a program with all crates in it."""
        content = hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()
        name = pathlib.Path(file).name
        program = Component(
            name=name, version=self.version, type=ComponentType.APPLICATION, bom_ref=f"{name}@{content[:16]}",
            description=" for ".join(filter(None, [package, target, purpose])), hashes=[digest(content)],
            licenses=[LICENCE.make_from_string("Apache-2.0")],
        )
        self.bom.components.add(program)
        self.programs.append(program)
        way = [program]
        for depth, crate, version, licence in tree(package, target):
            component = self.crate(crate, version, licence)
            del way[depth + 1:]
            self.needs.setdefault(way[-1], set()).add(component)
            way.append(component)
        return program

    def add_static_program(self, *program):
        """Adds a program that contains the C library."""
        name, version = os.confstr("CS_GNU_LIBC_VERSION").split()
        library = Component(
            name=name, version=version, type=ComponentType.LIBRARY, bom_ref=f"{name}@{version}",
            purl=PackageURL("generic", None, name, version), licenses=[LICENCE.make_from_string("LGPL-2.1-or-later")],
        )
        self.bom.components.add(library)
        self.needs.setdefault(self.add_program(*program), set()).add(library)

    def text(self, time):
        """The bill as JSON, which the schema of CycloneDX accepts."""
        self.bom.metadata.timestamp = datetime.datetime.fromtimestamp(time, datetime.timezone.utc)
        # The same programs have the same number.
        content = "".join(sorted(program.bom_ref.value for program in self.programs))
        self.bom.serial_number = uuid.uuid5(uuid.NAMESPACE_OID, f"crawlpike {self.version} {content}")
        for component, needed in self.needs.items():
            self.bom.register_dependency(component, needed)
        self.bom.register_dependency(self.bom.metadata.component, self.programs)
        text = JsonV1Dot6(self.bom).output_as_string(indent=1)
        error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
        if error:
            raise SystemExit(f"sbom: not what the schema of CycloneDX 1.6 accepts: {error}")
        return text


def main():
    """Prints the bill."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", required=True)
    parser.add_argument("--program", action="append", default=[])
    parser.add_argument("--static-program", action="append", default=[])
    arguments = parser.parse_args()
    bill = Bill(arguments.version)
    for program in arguments.program:
        bill.add_program(*program.split(":"))
    for program in arguments.static_program:
        bill.add_static_program(*program.split(":"))
    print(bill.text(int(os.environ["SOURCE_DATE_EPOCH"])))


if __name__ == "__main__":
    main()
