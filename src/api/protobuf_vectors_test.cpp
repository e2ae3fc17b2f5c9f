// SPDX-License-Identifier: Apache-2.0
// Bodies that a real kubectl sent, recorded by tests/oracles/record_kubectl.py beside its own JSON of the same objects.
#include <gtest/gtest.h>

#include "api/protobuf.h"
#include "cluster/decode.h"
#include "support/vectors.h"

namespace rhizome::api {
namespace {

/// As both forms mean the same: decoded, without empty objects and lists, which protobuf cannot tell from absent ones.
json::Value plain(const json::Value& value) {
    if (const json::Object* object = value.if_object()) {
        json::Object out;
        for (const auto& member : *object) {
            json::Value inner = plain(member.value);
            const bool empty = inner.is_null() || (inner.is_object() && inner.if_object()->empty());
            if (!empty) out.set(member.key, std::move(inner));
        }
        return out;
    }
    if (const json::Array* array = value.if_array()) {
        json::Array out;
        for (const json::Value& each : *array) out.push_back(plain(each));
        return out;
    }
    return value;
}

json::Value canonical(json::Value document) {
    const auto version = cluster::parse_api_version(document.text_at({"apiVersion"})).value();
    const std::string kind(document.text_at({"kind"}));
    const cluster::Schema* schema = cluster::find_schema(version.group, version.version, kind);
    auto decoded =
        cluster::decode(std::move(document), *schema, version.version, kind, cluster::FieldValidation::Strict);
    if (!decoded) ADD_FAILURE() << decoded.error().message;
    json::Value out = decoded ? plain(decoded->object) : json::Value{};
    // The JSON of kubectl has no namespace when none was asked for; the body has the one it is sent to.
    if (json::Value* metadata = out.find("metadata")) metadata->if_object()->erase("namespace");
    return out;
}

TEST(ProtobufVectors, MeanWhatKubectlPrints) {
    std::size_t compared = 0;
    const auto vectors = test::own_vectors("api/protobuf.json");
    for (const auto& row : vectors.as_array()) {
        const std::string command = test::text(row, "command");
        const auto body = from_hex(test::text(row, "protobuf"));
        ASSERT_TRUE(body) << command;
        const auto document = decode_protobuf(*body);
        ASSERT_TRUE(document) << command << ": " << document.error().message;
        if (!row.as_object().contains("json")) continue;
        const json::Value expected = json::parse(boost::json::serialize(row.at("json"))).value();
        EXPECT_EQ(json::print_canonical(canonical(*document)), json::print_canonical(canonical(expected))) << command;
        ++compared;
    }
    EXPECT_GE(compared, 25u);
}

/// Cut or changed anywhere, a body is refused or read as something else; it never breaks the reader.
TEST(ProtobufVectors, SurviveEveryCutAndFlip) {
    const auto vectors = test::own_vectors("api/protobuf.json");
    for (const auto& row : vectors.as_array()) {
        const Bytes body = from_hex(test::text(row, "protobuf")).value();
        for (std::size_t i = 0; i < body.size(); ++i) {
            (void)decode_protobuf(ByteView(body).first(i));
            Bytes flipped = body;
            flipped[i] = static_cast<std::uint8_t>(flipped[i] ^ (1u << i % 8));
            if (const auto read = decode_protobuf(flipped)) {
                EXPECT_TRUE(json::check(json::print(*read), {.bytes = 1u << 20, .depth = 64}));
            }
        }
    }
}

}  // namespace
}  // namespace rhizome::api
