// SPDX-License-Identifier: Apache-2.0
#include "api/status.h"

#include <gtest/gtest.h>

namespace rhizome::api {
namespace {

using cluster::Where;

const Kind& deployments() {
    static const cluster::Kinds kKinds;
    return *kKinds.find("apps", "v1", "deployments");
}

TEST(Status, SaysWhatKubernetesSays) {
    const struct {
        Status status;
        unsigned code;
        std::string_view reason;
        std::string_view message;
    } rows[] = {
        {not_found(deployments(), "web"), 404, "NotFound", "deployments.apps \"web\" not found"},
        {already_exists(deployments(), "web"), 409, "AlreadyExists", "deployments.apps \"web\" already exists"},
        {conflict(deployments(), "web"), 409, "Conflict",
         "Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your "
         "changes to the latest version and try again"},
        {forbidden(deployments(), "web", "no key unlocks it"), 403, "Forbidden",
         "deployments.apps \"web\" is forbidden: no key unlocks it"},
        {no_such_path(), 404, "NotFound", "the server could not find the requested resource"},
        {method_not_allowed(), 405, "MethodNotAllowed",
         "the server does not allow this method on the requested resource"},
        {expired("too old resource version: 1 (5)"), 410, "Expired", "too old resource version: 1 (5)"},
        {from_error({ErrorKind::Invalid, "bad"}), 400, "BadRequest", "bad"},
        {from_error({ErrorKind::Denied, "no"}), 403, "Forbidden", "no"},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(row.status.code, row.code) << row.message;
        EXPECT_EQ(row.status.reason, row.reason);
        EXPECT_EQ(row.status.message, row.message);
        const json::Value shown = row.status.to_json();
        EXPECT_EQ(shown.text_at({"status"}), "Failure");
        EXPECT_EQ(shown.find("code")->if_int64(), row.code);
    }
}

TEST(Status, ListsTheCausesOfARefusal) {
    const Status status = invalid(deployments(), "web",
                                  {cluster::required(Where("spec.selector")),
                                   cluster::invalid(Where("spec.replicas"), -1, "must be greater than or equal to 0")});
    EXPECT_EQ(
        json::print(status.to_json()),
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)"
        R"("Deployment.apps \"web\" is invalid: [spec.selector: Required value, spec.replicas: Invalid value: -1: )"
        R"(must be greater than or equal to 0]","reason":"Invalid","details":{"name":"web","group":"apps","kind":)"
        R"("Deployment","causes":[{"reason":"FieldValueRequired","message":"Required value","field":)"
        R"("spec.selector"},{"reason":"FieldValueInvalid","message":"Invalid value: -1: must be greater than or )"
        R"(equal to 0","field":"spec.replicas"}]},"code":422})");
}

TEST(Status, SaysWhatWasDeleted) {
    EXPECT_EQ(json::print(deleted(deployments(), "web", "u").to_json()),
              R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"web","group":)"
              R"("apps","kind":"deployments","uid":"u"}})");
}

}  // namespace
}  // namespace rhizome::api
