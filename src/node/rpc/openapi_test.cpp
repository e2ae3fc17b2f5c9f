// SPDX-License-Identifier: Apache-2.0
// The document says what the code does: it is made from the table, kept in docs/, and held against real answers.
#include <cstdlib>
#include <fstream>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "node/rpc/route.h"
#include "support/rpc_world.h"
#include "support/vectors.h"

namespace rhizome::node::rpc {
namespace {

/// What is wrong with a value by a schema of the document; empty when nothing is. As much of JSON Schema as we use.
class SchemaCheck {
public:
    explicit SchemaCheck(const json::Value& document) : document_(document) {}

    std::string check(const json::Value& value, const json::Value& schema, const std::string& place) const {
        if (const json::Value* ref = schema.find("$ref")) {
            const std::string name = ref->if_string()->substr(std::string{"#/components/schemas/"}.size());
            const json::Value* target = document_.find_path({"components", "schemas", name});
            return target == nullptr ? place + ": no schema " + name : check(value, *target, place);
        }
        if (const json::Value* one_of = schema.find("oneOf")) {
            std::string all;
            for (const json::Value& choice : *one_of->if_array()) {
                const std::string wrong = check(value, choice, place);
                if (wrong.empty()) return "";
                all += wrong + "; ";
            }
            return all;
        }
        const std::string_view type = schema.text_at({"type"});
        const bool fits = type.empty() || (type == "object" && value.is_object()) ||
                          (type == "array" && value.is_array()) || (type == "string" && value.is_string()) ||
                          (type == "integer" && value.if_int64()) || (type == "boolean" && value.if_boolean());
        if (!fits) return place + ": is no " + std::string{type};
        if (const json::Value* choices = schema.find("enum")) {
            const auto& list = *choices->if_array();
            if (std::find(list.begin(), list.end(), value) == list.end()) return place + ": is none of the choices";
        }
        if (const json::Value* items = schema.find("items"); items != nullptr && value.is_array()) {
            std::size_t i = 0;
            for (const json::Value& item : *value.if_array())
                if (auto wrong = check(item, *items, fmt::format("{}[{}]", place, i++)); !wrong.empty()) return wrong;
        }
        const json::Value* properties = schema.find("properties");
        if (properties == nullptr || !value.is_object()) return "";
        for (const auto& [key, member] : *value.if_object()) {
            const json::Value* property = properties->find(key);
            if (property == nullptr) return place + "." + key + ": is not in the document";
            if (auto wrong = check(member, *property, place + "." + key); !wrong.empty()) return wrong;
        }
        for (const json::Value& required : *schema.find("required")->if_array())
            if (value.find(*required.if_string()) == nullptr)
                return place + "." + *required.if_string() + ": is missing";
        return "";
    }

private:
    const json::Value& document_;
};

TEST(OpenApi, TheDocumentInDocsIsTheOneServed) {
    const std::string text = json::print_pretty(json::parse(json::print(openapi_document(all_routes(), "1"))).value());
    const auto path = test::source_root() / "docs/spec/rhizome-v1.openapi.json";
    if (std::getenv("RHIZOME_WRITE_GOLDEN") != nullptr) {
        std::ofstream{path, std::ios::binary} << text;
        return;
    }
    const auto kept = test::read_file(path);
    ASSERT_TRUE(kept) << path;
    EXPECT_EQ(text, *kept) << "RHIZOME_WRITE_GOLDEN=1 writes it anew";
}

TEST(OpenApi, EveryRouteSaysWhatItTakesAndGives) {
    const auto document = json::parse(json::print(openapi_document(all_routes(), "1"))).value();
    std::set<std::string_view> names;
    for (const Route& route : all_routes()) {
        EXPECT_TRUE(names.insert(route.name).second) << route.name;
        EXPECT_FALSE(route.summary.empty()) << route.path;
        for (const std::string_view schema : {route.body, route.answer})
            if (!schema.empty()) {
                EXPECT_NE(document.find_path({"components", "schemas", schema}), nullptr) << route.path << schema;
            }
        EXPECT_EQ(route.body.empty(), route.body_bytes_max == 0) << route.path;
        // Every blank of the path is a parameter, and the other way round.
        std::size_t blanks = 0;
        for (const Parameter& one : route.parameters) {
            if (!one.in_path) continue;
            ++blanks;
            EXPECT_NE(route.path.find("{" + std::string{one.name} + "}"), std::string_view::npos) << route.path;
        }
        EXPECT_EQ(blanks, static_cast<std::size_t>(std::count(route.path.begin(), route.path.end(), '{')));
    }
}

class OpenApiAnswers : public test::RpcWorld {
protected:
    /// Asks, and holds the answer against the document that the node itself serves.
    void expect_described(std::string_view method, const std::string& target, const std::string& body,
                          const std::string& pattern, bool good = true) {
        const auto document = local->get("/rhizome/v1/openapi.json");
        ASSERT_TRUE(document);
        auto reply = local->ask(method, target, body);
        ASSERT_TRUE(reply) << reply.error().message;
        EXPECT_EQ(reply->is_good(), good) << target << json::print(reply->body);
        const std::string word = method == "GET" ? "get" : "post";
        const json::Value* schema = document->find_path(
            {"paths", pattern, word, "responses", good ? "200" : "default", "content", "application/json", "schema"});
        ASSERT_NE(schema, nullptr) << pattern;
        EXPECT_EQ(SchemaCheck{*document}.check(reply->body, *schema, target), "") << json::print(reply->body);
    }
};

TEST_F(OpenApiAnswers, RealAnswersHaveNothingThatTheDocumentDoesNotSay) {
    const std::string v1 = "/rhizome/v1/";
    const std::string id = make_namespace("web");
    for (const std::string path : {"tip", "chain", "status", "peers", "consensus", "state/list", "state/export"})
        expect_described("GET", v1 + path, "", v1 + path);
    for (const std::string ref : {"0", "1", "latest", "final"}) {
        expect_described("GET", v1 + "headers/" + ref, "", v1 + "headers/{ref}");
        expect_described("GET", v1 + "blocks/" + ref, "", v1 + "blocks/{ref}");
    }
    expect_described("GET", v1 + "txs/" + id, "", v1 + "txs/{id}");
    expect_described("GET", v1 + "txs/" + id + "/proof", "", v1 + "txs/{id}/proof");
    expect_described("GET", v1 + "state?path=/namespaces/web&at=latest", "", v1 + "state");
    expect_described("GET", v1 + "state?path=/chain/clock", "", v1 + "state");
    expect_described("GET", v1 + "state/list?documents=true&limit=2", "", v1 + "state/list");
    expect_described("GET", v1 + "state/proof?path=/namespaces/web", "", v1 + "state/proof");
    expect_described("GET", v1 + "state/proof?path=/namespaces/none", "", v1 + "state/proof");
    expect_described("GET", v1 + "finality?after=0", "", v1 + "finality");
    expect_described("GET", v1 + "finality?at=final", "", v1 + "finality");
    expect_described("GET", v1 + "state/subtree?prefix=/namespaces/web&since=0", "", v1 + "state/subtree");
    expect_described("POST", v1 + "txs?wait=accepted", text_of(namespace_tx("two")), v1 + "txs");
    expect_described("POST", v1 + "txs?dryRun=true", text_of(namespace_tx("three")), v1 + "txs");
    ledger::Tx unsigned_tx = namespace_tx("four");
    for (auto& input : unsigned_tx.inputs) input.unlocking.clear();
    expect_described("POST", v1 + "txs?dryRun&trace=true", text_of(unsigned_tx), v1 + "txs");
    expect_described("POST", v1 + "txs/context", text_of(unsigned_tx), v1 + "txs/context");
    expect_described("POST", v1 + "peers/refused", R"({"keys":[]})", v1 + "peers/refused");
    expect_described("GET", v1 + "refusals?path=/namespaces/web", "", v1 + "refusals");
    expect_described("GET", v1 + "lost", "", v1 + "lost");
    expect_described("POST", v1 + "secrets/key", "", v1 + "secrets/key");
    expect_described("GET", v1 + "secrets/status", "", v1 + "secrets/status");
    expect_described("POST", v1 + "secrets/open", R"({"paths":["/namespaces/web/core/Secret/none"]})",
                     v1 + "secrets/open");
    expect_described("POST", v1 + "secrets/open", "{}", v1 + "secrets/open", false);
    expect_described("POST", v1 + "drafts", R"({"changes":[{"delete":"namespace/web"}]})", v1 + "drafts");
    expect_described("GET", v1 + "blocks/99999", "", v1 + "blocks/{ref}", false);
    expect_described("GET", v1 + "state?path=/namespaces/none", "", v1 + "state", false);
    expect_described("POST", v1 + "txs", "{}", v1 + "txs", false);
}

TEST(OpenApi, TheCheckItselfFindsWhatIsMissing) {
    const auto document = json::parse(json::print(openapi_document(all_routes(), "1"))).value();
    const auto schema = json::parse(R"({"$ref":"#/components/schemas/Refusal"})").value();
    const SchemaCheck check{document};
    EXPECT_EQ(check.check(json::parse(R"({"code":"a","status":1,"message":"b"})").value(), schema, "x"), "");
    EXPECT_NE(check.check(json::parse(R"({"code":"a","status":1})").value(), schema, "x"), "");
    EXPECT_NE(check.check(json::parse(R"({"code":"a","status":1,"message":"b","more":1})").value(), schema, "x"), "");
    EXPECT_NE(check.check(json::parse(R"({"code":"a","status":"1","message":"b"})").value(), schema, "x"), "");
}

}  // namespace
}  // namespace rhizome::node::rpc
