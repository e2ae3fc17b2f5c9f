#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns docs/spec/kubernetes-schema.json and kubernetes-kinds.json into constant C++ tables.

    kubernetes_tables.py SCHEMA_JSON KINDS_JSON OUT_CPP

The tables need no parsing and no memory of their own at run time; src/cluster/schema.h and kinds.h say what is in them.
Fails with a sentence when the facts contradict each other, so that a mistake in them stops the build.
"""
import json
import sys

# Structs that Kubernetes inlines and that are no schema of their own: their fields' numbers (the JSON shows the fields
# in the outer struct, protobuf in a nested message).
INLINED = {
    "VolumeSource": dict(
        hostPath=1, emptyDir=2, gcePersistentDisk=3, awsElasticBlockStore=4, gitRepo=5, secret=6, nfs=7, iscsi=8,
        glusterfs=9, persistentVolumeClaim=10, rbd=11, flexVolume=12, cinder=13, cephfs=14, flocker=15, downwardAPI=16,
        fc=17, azureFile=18, configMap=19, vsphereVolume=20, quobyte=21, azureDisk=22, photonPersistentDisk=23,
        portworxVolume=24, scaleIO=25, projected=26, storageos=27, csi=28, ephemeral=29, image=30),
    "PersistentVolumeSource": dict(
        gcePersistentDisk=1, awsElasticBlockStore=2, hostPath=3, glusterfs=4, nfs=5, rbd=6, iscsi=7, cinder=8, cephfs=9,
        fc=10, flocker=11, flexVolume=12, azureFile=13, vsphereVolume=14, quobyte=15, azureDisk=16,
        photonPersistentDisk=17, portworxVolume=18, scaleIO=19, local=20, storageos=21, csi=22),
    "ProbeHandler": {"exec": 1, "httpGet": 2, "tcpSocket": 3, "grpc": 4},
    "IngressRuleValue": dict(http=1),
    "Rule": dict(apiGroups=1, apiVersions=2, resources=3, scope=4),
}
# EphemeralContainerCommon repeats Container, number by number.
SAME_AS = {"EphemeralContainerCommon": "Container"}

SPECIAL = {  # schemas whose JSON is no object with fields
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "Quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "IntOrString",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "Time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "MicroTime",
}
PRIMITIVES = {("boolean", None): "Boolean", ("integer", "int32"): "Integer32", ("integer", "int64"): "Integer64",
              ("number", "double"): "Number", ("string", None): "String", ("string", "byte"): "Bytes"}
VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]


def stop(sentence):
    sys.exit("kubernetes_tables.py: " + sentence)


def quoted(text):
    return json.dumps(text)


class Tables:
    def __init__(self, schemas):
        self.facts = schemas
        self.rows = []       # one per schema node: a C++ initialiser
        self.by_key = {}     # node key → index
        self.fields = []     # C++ initialisers
        self.keys = []       # merge and map keys
        self.by_message = {}
        for name, fact in schemas.items():
            self.by_message.setdefault(fact["proto"].rsplit(".", 1)[1], {})[name.rsplit(".", 1)[0]] = name
        # Messages that some field refers to with `retainKeys`: a patch of one may say which of its fields stay.
        self.retained = {about["ref"] for fact in schemas.values() for about in fact.get("fields", {}).values()
                         if "ref" in about and "retainKeys" in about.get("patch-strategy", "").split(",")}

    def node(self, key, make):
        if key not in self.by_key:
            self.by_key[key] = len(self.rows)
            self.rows.append(None)
            self.rows[self.by_key[key]] = make()
        return self.by_key[key]

    def key_span(self, keys):
        if not keys:
            return "{}"
        for start in range(len(self.keys) - len(keys) + 1):
            if self.keys[start:start + len(keys)] == keys:
                return "{kKeys + %d, %d}" % (start, len(keys))
        self.keys += keys
        return "{kKeys + %d, %d}" % (len(self.keys) - len(keys), len(keys))

    def row(self, shape, name="", message="", fields="{}", element="nullptr", list_type="Atomic", keys="{}",
            merge_key="", merges=False, retains=False, atomic=False):
        return "{Shape::%s, ListType::%s, %s, %s, %s, %s, %s, %s, %s, %s, %s}" % (
            shape, list_type, *(str(flag).lower() for flag in (merges, retains, atomic)), quoted(merge_key),
            quoted(name), quoted(message), fields, keys, element)

    def of(self, fact):
        """The node of a field, of a list's items or of a map's values."""
        strategy = fact.get("patch-strategy", "").split(",") if fact.get("patch-strategy") else []
        if "ref" in fact:
            return self.schema(fact["ref"])
        kind = fact.get("type")
        if kind == "array":
            element = self.of(fact["items"])
            list_type = {None: "Atomic", "atomic": "Atomic", "set": "Set", "map": "Map"}[fact.get("list-type")]
            keys = fact.get("list-map-keys", [])
            merge_key = fact.get("patch-merge-key", "")
            key = ("list", element, list_type, tuple(keys), merge_key, tuple(strategy))
            return self.node(key, lambda: self.row(
                "List", element="kSchemas + %d" % element, list_type=list_type, keys=self.key_span(keys),
                merge_key=merge_key, merges="merge" in strategy, retains="retainKeys" in strategy))
        if kind == "object":
            if "values" not in fact:
                stop("an object field without values and without a reference: %s" % fact)
            element = self.of(fact["values"])
            atomic = fact.get("map-type") == "atomic"
            return self.node(("map", element, atomic),
                             lambda: self.row("Map", element="kSchemas + %d" % element, atomic=atomic))
        shape = PRIMITIVES.get((kind, fact.get("format")))
        if shape is None:
            stop("an unknown type: %s" % fact)
        return self.node(shape, lambda: self.row(shape))

    def schema(self, name):
        fact = self.facts.get(name)
        if fact is None:
            stop("nothing is known of the schema %s" % name)
        return self.node(name, lambda: self.message(name, fact))

    def message(self, name, fact):
        if name in SPECIAL:
            return self.row(SPECIAL[name], name, fact["proto"])
        if "fields" not in fact:
            return self.row("Message" if name.endswith("SubresourceStatus") else "Any", name, fact["proto"])
        numbers = self.numbers(name, fact)
        required = set(fact.get("required", []))
        rows = []
        for field in sorted(fact["fields"]):
            about = fact["fields"][field]
            node = self.of(about)
            number, inside = numbers[field]
            fallback = about.get("default")
            if fallback is None and field in required and about.get("type") == "boolean":
                fallback = False
            # Go prints a struct or a field without `omitempty` even when it is empty. Names of local references are
            # the one exception among the defaults: they are left out when empty.
            if fallback == "" and field == "name" and field not in required:
                fallback = None
            rows.append("{%s, kSchemas + %d, %d, {%d, %d}, %s, %s}" % (
                quoted(field), node, number, *inside, str(field in required).lower(),
                quoted("" if fallback is None else json.dumps(fallback, separators=(",", ":")))))
        start = len(self.fields)
        self.fields += rows
        return self.row("Message", name, fact["proto"], "{kFields + %d, %d}" % (start, len(rows)),
                        retains=name in self.retained, atomic=fact.get("map-type") == "atomic")

    def numbers(self, name, fact):
        """Field → (number, the numbers of the nested messages it sits in, outermost first)."""
        found = {field: (about["n"], (0, 0)) for field, about in fact["fields"].items() if "n" in about}
        for nested in fact.get("inlined", {}).values():
            inner = nested["pt"]
            if inner in INLINED:
                inside = {field: (number, (0, 0)) for field, number in INLINED[inner].items()}
            else:
                inner = SAME_AS.get(inner, inner)
                target = self.by_message.get(inner, {}).get(name.rsplit(".", 1)[0])
                if target is None:
                    continue  # numbers of special forms, which no reader of ours needs
                inside = self.numbers(target, self.facts[target])
            for field, (number, deeper) in inside.items():
                if field in fact["fields"] and field not in found:
                    if deeper[1]:
                        stop("%s.%s is nested too deeply" % (name, field))
                    found[field] = (number, (nested["n"], deeper[0]))
        for field in fact["fields"]:
            if field not in found:
                exempt = field in ("apiVersion", "kind") or "JSONSchemaProps" in name
                if not exempt:
                    stop("%s.%s has no protobuf number" % (name, field))
                found[field] = (0, (0, 0))
        return found


def parts_of(gvk):
    version, kind = gvk.rsplit("/", 1)
    group, _, version = version.rpartition("/")
    return group, version, kind


def verb_bits(verbs):
    bits = 0
    for verb in verbs:
        if verb not in VERBS:
            stop("an unknown verb: %s" % verb)
        bits |= 1 << VERBS.index(verb)
    return "{%d}" % bits


class Pool:
    """An array that rows refer to by spans."""

    def __init__(self, name):
        self.name, self.rows = name, []

    def span(self, rows):
        if not rows:
            return "{}"
        self.rows += rows
        return "{%s + %d, %d}" % (self.name, len(self.rows) - len(rows), len(rows))

    def print(self, out, kind):
        out.append("constinit const %s %s[] = {\n%s};\n" % (kind, self.name, "".join("    %s,\n" % r for r in self.rows)))


def main(schema_file, kinds_file, out_file):
    with open(schema_file) as file:
        schemas = json.load(file)["schemas"]
    with open(kinds_file) as file:
        kinds = json.load(file)["kinds"]
    tables = Tables(schemas)
    by_gvk = {}
    for name in sorted(schemas):
        index = tables.schema(name)
        for gvk in schemas[name].get("gvk", []):
            by_gvk[parts_of(gvk)] = index

    texts, columns, subresources = Pool("kTexts"), Pool("kColumns"), Pool("kSubresources")
    kind_rows = []
    for kind in sorted(kinds, key=lambda k: (k["group"], k["plural"], not k["preferredVersion"], k["version"])):
        identity = (kind["group"], kind["version"], kind["kind"])
        if identity not in by_gvk:
            stop("no schema for %s %s/%s" % (kind["kind"], kind["group"], kind["version"]))
        subs = []
        for sub in kind["subresources"]:
            group, version = sub["group"], sub["version"]
            if not version:
                group, version = kind["group"], kind["version"]
            subs.append("{%s, %s, %s, %s, %s}" % (quoted(sub["name"]), quoted(group), quoted(version),
                                                  quoted(sub["kind"]), verb_bits(sub["verbs"])))
        cells = ["{%s, %s, %s, %s, %d}" % (quoted(c["name"]), quoted(c["type"]), quoted(c["format"]),
                                           quoted(c.get("description", "")), c["priority"])
                 for c in kind.get("tableColumns", [])]
        # `spec.host (alias of spec.nodeName)` and `regarding.*` are notes for people.
        selectors = sorted(s.split(" ")[0] for s in kind.get("fieldSelectors", []) if not s.endswith("*"))
        kind_rows.append("{%s}" % ", ".join([
            quoted(kind["group"]), quoted(kind["version"]), quoted(kind["kind"]), quoted(kind["plural"]),
            quoted(kind["singular"]), quoted(kind["protobufMessage"]), texts.span([quoted(t) for t in kind["shortNames"]]),
            texts.span([quoted(t) for t in kind["categories"]]), columns.span(cells), subresources.span(subs),
            texts.span([quoted(t) for t in selectors]), "kSchemas + %d" % by_gvk[identity], verb_bits(kind["verbs"]),
            str(kind["namespaced"]).lower(), str(kind["preferredVersion"]).lower()]))

    out = ["// SPDX-License-Identifier: Apache-2.0\n"
           "// Made by tools/kubernetes_tables.py from docs/spec/kubernetes-{schema,kinds}.json; not to be edited.\n"
           '#include "cluster/detail/tables.h"\n\n'
           "namespace rhizome::cluster::detail {\nnamespace {\n\nextern const Schema kSchemas[%d];\n" % len(tables.rows)]
    keys = Pool("kKeys")
    keys.rows = [quoted(key) for key in tables.keys]
    fields = Pool("kFields")
    fields.rows = tables.fields
    nodes = Pool("kSchemas")
    nodes.rows = tables.rows
    named = Pool("kKindSchemas")
    named.rows = ["{%s, %s, %s, kSchemas + %d}" % (*map(quoted, gvk), by_gvk[gvk]) for gvk in sorted(by_gvk)]
    rows = Pool("kKinds")
    rows.rows = kind_rows
    messages = Pool("kSchemaNames")
    messages.rows = ["{%s, kSchemas + %d}" % (quoted(name), tables.by_key[name]) for name in sorted(schemas)]
    for pool, kind in ((keys, "std::string_view"), (texts, "std::string_view"), (fields, "Field"), (nodes, "Schema"),
                       (named, "KindSchema"), (messages, "NamedSchema"), (columns, "Column"),
                       (subresources, "Subresource"), (rows, "KindRow")):
        pool.print(out, kind)
    out.append("}  // namespace\n\n"
               "std::span<const KindSchema> kind_schemas() { return kKindSchemas; }\n"
               "std::span<const NamedSchema> named_schemas() { return kSchemaNames; }\n"
               "std::span<const KindRow> kind_rows() { return kKinds; }\n\n"
               "}  // namespace rhizome::cluster::detail\n")
    with open(out_file, "w") as file:
        file.write("\n".join(out))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        stop("usage: kubernetes_tables.py SCHEMA_JSON KINDS_JSON OUT_CPP")
    main(*sys.argv[1:])
