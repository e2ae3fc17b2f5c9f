// SPDX-License-Identifier: Apache-2.0
#include "api/audit.h"

#include <gtest/gtest.h>

#include "api/request_metrics.h"
#include "base/json.h"

namespace rhizome::api {
namespace {

AuditRecord sample_record() {
    AuditRecord record;
    record.id = "3f1c";
    record.uri = "/api/v1/namespaces/web/secrets?fieldManager=kubectl";
    record.method = "POST";
    record.path = parse_resource_path("/api/v1/namespaces/web/secrets");
    record.verb = Verb::Create;
    record.user = User{.name = "bob", .groups = {"dev", "system:authenticated"}};
    record.source = "10.0.0.7";
    record.agent = "kubectl/v1.32.0";
    record.code = 201;
    record.txid = "ab12";
    record.received = Time::from_unix_millis(1'790'000'000'123);
    record.at = Time::from_unix_millis(1'790'000'000'456);
    return record;
}

TEST(Audit, ALineIsAnEventOfKubernetes) {
    EXPECT_EQ(
        audit_line(sample_record()),
        R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"3f1c","stage":"ResponseComplete",)"
        R"("requestURI":"/api/v1/namespaces/web/secrets?fieldManager=kubectl","verb":"create",)"
        R"("user":{"username":"bob","groups":["dev","system:authenticated"]},"sourceIPs":["10.0.0.7"],)"
        R"("userAgent":"kubectl/v1.32.0","objectRef":{"resource":"secrets","namespace":"web","apiVersion":"v1"},)"
        R"("responseStatus":{"metadata":{},"code":201},"requestReceivedTimestamp":"2026-09-21T14:13:20.123000Z",)"
        R"("stageTimestamp":"2026-09-21T14:13:20.456000Z","annotations":{"rhizome.dev/txid":"ab12"}})"
        "\n");
}

TEST(Audit, SaysWhoSpokeForWhomAndWhatWasRefused) {
    AuditRecord record = sample_record();
    record.impersonated = User{.name = "eve"};
    record.code = 403;
    record.reason = "Forbidden";
    record.txid.clear();
    const auto line = json::parse(audit_line(record));
    ASSERT_TRUE(line);
    EXPECT_EQ(line->text_at({"impersonatedUser", "username"}), "eve");
    EXPECT_EQ(line->text_at({"responseStatus", "reason"}), "Forbidden");
    EXPECT_EQ(line->find("annotations"), nullptr);
    // A path that is no resource, asked for by nobody whom the node knows.
    AuditRecord open;
    open.uri = "/healthz";
    open.method = "GET";
    const auto other = json::parse(audit_line(open));
    ASSERT_TRUE(other);
    EXPECT_EQ(other->text_at({"verb"}), "get");
    EXPECT_EQ(other->text_at({"user", "username"}), "system:anonymous");
    EXPECT_EQ(other->find("objectRef"), nullptr);
}

TEST(Audit, ALineIsBoundedAndOneLineWhateverWasSent) {
    AuditRecord record = sample_record();
    constexpr std::size_t kMuch = 1u << 20;
    record.uri.assign(kMuch, 'x');
    record.agent.assign(kMuch, '\n');
    record.agent.insert(0, "\xff\xfe");
    record.user->name.assign(kMuch, '"');
    record.user->groups.assign(10'000, std::string(10'000, 'g'));
    record.path->name.assign(kMuch, 'n');
    const std::string line = audit_line(record);
    EXPECT_LT(line.size(), 64u << 10);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_TRUE(json::parse(line));
}

RequestLabels get_pod() { return labels_of(Verb::Get, *parse_resource_path("/api/v1/namespaces/a/pods/p"), "", false); }

TEST(RequestMetrics, CountsUnderTheNamesOfKubernetes) {
    RequestMetrics metrics;
    for (const int micros : {3'000, 5'000, 5'001, 70'000'000}) {
        metrics.begin(get_pod());
        metrics.end(get_pod(), 200, microseconds{micros});
    }
    const RequestLabels apply = labels_of(Verb::Patch, *parse_resource_path("/apis/apps/v1/namespaces/a/deployments/d"),
                                          "application/apply-patch+yaml", true);
    metrics.begin(apply);
    const RequestLabels watch = labels_of(Verb::Watch, *parse_resource_path("/api/v1/pods"), "", false);
    metrics.begin(watch);
    metrics.audited(true);
    const std::string text = metrics.text();
    const auto has = [&](const std::string& line) {
        EXPECT_NE(text.find(line + "\n"), std::string::npos) << line << "\n" << text;
    };
    const std::string labels =
        R"(component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="",verb="GET",version="v1")";
    has(R"(apiserver_request_total{code="200",)" + labels + "} 4");
    has("apiserver_request_duration_seconds_bucket{" + labels + R"(,le="0.005"} 2)");
    has("apiserver_request_duration_seconds_bucket{" + labels + R"(,le="0.025"} 3)");
    has("apiserver_request_duration_seconds_bucket{" + labels + R"(,le="60"} 3)");
    has("apiserver_request_duration_seconds_bucket{" + labels + R"(,le="+Inf"} 4)");
    has("apiserver_request_duration_seconds_sum{" + labels + "} 70.013001");
    has("apiserver_request_duration_seconds_count{" + labels + "} 4");
    has(R"(apiserver_current_inflight_requests{request_kind="mutating"} 1)");
    has(R"(apiserver_current_inflight_requests{request_kind="readOnly"} 0)");
    has(R"(apiserver_longrunning_requests{component="apiserver",dry_run="",group="",resource="pods",scope="cluster",subresource="",verb="WATCH",version="v1"} 1)");
    has("apiserver_audit_event_total 1");
    metrics.end(apply, 409, microseconds{10});
    metrics.end(watch, 200, microseconds{10});
    const std::string after = metrics.text();
    EXPECT_NE(
        after.find(R"(dry_run="All",group="apps",resource="deployments",scope="resource",subresource="",verb="APPLY")"),
        std::string::npos);
    EXPECT_NE(after.find(R"(request_kind="mutating"} 0)"), std::string::npos);
    EXPECT_NE(after.find(R"(verb="WATCH",version="v1"} 0)"), std::string::npos);
}

TEST(RequestMetrics, NobodyCanMakeThemGrow) {
    RequestMetrics metrics;
    for (int i = 0; i < 20'000; ++i) {
        RequestLabels labels = get_pod();
        labels.resource = std::to_string(i);
        metrics.begin(labels);
        metrics.end(labels, 404, microseconds{1});
    }
    RequestLabels odd = labels_of("NO\"SUCH\nMETHOD");
    metrics.begin(odd);
    metrics.end(odd, 405, microseconds{1});
    const std::string text = metrics.text();
    EXPECT_LT(text.size(), 16u << 20);
    EXPECT_EQ(text.find("NO\"SUCH"), std::string::npos);
    EXPECT_NE(text.find(R"(resource="",scope="",subresource="",verb="GET",version=""} 17)"), std::string::npos)
        << "what is too much is counted together";
}

}  // namespace
}  // namespace rhizome::api
