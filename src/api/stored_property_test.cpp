// SPDX-License-Identifier: Apache-2.0
// A stored document may hold anything beside its name: the ledger asks for no more. Whatever it is, every verb answers.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/call.h"
#include "api/patch.h"
#include "api/shown.h"
#include "api/testing.h"
#include "base/random.h"
#include "cluster/convert.h"
#include "cluster/decode.h"
#include "cluster/defaults.h"
#include "cluster/object.h"
#include "cluster/validate.h"
#include "support/seed.h"

namespace rhizome::api {
namespace {

using cluster::Schema;
using cluster::Shape;

/// Documents that mostly have the form of their schema, and here and there anything else.
class Scribe {
public:
    Scribe(Random& random, std::uint64_t wrong_in) : random_(random), wrong_in_(wrong_in) {}

    json::Value value(const Schema* schema, int depth) {
        if (schema == nullptr || random_.chance(1, wrong_in_)) return anything(depth);
        switch (schema->shape) {
            case Shape::Boolean: return random_.chance(1, 2);
            case Shape::Integer32:
            case Shape::Integer64:
            case Shape::Number: return static_cast<std::int64_t>(random_.below(5)) - 1;
            case Shape::Message: return message(*schema, depth);
            case Shape::Map: {
                json::Object out;
                for (std::uint64_t i = random_.below(3); i > 0; --i) out.set(word(), value(schema->element, depth - 1));
                return out;
            }
            case Shape::List: {
                json::Array out;
                for (std::uint64_t i = random_.below(3); i > 0 && depth > 0; --i)
                    out.push_back(value(schema->element, depth - 1));
                return out;
            }
            case Shape::Any: return anything(depth);
            case Shape::Time:
            case Shape::MicroTime: return "2026-01-01T00:00:00Z";
            case Shape::Bytes: return "AAAA";
            case Shape::Quantity: return "1";
            default: return word();
        }
    }

private:
    json::Value message(const Schema& schema, int depth) {
        json::Object out;
        if (depth <= 0) return out;
        // A few of many fields, so that what is deep is reached too.
        for (const cluster::Field& field : schema.fields)
            if (field.required || random_.chance(2, 3 + schema.fields.size() / 4))
                out.set(field.name, value(field.schema, depth - 1));
        return out;
    }
    json::Value anything(int depth) {
        switch (random_.below(depth <= 0 ? 6 : 9)) {
            case 0: return nullptr;
            case 1: return true;
            case 2: return static_cast<std::int64_t>(random_.next());
            case 3: return "";
            case 4: return word();
            case 5: return json::Array{};
            case 6: return json::Array{anything(depth - 1), word()};
            case 7: return json::Object{{word(), anything(depth - 1)}};
            default: return json::Object{};
        }
    }
    std::string word() {
        constexpr std::string_view kWords[] = {"web",           "name",      "a",          "x",
                                               "RollingUpdate", "ClientIP",  "containers", "labels",
                                               "status",        "Container", "app",        "1"};
        return std::string{kWords[random_.below(std::size(kWords))]};
    }

