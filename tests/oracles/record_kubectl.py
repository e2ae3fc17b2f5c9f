#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the protobuf bodies that the kubectl on the PATH sends, beside its own JSON of the same objects.

    record_kubectl.py > tests/vectors/api/protobuf.json

Starts a small HTTP server on loopback that says just enough of discovery, runs each command once against it and once
with --dry-run=client -o json, and prints [{"command", "path", "protobuf" (hex), "json"}]. What kubectl cannot print by
itself (reviews, tokens) has no "json" here; the expected document stands in EXPECTED.
"""
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading

DRY = ["--dry-run=client", "-o", "json"]
COMMANDS = [  # (arguments, whether kubectl can print the object itself)
    (["create", "namespace", "n1"], True),
    (["create", "configmap", "c1", "--from-literal=a=1", "--from-literal=b=zwei\nü"], True),
    (["create", "secret", "generic", "s1", "--from-literal=a=geheim"], True),
    (["create", "secret", "docker-registry", "s2", "--docker-server=r", "--docker-username=u", "--docker-password=p"], True),
    (["create", "service", "clusterip", "v1", "--tcp=80:8080", "--tcp=443:web"], True),
    (["create", "service", "nodeport", "v2", "--tcp=80:8080", "--node-port=30080"], True),
    (["create", "service", "externalname", "v3", "--external-name=example.com"], True),
    (["create", "serviceaccount", "a1"], True),
    (["create", "quota", "q1", "--hard=cpu=1.5,memory=1Gi,pods=5", "--scopes=BestEffort"], True),
    (["create", "deployment", "d1", "--image=nginx:1", "--replicas=0", "--port=80"], True),
    (["create", "deployment", "d2", "--image=busybox", "--image=other", "--replicas=3"], True),
    (["create", "job", "j1", "--image=busybox", "--", "sh", "-c", "date"], True),
    (["create", "cronjob", "k1", "--image=busybox", "--schedule=*/5 * * * *", "--", "date"], True),
    (["create", "ingress", "i1", "--class=x", "--rule=a.example.com/p*=svc:80,tls=t", "--rule=b.example.com/=svc:web",
      "--default-backend=svc:81", "--annotation=a.b/c=d"], True),
    (["create", "pdb", "b1", "--selector=app=web", "--min-available=50%"], True),
    (["create", "pdb", "b2", "--selector=app=web", "--max-unavailable=1"], True),
    (["create", "priorityclass", "p1", "--value=1000", "--description=high", "--preemption-policy=Never"], True),
    (["create", "role", "r1", "--verb=get,list", "--resource=pods,pods/log", "--resource-name=x"], True),
    (["create", "rolebinding", "rb1", "--role=r1", "--user=u", "--serviceaccount=default:a1"], True),
    (["create", "clusterrole", "cr1", "--verb=get", "--non-resource-url=/metrics"], True),
    (["create", "clusterrole", "cr2", "--aggregation-rule=a.b/c=true"], True),
    (["create", "clusterrolebinding", "crb1", "--clusterrole=cr1", "--group=g"], True),
    (["autoscale", "deployment", "web", "--min=1", "--max=4", "--cpu-percent=80"], True),
    (["create", "token", "a1", "--audience=x", "--duration=600s"], False),
    (["auth", "can-i", "create", "pods"], False),
    (["auth", "can-i", "--list"], False),
    (["auth", "whoami"], False),
    (["certificate", "approve", "joe"], False),
]
EXPECTED = {  # as Go prints them: fields without omitempty stand there when empty
    "create token a1": {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1",
                        "spec": {"audiences": ["x"], "expirationSeconds": 600},
                        "status": {"token": "", "expirationTimestamp": None}},
    "auth can-i create pods": {"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
                               "spec": {"resourceAttributes": {"namespace": "default", "verb": "create",
                                                               "resource": "pods"}},
                               "status": {"allowed": False}},
    "auth can-i --list": {"kind": "SelfSubjectRulesReview", "apiVersion": "authorization.k8s.io/v1",
                          "spec": {"namespace": "default"},
                          "status": {"resourceRules": None, "nonResourceRules": None, "incomplete": False}},
    "auth whoami": {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"},
}
GROUPS = {
    "v1": [("pods", "Pod"), ("namespaces", "Namespace"), ("serviceaccounts", "ServiceAccount")],
    "apps/v1": [("deployments", "Deployment"), ("deployments/scale", "Scale")],
    "autoscaling/v1": [("horizontalpodautoscalers", "HorizontalPodAutoscaler")],
    "rbac.authorization.k8s.io/v1": [("roles", "Role")],
    "certificates.k8s.io/v1": [("certificatesigningrequests", "CertificateSigningRequest")],
}
DEPLOYMENT = {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web", "namespace": "default"},
              "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}},
                       "template": {"metadata": {"labels": {"app": "web"}},
                                    "spec": {"containers": [{"name": "a", "image": "b"}]}}}}
SIGNING_REQUEST = {"kind": "CertificateSigningRequest", "apiVersion": "certificates.k8s.io/v1",
                   "metadata": {"name": "joe", "uid": "u1", "creationTimestamp": "2026-01-02T03:04:05Z"},
                   "spec": {"request": "YWJj", "signerName": "example.com/x", "usages": ["client auth"],
                            "groups": ["g"], "username": "u", "extra": {"k": ["v", "w"]}}, "status": {}}


def answer(path):
    path = path.split("?")[0]
    if path == "/version":
        return {"major": "1", "minor": "32", "gitVersion": "v1.32.4"}
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
            {"name": g.split("/")[0], "versions": [{"groupVersion": g, "version": "v1"}],
             "preferredVersion": {"groupVersion": g, "version": "v1"}} for g in GROUPS if "/" in g]}
    for group, kinds in GROUPS.items():
        if path in ("/api/" + group, "/apis/" + group):
            return {"kind": "APIResourceList", "groupVersion": group, "resources": [
                {"name": plural, "singularName": "", "namespaced": kind not in ("Namespace", "CertificateSigningRequest"),
                 "kind": kind, "verbs": ["get", "list", "create", "update"]} for plural, kind in kinds]}
    if path.endswith("/deployments/web"):
        return DEPLOYMENT
    if path.endswith("/certificatesigningrequests/joe"):
        return SIGNING_REQUEST
    return None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    recorded = []

    def log_message(self, *_):
        pass

    def reply(self, code, value):
        body = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        value = answer(self.path)
        if value is None:
            self.reply(404, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound",
                             "message": "not found", "code": 404})
        else:
            self.reply(200, value)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self.headers.get("Content-Type", "").startswith("application/vnd.kubernetes.protobuf"):
            Handler.recorded.append((self.path.split("?")[0], body))
        # The envelope's first field holds version and kind, each short enough for one byte of length.
        version_at = 4 + 2 + 2
        version_size = body[version_at - 1]
        kind_at = version_at + version_size + 2
        self.reply(201, {"apiVersion": body[version_at:version_at + version_size].decode(),
                         "kind": body[kind_at:kind_at + body[kind_at - 1]].decode(),
                         "metadata": {"name": "x", "namespace": "default"}, "status": {"allowed": True, "token": "t"}})

    do_PUT = do_POST


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    out = []
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": os.environ["PATH"], "HOME": home}
        address = ["--server", "http://127.0.0.1:%d" % server.server_port]
        for arguments, prints in COMMANDS:
            # What follows "--" is the container's command: options go before it.
            cut = arguments.index("--") if "--" in arguments else len(arguments)
            Handler.recorded.clear()
            run = subprocess.run(["kubectl"] + address + arguments, env=environment,
                                 capture_output=True, timeout=60)
            if not Handler.recorded:
                sys.exit("%s sent no protobuf body: %s" % (arguments, run.stderr.decode()))
            path, body = Handler.recorded[0]
            entry = {"command": " ".join(arguments), "path": path, "protobuf": body.hex()}
            if prints:
                shown = subprocess.run(["kubectl"] + address + arguments[:cut] + DRY + arguments[cut:], env=environment,
                                       capture_output=True, timeout=60)
                entry["json"] = json.loads(shown.stdout)
            else:
                for prefix, value in EXPECTED.items():
                    if entry["command"].startswith(prefix):
                        entry["json"] = value
            out.append(entry)
    json.dump(out, sys.stdout, indent=1, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
