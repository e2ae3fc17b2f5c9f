// SPDX-License-Identifier: Apache-2.0
#include "api/protobuf.h"

#include <gtest/gtest.h>

namespace rhizome::api {
namespace {

Bytes bytes(std::initializer_list<int> values) {
    Bytes out;
    for (const int value : values) out.push_back(static_cast<std::uint8_t>(value));
    return out;
}

const cluster::Schema& schema(std::string_view name) {
    return *cluster::find_schema("io.k8s.api.core.v1." + std::string(name));
}

TEST(Protobuf, KeepsZerosThatWereSetOnPurpose) {
    // DeploymentSpec{replicas = 1: 0, minReadySeconds = 5: 0, paused = 7: false}
    const auto spec =
        transcode(bytes({0x08, 0, 0x28, 0, 0x38, 0}), *cluster::find_schema("io.k8s.api.apps.v1.DeploymentSpec"));
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ(json::print(*spec), R"({"replicas":0})");
}

TEST(Protobuf, ReadsNestedMessagesThatJsonInlines) {
    // Volume{name = 1: "v", volumeSource = 2: {emptyDir = 2: {}}}
    const auto volume = transcode(bytes({0x0a, 1, 'v', 0x12, 2, 0x12, 0}), schema("Volume"));
    ASSERT_TRUE(volume) << volume.error().message;
    EXPECT_EQ(json::print(*volume), R"({"name":"v","emptyDir":{}})");
    // Probe{handler = 1: {tcpSocket = 3: {port = 1: {type: 1, strVal: "x"}}}, periodSeconds = 4: 5}
    const auto probe = transcode(bytes({0x0a, 9, 0x1a, 7, 0x0a, 5, 0x08, 1, 0x1a, 1, 'x', 0x20, 5}), schema("Probe"));
    ASSERT_TRUE(probe) << probe.error().message;
    EXPECT_EQ(json::print(*probe), R"({"tcpSocket":{"port":"x"},"periodSeconds":5})");
}

TEST(Protobuf, RefusesWhatIsMalformed) {
    const struct {
        std::string_view what;
        Bytes body;
    } rows[] = {
        {"no magic", bytes({1, 2, 3, 4})},
        {"too short", bytes({0x6b, 0x38})},
        {"an unknown kind", bytes({0x6b, 0x38, 0x73, 0, 0x0a, 7, 0x0a, 2, 'v', '1', 0x12, 1, 'X'})},
        {"a field longer than the body", bytes({0x6b, 0x38, 0x73, 0, 0x0a, 100})},
        {"a number without end", bytes({0x6b, 0x38, 0x73, 0, 0x80})},
    };
    for (const auto& row : rows) EXPECT_FALSE(decode_protobuf(row.body)) << row.what;
    const struct {
        std::string_view what;
        Bytes message;
    } messages[] = {
        {"field 0", bytes({0x00, 1})},
        {"a group", bytes({0x0b})},
        {"a name as a number", bytes({0x08, 1})},
        {"a text that is not UTF-8", bytes({0x0a, 1, 0xff})},
        {"a number of eleven bytes", bytes({0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})},
        {"a truncated fixed number", bytes({0x09, 1, 2})},
    };
    for (const auto& row : messages) EXPECT_FALSE(transcode(row.message, schema("Volume"))) << row.what;
    EXPECT_EQ(json::print(transcode(bytes({0xf8, 0x7f, 1}), schema("Volume")).value()), "{}") << "unknown numbers pass";
}

TEST(Protobuf, BoundsItsDepth) {
    // JSONSchemaProps{not = 27: {not = 27: …}}: a schema inside itself.
    const cluster::Schema& deep =
        *cluster::find_schema("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
    const unsigned tag = deep.find("not")->number << 3 | 2u;
    const auto nested = [&](int levels) {
        const auto put = [](Bytes& out, std::size_t number) {
            for (; number >= 128; number >>= 7) out.push_back(static_cast<std::uint8_t>(number | 0x80u));
            out.push_back(static_cast<std::uint8_t>(number));
        };
        Bytes message;
        for (int i = 0; i < levels; ++i) {
            Bytes outer;
            put(outer, tag);
            put(outer, message.size());
            outer.insert(outer.end(), message.begin(), message.end());
            message = std::move(outer);
        }
        return message;
    };
    EXPECT_TRUE(transcode(nested(40), deep));
    EXPECT_FALSE(transcode(nested(60), deep));
    EXPECT_FALSE(transcode(nested(10'000), deep));
}

}  // namespace
}  // namespace rhizome::api