    Random& random_;
    std::uint64_t wrong_in_;
};

class StoredProperty : public ::testing::Test {
protected:
    Call call(const cluster::Kind& kind, Verb verb, std::string_view part, std::string body, std::string_view media) {
        Call made{.verb = verb, .body = std::move(body), .media = std::string{media}};
        made.kind = &kind;
        made.path = {.group = std::string{kind.group},
                     .version = std::string{kind.version},
                     .name_space = kind.namespaced ? "web" : "",
                     .resource = std::string{kind.plural},
                     .name = "a",
                     .subresource = std::string{part}};
        made.query = Query{{{"fieldManager", "m"}, {"force", "true"}, {"fieldValidation", "Ignore"}}};
        if (verb != Verb::Patch || media != "application/apply-patch+yaml")
            made.query = Query{{{"fieldManager", "m"}, {"fieldValidation", "Ignore"}}};
        made.now = Time::from_unix_seconds(1'800'000'000);
        return made;
    }

    Standing stored(const cluster::Kind& kind, json::Value document) {
        document["apiVersion"] = kind.api_version();
        document["kind"] = kind.kind;
        json::Value& metadata = cluster::object_in(document, "metadata");
        metadata["name"] = "a";
        if (kind.namespaced)
            metadata["namespace"] = "web";
        else
            metadata.make_object().erase("namespace");
        const auto entry = world_.entry_of(json::print(document));
        return {.document = entry, .report = entry, .revision = 9};
    }

    void read(const cluster::Kind& kind, const Standing& standing) {
        for (const Form form : {Form::Object, Form::Table, Form::Metadata}) {
            Call get = call(kind, Verb::Get, "", "", "");
            get.form = form;
            EXPECT_EQ(get_verb(get, standing, heard_of_).code, 200u);
            if (kind.find_subresource("scale") == nullptr) continue;
            get.path.subresource = "scale";
            EXPECT_EQ(get_verb(get, standing, heard_of_).code, 200u);
        }
    }

    /// A refusal is one that says why. True when the write is possible.
    static bool is_taken(const Planned& planned) {
        if (planned) return true;
        EXPECT_GE(planned.error().code, 400u);
        EXPECT_LT(planned.error().code, 500u) << planned.error().message;
        EXPECT_FALSE(planned.error().message.empty());
        return false;
    }

    void write(const cluster::Kind& kind, const Standing& standing, const json::Value& sent) {
        const Present present{.object = standing};
        const std::string body = json::print(sent);
        for (const std::string_view part : {"", "status"}) {
            if (!part.empty() && kind.find_subresource(part) == nullptr) continue;
            is_taken(update_verb(call(kind, Verb::Update, part, body, "application/json"), present, heard_of_));
            for (const std::string_view media :
                 {"application/merge-patch+json", "application/strategic-merge-patch+json",
                  "application/apply-patch+yaml"})
                is_taken(patch_verb(call(kind, Verb::Patch, part, body, media), present, heard_of_));
        }
        if (kind.find_subresource("scale") != nullptr)
            is_taken(scale_verb(call(kind, Verb::Update, "scale", R"({"spec":{"replicas":2}})", "application/json"),
                                present, heard_of_));
        for (const std::string_view policy : {"Foreground", "Orphan", "Background"}) {
            const std::string options = fmt::format(R"({{"propagationPolicy":"{}"}})", policy);
            const Planned gone =
                delete_verb(call(kind, Verb::Delete, "", options, "application/json"), present, heard_of_);
            // A namespace that ends already is told so.
            EXPECT_TRUE(is_taken(gone) || gone.error().code == 409) << gone.error().message;
        }
        if (kind.kind == "Namespace")
            is_taken(finalize_verb(call(kind, Verb::Update, "finalize", body, "application/json"), present, heard_of_));
        if (kind.kind != "Pod") return;
        is_taken(binding_verb(
            call(kind, Verb::Create, "binding", R"({"target":{"name":"n"},"metadata":{"labels":{"a":"b"}}})", ""),
            present, heard_of_));
        is_taken(ephemeral_verb(call(kind, Verb::Update, "ephemeralcontainers", body, "application/json"), present,
                                heard_of_));
    }

    const HeardOf heard_of_ = [](std::string_view) { return Heard{.is_member = true, .in_lease = true}; };
    testing::World world_;
};

TEST_F(StoredProperty, WhateverIsStoredEveryVerbAnswers) {
    Random random{test::seed_for(20261117)};
    for (const auto& kind : world_.kinds.all()) {
        if (kind->keeping == cluster::Keeping::Nowhere) continue;
        SCOPED_TRACE(kind->resource());
        for (int turn = 0; turn < 60; ++turn) {
            Scribe scribe{random, 6 + random.below(60)};
            json::Value document = scribe.value(kind->schema, 9);
            if (!document.is_object()) document = json::Object{};
            const Standing standing = stored(*kind, document);
            SCOPED_TRACE(standing.document->document());
            read(*kind, standing);
            for (const auto& other : world_.kinds.all())
                if (other->kind == kind->kind && cluster::kept_group(*other) == cluster::kept_group(*kind))
                    read(*other, standing);
            // Mostly something good is sent.
            json::Value sent = Scribe{random, random.chance(3, 4) ? 1u << 30 : 20}.value(kind->schema, 9);
            if (!sent.is_object()) sent = json::Object{};
            sent["apiVersion"] = kind->api_version();
            sent["kind"] = kind->kind;
            sent["metadata"] = json::Object{{"name", "a"}};
            write(*kind, standing, sent);
            // What judges and fills in takes what it is not made for, too.
            cluster::apply_defaults(document, *kind);
            (void)cluster::validate_update(document, document, *kind);
        }
    }
}

/// One document that a client may send, and its malformed self.
struct Mended {
    std::string_view group;
    std::string_view version;
    std::string_view plural;
    std::string_view malformed;
    std::string_view patch;  ///< a strategic one, that would be good for a good document
    std::string_view good;
};

TEST_F(StoredProperty, AMalformedDocumentCanBeReplacedOrDeletedAndNothingElse) {
    constexpr std::string_view kTemplate =
        R"("selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
           "spec":{"containers":[{"name":"web","image":"i"}]}})";
    const std::string deployment = fmt::format(R"({{"metadata":{{"name":"a"}},"spec":{{{}}}}})", kTemplate);
    const std::string_view pod = R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"web","image":"i"}]}})";
    const Mended rows[] = {
        {"apps", "v1", "deployments", R"({"spec":{"template":{"spec":{"containers":["web"]}}}})",
         R"({"spec":{"template":{"spec":{"containers":[{"name":"web"}]}}}})", deployment},
        {"apps", "v1", "deployments", R"({"spec":{"strategy":"x","selector":7}})", R"({"spec":{"replicas":2}})",
         deployment},
        {"apps", "v1", "deployments", R"({"spec":{},"status":"x"})", R"({"spec":{"replicas":2}})", deployment},
        {"apps", "v1", "deployments", R"({"spec":{},"status":{"conditions":"x"}})", R"({"spec":{"replicas":2}})",
         deployment},
        {"apps", "v1", "deployments", R"({"metadata":{"finalizers":"x","uid":7,"generation":"x"}})", "{}", deployment},
        {"", "v1", "pods", R"({"spec":{"containers":[{"name":"web","image":1}]}})", R"({"spec":{"nodeName":"n"}})",
         pod},
        {"", "v1", "pods", R"({"spec":"x","metadata":{"labels":"x","annotations":7}})", "{}", pod},
        {"", "v1", "secrets", R"({"type":7,"data":"x"})", R"({"data":{"a":"AAAA"}})", R"({"metadata":{"name":"a"}})"},
        {"", "v1", "persistentvolumeclaims", R"({"spec":{},"status":"x"})", "{}",
         R"({"metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}})"},
    };
    for (const Mended& row : rows) {
        SCOPED_TRACE(row.malformed);
        const cluster::Kind& kind = *world_.kinds.find(row.group, row.version, row.plural);
        const Present present{.object = stored(kind, *json::parse(row.malformed))};
        const auto refused = [](const Planned& planned) {
            ASSERT_FALSE(planned);
            EXPECT_EQ(planned.error().code, 422u);
            EXPECT_EQ(planned.error().reason, "Invalid");
            EXPECT_NE(planned.error().message.find("the stored document is malformed, replace or delete it"),
                      std::string::npos)
                << planned.error().message;
        };
        for (const std::string_view media : {"application/merge-patch+json", "application/strategic-merge-patch+json"})
            refused(patch_verb(call(kind, Verb::Patch, "", std::string{row.patch}, media), present, heard_of_));
        if (kind.find_subresource("status") != nullptr)
            refused(update_verb(call(kind, Verb::Update, "status", std::string{row.good}, "application/json"), present,
                                heard_of_));
        const Planned put =
            update_verb(call(kind, Verb::Update, "", std::string{row.good}, "application/json"), present, heard_of_);
        ASSERT_TRUE(put) << put.error().message;
        const auto& draft = std::get<Draft>(*put);
        ASSERT_TRUE(draft.object);
        EXPECT_TRUE(cluster::decode(*draft.object, kind, cluster::FieldValidation::Strict))
            << json::print(*draft.object);
        // Where the deletion has to wait, what waits is no longer in the way of whoever finishes it.
        const Planned gone = delete_verb(
            call(kind, Verb::Delete, "", R"({"propagationPolicy":"Foreground"})", "application/json"), present, {});
        ASSERT_TRUE(gone) << gone.error().message;
        ASSERT_TRUE(std::get<Draft>(*gone).object);
        EXPECT_TRUE(cluster::decode(*std::get<Draft>(*gone).object, kind, cluster::FieldValidation::Strict));
        EXPECT_TRUE(cluster::has_finalizer(*std::get<Draft>(*gone).object, "foregroundDeletion"));
    }
}

}  // namespace
}  // namespace rhizome::api
