// SPDX-License-Identifier: Apache-2.0
#include "ledger/json_form.h"

#include <limits>

#include <fmt/core.h>

#include "ledger/codec.h"
#include "ledger/detail/json_members.h"
#include "ledger/limits.h"
#include "script/assembler.h"

namespace rhizome::ledger {
namespace {

using detail::bad_member;
using detail::JsonMembers;

/// Arrays and objects around a document: the transaction, its outputs, the output.
constexpr json::Limits kFormLimits{.bytes = kTxJsonBytesMax, .depth = kDocumentDepthMax + 3};

/// Whether the text is one JSON object and nothing else, so that it can stand in the form and be found again.
bool is_object(std::string_view text) {
    return text.starts_with('{') && text.ends_with('}') &&
           json::check(text, {.bytes = kDocumentBytesMax, .depth = kDocumentDepthMax}).has_value();
}

Result<Bytes> read_script(JsonMembers& members, std::string_view key) {
    TRY(const std::string text, members.text(key));
    auto script = script::assemble(text);
    if (!script) return bad_member(members.place(key), script::to_error(script.error()).message);
    if (script->size() > kScriptBytesMax)
        return bad_member(members.place(key), "the script is longer than 10,000 bytes");
    return *std::move(script);
}

Result<Input> read_input(std::string_view text, std::string place) {
    TRY(auto members, JsonMembers::of(text, std::move(place), kFormLimits));
    Input input;
    TRY(input.previous.change, members.id<crypto::Hash256>("txid"));
    TRY(input.previous.index, members.number<std::uint16_t>("vout"));
    TRY(input.unlocking, read_script(members, "scriptSig"));
    TRY(input.sequence, members.number<std::uint32_t>("sequence"));
    TRY(members.finish());
    return input;
}

Result<std::string> read_value(JsonMembers& members) {
    const std::string_view* value = members.find("value");
    if (members.find("valueBytes") != nullptr) {
        if (value != nullptr) return bad_member(members.place("valueBytes"), "the value is given twice");
        TRY(const Bytes bytes, members.hex("valueBytes", kDocumentBytesMax));
        return std::string{as_text(bytes)};
    }
    if (value == nullptr) return bad_member(members.place("value"), "is missing");
    if (*value == "null") return std::string{};
    if (!value->starts_with('{')) return bad_member(members.place("value"), "is neither an object nor null");
    if (value->size() > kDocumentBytesMax)
        return bad_member(members.place("value"), "the document is larger than 1 MiB");
    return std::string{*value};
}

Result<Output> read_output(std::string_view text, std::string place) {
    TRY(auto members, JsonMembers::of(text, std::move(place), kFormLimits));
    Output output;
    TRY(output.value, read_value(members));
    TRY(output.locking, read_script(members, "scriptPubKey"));
    TRY(members.finish());
    return output;
}

}  // namespace

json::Object to_json(const Tx& tx) {
    json::Array inputs, outputs;
    for (const Input& input : tx.inputs) {
        inputs.push_back(json::Object{{"txid", input.previous.change.hex()},
                                      {"vout", input.previous.index},
                                      {"scriptSig", script::disassemble(input.unlocking)},
                                      {"sequence", input.sequence}});
    }
    for (const Output& output : tx.outputs) {
        json::Object object;
        if (output.value.empty()) {
            object.set("value", nullptr);
        } else if (is_object(output.value)) {
            object.set("value", json::Raw{std::make_shared<const std::string>(output.value)});
        } else {
            object.set("valueBytes", to_hex(as_bytes(output.value)));
        }
        object.set("scriptPubKey", script::disassemble(output.locking));
        outputs.push_back(std::move(object));
    }
    return {{"version", tx.version},      {"txid", id_of(tx).hex()},  {"vin", std::move(inputs)},
            {"vout", std::move(outputs)}, {"locktime", tx.lock_time}, {"expiry", tx.expiry}};
}

Result<Tx> tx_from_json(std::string_view text) {
    TRY(auto members, JsonMembers::of(text, {}, kFormLimits));
    Tx tx;
    TRY(tx.version, members.number<std::uint32_t>("version"));
    if (tx.version != kTxVersion)
        return bad_member("version",
                          fmt::format("{} is not known; this program writes version {}", tx.version, kTxVersion));
    TRY(const auto inputs, members.elements("vin", kInputsMax));
    if (inputs.empty()) return bad_member("vin", "a transaction needs an input");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        TRY(auto input, read_input(inputs[i].text, fmt::format("vin[{}]", i)));
        tx.inputs.push_back(std::move(input));
    }
    TRY(const auto outputs, members.elements("vout", kOutputsMax));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        TRY(auto output, read_output(outputs[i].text, fmt::format("vout[{}]", i)));
        tx.outputs.push_back(std::move(output));
    }
    TRY(tx.lock_time, members.number<std::uint32_t>("locktime"));
    TRY(tx.expiry, members.number<std::uint32_t>("expiry"));
    members.skip("about");
    if (encoded_size(tx) > kTxBytesMax) return fail(ErrorKind::Invalid, "the transaction is larger than a block");
    if (members.find("txid") != nullptr) {
        TRY(const auto id, members.id<TxId>("txid"));
        if (id != id_of(tx))
            return bad_member("txid", fmt::format("the transaction's id is {}, so something in it was changed\n"
                                                  "leave txid out when that was meant; signatures must be made again",
                                                  id_of(tx)));
    }
    TRY(members.finish());
    return tx;
}

}  // namespace rhizome::ledger
