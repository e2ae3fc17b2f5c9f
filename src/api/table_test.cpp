// SPDX-License-Identifier: Apache-2.0
#include "api/table.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/read_json.h"

namespace rhizome::api {
namespace {

using cluster::Kind;
using cluster::Kinds;

using test::read;
const Kinds& kinds() {
    static const Kinds kKinds;
    return kKinds;
}
const Time kNow = from_rfc3339("2026-11-16T18:00:00Z").value();
constexpr std::string_view kMeta =
    R"("metadata":{"name":"x","namespace":"d","creationTimestamp":"2026-11-16T17:57:49Z"})";

TEST(Table, PrintsAgesAsKubernetes) {
    const struct {
        std::int64_t seconds;
        std::string_view text;
    } rows[] = {{-5, "<invalid>"},
                {-1, "0s"},
                {0, "0s"},
                {119, "119s"},
                {120, "2m"},
                {131, "2m11s"},
                {599, "9m59s"},
                {600, "10m"},
                {10'799, "179m"},
                {10'800, "3h"},
                {11'100, "3h5m"},
                {28'800, "8h"},
                {172'799, "47h"},
                {172'800, "2d"},
                {176'400, "2d1h"},
                {691'200, "8d"},
                {86'400 * 729, "729d"},
                {86'400 * 730, "2y"},
                {86'400 * 731, "2y1d"},
                {86'400LL * 2920, "8y"}};
    for (const auto& row : rows) EXPECT_EQ(human_duration(seconds{row.seconds}), row.text) << row.seconds;
}

TEST(Table, OfAScaleHasWhatIsWantedAndWhatIs) {
    EXPECT_EQ(json::print(table_cells(read(R"({"metadata":{"name":"web","creationTimestamp":"2026-11-16T17:59:00Z"},
        "spec":{"replicas":3},"status":{"replicas":1}})"),
                                      scale_kind(), kNow)),
              R"(["web",3,1,"60s"])");
    EXPECT_EQ(table_cells(read("{}"), scale_kind(), kNow).size(), table_columns(scale_kind()).size());
}

/// Whatever an object is, every listable kind prints one cell a column.
TEST(Table, HasACellForEveryColumn) {
    for (const auto& kind : kinds().all()) {
        if (!kind->verbs.contains(cluster::Verb::List)) continue;
        for (const char* odd : {"{}", "null", "[]", R"({"metadata":7,"spec":[],"status":"x"})",
                                R"({"spec":{"containers":7,"ports":[7],"rules":[null],"metrics":[{}]},"subsets":[1]})"})
            EXPECT_EQ(table_cells(read(odd), *kind, kNow).size(), kind->columns.size()) << kind->kind << ' ' << odd;
        EXPECT_EQ(table_columns(*kind).size(), kind->columns.size());
    }
}

TEST(Table, PrintsTheCellsOfKinds) {
    const struct {
        std::string_view group;
        std::string_view plural;
        std::string_view rest;  // besides metadata
        std::string_view cells;
    } rows[] = {
        {"", "pods",
         R"("spec":{"nodeName":"n1","containers":[{"name":"a"},{"name":"b"}]},"status":{"phase":"Running","podIP":"10.0.0.1",
            "containerStatuses":[{"ready":true,"restartCount":2,"state":{"running":{}},"lastState":{"terminated":{"finishedAt":"2026-11-16T17:59:00Z"}}},
            {"ready":false,"restartCount":0,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]})",
         R"x(["x","1/2","CrashLoopBackOff","2 (60s ago)","2m11s","10.0.0.1","n1","<none>","<none>"])x"},
        {"", "pods", R"("spec":{"containers":[{}]},"status":{"phase":"Pending"})",
         R"(["x","0/1","Pending","0","2m11s","<none>","<none>","<none>","<none>"])"},
        {"", "pods",
         R"("spec":{"containers":[{}],"initContainers":[{},{}]},"status":{"phase":"Pending","initContainerStatuses":[
            {"state":{"terminated":{"exitCode":0}}},{"state":{"waiting":{"reason":"PodInitializing"}}}]})",
         R"(["x","0/1","Init:1/2","0","2m11s","<none>","<none>","<none>","<none>"])"},
        {"", "pods",
         R"("spec":{"containers":[{}]},"status":{"phase":"Failed","containerStatuses":[{"state":{"terminated":{"exitCode":3}}}]})",
         R"(["x","0/1","ExitCode:3","0","2m11s","<none>","<none>","<none>","<none>"])"},
        {"apps", "deployments",
         R"("spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"template":{"spec":{"containers":[{"name":"a","image":"i:1"},{"name":"b","image":"j"}]}}},
            "status":{"readyReplicas":2,"updatedReplicas":3,"availableReplicas":2})",
         R"(["x","2/3",3,2,"2m11s","a,b","i:1,j","app=web"])"},
        {"apps", "daemonsets", R"("spec":{"selector":{}},"status":{"desiredNumberScheduled":1})",
         R"(["x",1,0,0,0,0,"<none>","2m11s","","","<none>"])"},
        {"batch", "jobs",
         R"("spec":{"completions":2,"selector":{}},"status":{"succeeded":1,"startTime":"2026-11-16T17:59:55Z"})",
         R"(["x","Running","1/2","5s","2m11s","","","<none>"])"},
        {"batch", "cronjobs",
         R"("spec":{"schedule":"* * * * *","suspend":false,"jobTemplate":{}},"status":{"active":[{}]})",
         R"(["x","* * * * *","<none>","False",1,"<none>","2m11s","","","<none>"])"},
        {"", "services",
         R"("spec":{"type":"NodePort","clusterIP":"10.1.0.1","ports":[{"port":80,"nodePort":30080,"protocol":"TCP"},{"port":53,"protocol":"UDP"}],"selector":{"b":"2","a":"1"}})",
         R"(["x","NodePort","10.1.0.1","<none>","80:30080/TCP,53/UDP","2m11s","a=1,b=2"])"},
        {"", "services", R"("spec":{"type":"LoadBalancer","clusterIP":"10.1.0.1"},"status":{"loadBalancer":{}})",
         R"(["x","LoadBalancer","10.1.0.1","<pending>","<none>","2m11s","<none>"])"},
        {"", "nodes",
         R"("spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}],"nodeInfo":{"kubeletVersion":"v1.32.0"},"addresses":[{"type":"InternalIP","address":"10.0.0.1"}]})",
         R"(["x","Ready,SchedulingDisabled","<none>","2m11s","v1.32.0","10.0.0.1","<none>","<unknown>","<unknown>","<unknown>"])"},
        {"", "configmaps", R"("data":{"a":"1"},"binaryData":{"b":"AA=="})", R"(["x",2,"2m11s"])"},
        {"", "secrets", R"("type":"Opaque","data":{"a":"AA=="})", R"(["x","Opaque",1,"2m11s"])"},
        {"", "namespaces", R"("status":{"phase":"Active"})", R"(["x","Active","2m11s"])"},
        {"networking.k8s.io", "ingresses",
         R"("spec":{"ingressClassName":"n","rules":[{"host":"a"},{"host":"b"},{"host":"c"},{"host":"d"}],"tls":[{}]})",
         R"(["x","n","a,b,c + 1 more...","","80, 443","2m11s"])"},
        {"", "persistentvolumeclaims",
         R"("spec":{"volumeName":"v","storageClassName":"s","volumeMode":"Filesystem"},"status":{"phase":"Bound","capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce","ReadOnlyMany"]})",
         R"(["x","Bound","v","1Gi","RWO,ROX","s","<unset>","2m11s","Filesystem"])"},
        {"rbac.authorization.k8s.io", "rolebindings",
         R"("roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"u"},{"kind":"ServiceAccount","namespace":"n","name":"s"}])",
         R"(["x","Role/r","2m11s","u","","n/s"])"},
        {"rbac.authorization.k8s.io", "roles", "\"rules\":[]", R"(["x","2026-11-16T17:57:49Z"])"},
        {"policy", "poddisruptionbudgets", R"("spec":{"minAvailable":"50%"})", R"(["x","50%","N/A",0,"2m11s"])"},
        {"", "resourcequotas",
         R"("spec":{"hard":{"pods":"5"}},"status":{"hard":{"pods":"5","limits.cpu":"2"},"used":{"pods":"1"}})",
         R"(["x","2m11s","pods: 1/5","limits.cpu: 0/2"])"},
        {"", "events",
         R"("type":"Normal","reason":"Started","message":"it runs\n","involvedObject":{"kind":"Pod","name":"p"},"count":3,"firstTimestamp":"2026-11-16T17:58:00Z","lastTimestamp":"2026-11-16T17:59:50Z","source":{"component":"agent","host":"n1"})",
         R"x(["10s (x3 over 2m)","Normal","Started","pod/p","","agent, n1","it runs","2m",3,"x"])x"},
        {"certificates.k8s.io", "certificatesigningrequests", R"("spec":{"signerName":"s","username":"u"})",
         R"(["x","2m11s","s","u","<none>","Pending"])"},
        {"storage.k8s.io", "storageclasses", R"("provisioner":"p")", R"(["x","p","Delete","Immediate",false,"2m11s"])"},
    };
    for (const auto& row : rows) {
        const Kind* kind = kinds().find(row.group, "v1", row.plural);
        ASSERT_NE(kind, nullptr) << row.plural;
        const json::Value object = read(fmt::format("{{{},{}}}", kMeta, row.rest));
        EXPECT_EQ(json::print(table_cells(object, *kind, kNow)), row.cells) << row.plural;
    }
    const Kind* autoscalers = kinds().find("autoscaling", "v2", "horizontalpodautoscalers");
    const json::Value autoscaler = read(fmt::format(
        R"({{{},"spec":{{"scaleTargetRef":{{"kind":"Deployment","name":"web"}},"minReplicas":1,"maxReplicas":4,"metrics":[{{"type":"Resource","resource":{{"name":"cpu","target":{{"averageUtilization":80}}}}}}]}}}})",
        kMeta));
    EXPECT_EQ(json::print(table_cells(autoscaler, *autoscalers, kNow)),
              R"(["x","Deployment/web","cpu: <unknown>/80%","1",4,0,"2m11s"])");
}

TEST(Table, PrintsCustomKindsByTheirPaths) {
    Kinds custom;
    ASSERT_TRUE(custom.add(
        {.group = "e.com",
         .version = "v1",
         .kind = "W",
         .plural = "ws",
         .singular = "w",
         .columns = {
             {.name = "Size", .type = "integer", .json_path = ".spec.size"},
             {.name = "Ready", .type = "string", .json_path = R"(.status.conditions[?(@.type=="Ready")].status)"},
             {.name = "First", .type = "string", .json_path = ".spec.list[0]"},
             {.name = "Noted", .type = "string", .json_path = R"(.metadata.annotations.a\.b)"},
             {.name = "Nothing", .type = "string", .json_path = ".nothing[*].x"},
             {.name = "Age", .type = "date", .json_path = ".metadata.creationTimestamp"}}}));
    const Kind& kind = *custom.find("e.com", "v1", "ws");
    const json::Value object = read(
        R"({"metadata":{"name":"x","annotations":{"a.b":"n"},"creationTimestamp":"2026-11-16T17:57:49Z"},
            "spec":{"size":3,"list":["f"]},"status":{"conditions":[{"type":"Other","status":"a"},{"type":"Ready","status":"True"}]}})");
    EXPECT_EQ(json::print(table_cells(object, kind, kNow)), R"(["x",3,"True","f","n","","2m11s"])");
}

TEST(Table, CarriesWhatWasAskedFor) {
    const Kind& kind = *kinds().find("", "v1", "configmaps");
    const json::Value object = read(R"({"kind":"ConfigMap","metadata":{"name":"x"},"data":{}})");
    EXPECT_EQ(
        json::print(table_row(object, kind, RowObject::Metadata, kNow)),
        R"({"cells":["x",0,"<unknown>"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"x"}}})");
    EXPECT_EQ(*table_row(object, kind, RowObject::Object, kNow).find("object"), object);
    EXPECT_TRUE(table_row(object, kind, RowObject::None, kNow).find("object")->is_null());
    EXPECT_EQ(parse_row_object(""), RowObject::Metadata);
    EXPECT_FALSE(parse_row_object("All"));
    const json::Value table = make_table(kind, {}, read(R"({"resourceVersion":"7"})"), false);
    EXPECT_EQ(
        json::print(table),
        R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"columnDefinitions":null,"rows":[]})");
}

}  // namespace
}  // namespace rhizome::api
