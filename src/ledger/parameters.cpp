// SPDX-License-Identifier: Apache-2.0
#include "ledger/parameters.h"

#include <charconv>
#include <functional>

#include <fmt/core.h>

#include "ledger/recovery_records.h"

namespace rhizome::ledger {
namespace {

Fail<Reject> bad(std::string_view member, std::string_view why) {
    return reject(RejectCode::BadEncoding, fmt::format("spec.{} {}", member, why));
}

Result<std::int64_t, Reject> integer(std::string_view member, const json::Value& value, std::int64_t low,
                                     std::int64_t high) {
    const auto number = value.if_int64();
    if (!number || *number < low || *number > high)
        return bad(member, fmt::format("is no whole number between {} and {}", low, high));
    return *number;
}

Result<milliseconds, Reject> duration(std::string_view member, const json::Value& value, milliseconds low,
                                      milliseconds high) {
    const std::string* text = value.if_string();
    const auto parsed = text != nullptr ? parse_duration(*text) : std::nullopt;
    if (!parsed || *parsed < low || *parsed > high || *parsed % milliseconds{1} != microseconds{0})
        return bad(member, fmt::format("is no duration between {} and {}, such as \"250ms\"", rhizome::to_text(low),
                                       rhizome::to_text(high)));
    return std::chrono::duration_cast<milliseconds>(*parsed);
}

/// `4Mi`, `512Ki`, or a number of bytes.
Result<std::uint64_t, Reject> size(std::string_view member, const json::Value& value, std::uint64_t low,
                                   std::uint64_t high) {
    std::uint64_t bytes = 0;
    if (const auto number = value.if_int64(); number && *number >= 0) {
        bytes = static_cast<std::uint64_t>(*number);
    } else if (const std::string* text = value.if_string()) {
        const char* end = text->data() + text->size();
        const auto [rest, fault] = std::from_chars(text->data(), end, bytes);
        const std::string_view unit{rest, static_cast<std::size_t>(end - rest)};
        const unsigned shift = unit == "Ki" ? 10 : unit == "Mi" ? 20 : unit == "Gi" ? 30 : 0;
        if (fault != std::errc{} || (shift == 0 && !unit.empty()) || bytes > (UINT64_MAX >> shift))
            return bad(member, "is no size, such as \"4Mi\"");
        bytes <<= shift;
    } else {
        return bad(member, "is no size, such as \"4Mi\"");
    }
    if (bytes < low || bytes > high) return bad(member, fmt::format("is not between {} and {} bytes", low, high));
    return bytes;
}

template <class T>
Result<T, Reject> choice(std::string_view member, const json::Value& value,
                         std::initializer_list<std::pair<std::string_view, T>> choices) {
    std::string known;
    for (const auto& [name, meaning] : choices) {
        if (value.if_string() != nullptr && *value.if_string() == name) return meaning;
        known += (known.empty() ? "" : ", ") + std::string{name};
    }
    return bad(member, "is none of " + known);
}

Result<std::string, Reject> text(std::string_view member, const json::Value& value, std::size_t longest) {
    const std::string* string = value.if_string();
    if (string == nullptr || string->empty() || string->size() > longest)
        return bad(member, fmt::format("is no text of 1 to {} bytes", longest));
    return *string;
}

Result<void, Reject> read_port_range(Parameters& into, const json::Value& value) {
    TRY(const auto range, text("nodePortRange", value, 11));
    const auto dash = range.find('-');
    unsigned first = 0, last = 0;
    const char* end = range.data() + range.size();
    if (dash == std::string::npos ||
        std::from_chars(range.data(), range.data() + dash, first).ptr != range.data() + dash ||
        std::from_chars(range.data() + dash + 1, end, last).ptr != end || first < 1 || first > last || last > 65'535)
        return bad("nodePortRange", "is no range of ports, such as \"30000-32767\"");
    into.node_port_first = static_cast<std::uint16_t>(first);
    into.node_port_last = static_cast<std::uint16_t>(last);
    return {};
}

Result<void, Reject> read_quotas(Parameters& into, const json::Value& value) {
    const json::Object* quotas = value.if_object();
    if (quotas == nullptr || quotas->size() > 1'000) return bad("quotas", "is no object of at most 1,000 kinds");
    for (const auto& [kind, limits] : *quotas) {
        const json::Object* members = limits.if_object();
        const std::string where = "quotas." + kind;
        if (members == nullptr) return bad(where, "is no object with count and bytes");
        Quota quota;
        for (const auto& [name, limit] : *members) {
            if (name == "count") {
                TRY(const auto count, integer(where + ".count", limit, 0, INT64_MAX));
                quota.count_max = static_cast<std::uint64_t>(count);
            } else if (name == "bytes") {
                TRY(quota.bytes_max, size(where + ".bytes", limit, 0, UINT64_MAX));
            } else {
                return bad(where, fmt::format("has an unknown member {}", json::quote(name)));
            }
        }
        into.quotas[kind] = quota;
    }
    return {};
}

Result<void, Reject> read_recovery(Parameters& into, const json::Value& value) {
    const json::Object* recovery = value.if_object();
    if (recovery == nullptr) return bad("recovery", "is no object with generation and voters");
    for (const auto& [name, member] : *recovery) {
        if (name == "generation") {
            TRY(const auto generation, integer("recovery.generation", member, 0, INT64_MAX));
            into.recovery.generation = static_cast<std::uint64_t>(generation);
        } else if (name == "voters" && member.is_array() && member.if_array()->size() <= 10'000) {
            for (const json::Value& voter : *member.if_array()) {
                TRY(auto node, text("recovery.voters", voter, 253));
                into.recovery.voters.push_back(std::move(node));
            }
        } else if (name == "records") {
            TRY(read_recovery_records(member));  // for whoever asks: recovery_records.h
        } else {
            return bad("recovery", fmt::format("has an unknown or malformed member {}", json::quote(name)));
        }
    }
    return {};
}

Result<void, Reject> read_work(Parameters& into, const json::Value& value) {
    const json::Object* work = value.if_object();
    if (work == nullptr) return bad("work", "is no object with hashRate, blockTime and period");
    for (const auto& [name, member] : *work) {
        if (name == "hashRate") {
            TRY(const auto rate, integer("work.hashRate", member, 1, std::int64_t{kHashRateMax}));
            into.work.hash_rate = static_cast<std::uint64_t>(rate);
        } else if (name == "blockTime") {
            TRY(into.work.block_time, duration("work.blockTime", member, milliseconds{10}, hours{24}));
        } else if (name == "period") {
            TRY(const auto period, integer("work.period", member, 1, kWorkPeriodMax));
            into.work.period = static_cast<std::uint32_t>(period);
        } else {
            return bad("work", fmt::format("has an unknown member {}", json::quote(name)));
        }
    }
    return {};
}

using Read = Result<void, Reject> (*)(Parameters&, const json::Value&);

template <class T>
Result<void, Reject> store(T& into, Result<T, Reject> read) {
    TRY(into, std::move(read));
    return {};
}
template <class T>
Result<void, Reject> store_integer(T& into, Result<std::int64_t, Reject> read) {
    TRY(const auto number, std::move(read));
    into = static_cast<T>(number);
    return {};
}

const std::map<std::string_view, Read>& readers() {
    static const std::map<std::string_view, Read> table{
        {"blockBytes",
         [](Parameters& p, const json::Value& v) {
             return store(p.block_bytes, size("blockBytes", v, 4'096, kBlockBytesMax));
         }},
        {"consensus",
         [](Parameters& p, const json::Value& v) {
             return store(p.consensus, choice<ConsensusId>("consensus", v,
                                                           {{"authority", ConsensusId::Authority},
                                                            {"work", ConsensusId::Work},
                                                            {"space", ConsensusId::Space},
                                                            {"stake", ConsensusId::Stake}}));
         }},
        {"cooldown",
         [](Parameters& p, const json::Value& v) {
             return store(p.cooldown, duration("cooldown", v, milliseconds{0}, hours{24}));
         }},
        {"derivationVersion",
         [](Parameters& p, const json::Value& v) {
             return store_integer(p.derivation_version, integer("derivationVersion", v, 1, UINT32_MAX));
         }},
        {"epoch",
         [](Parameters& p, const json::Value& v) {
             return store(p.epoch, duration("epoch", v, milliseconds{10}, seconds{60}));
         }},
        {"heartbeat",
         [](Parameters& p, const json::Value& v) {
             return store(p.heartbeat, duration("heartbeat", v, milliseconds{100}, hours{1}));
         }},
        {"joinRate",
         [](Parameters& p, const json::Value& v) {
             return store_integer(p.join_rate, integer("joinRate", v, 0, 1'000'000));
         }},
        {"leaseHeartbeats",
         [](Parameters& p, const json::Value& v) {
             return store_integer(p.lease_heartbeats, integer("leaseHeartbeats", v, 2, 1'000));
         }},
        {"minInterval",
         [](Parameters& p, const json::Value& v) {
             return store(p.min_interval, duration("minInterval", v, milliseconds{1}, hours{1}));
         }},
        {"nodePortRange", read_port_range},
        {"podCIDR", [](Parameters& p, const json::Value& v) { return store(p.pod_cidr, text("podCIDR", v, 64)); }},
        {"quotas", read_quotas},
        {"rankDelay",
         [](Parameters& p, const json::Value& v) {
             return store(p.rank_delay, duration("rankDelay", v, milliseconds{1}, minutes{1}));
         }},
        {"recovery", read_recovery},
        {"rulesVersion",
         [](Parameters& p, const json::Value& v) {
             return store_integer(p.rules_version, integer("rulesVersion", v, 1, UINT32_MAX));
         }},
        {"serviceCIDR",
         [](Parameters& p, const json::Value& v) { return store(p.service_cidr, text("serviceCIDR", v, 64)); }},
        {"trust",
         [](Parameters& p, const json::Value& v) {
             return store(p.trust,
                          choice<Trust>("trust", v, {{"crash", Trust::Crash}, {"byzantine", Trust::Byzantine}}));
         }},
        {"work", read_work},
    };
    return table;
}

}  // namespace

Quota Parameters::quota_of(std::string_view group, std::string_view kind) const {
    if (quotas.empty()) return {};
    const auto at = quotas.find(group.empty() ? std::string{kind} : fmt::format("{}.{}", kind, group));
    return at == quotas.end() ? Quota{} : at->second;
}

Result<Parameters, Reject> read_parameters(const json::Value& cluster) {
    Parameters parameters;
    const json::Value* spec = cluster.find("spec");
    if (spec == nullptr) return parameters;
    const json::Object* members = spec->if_object();
    if (members == nullptr) return reject(RejectCode::BadEncoding, "the Cluster's spec is no object");
    for (const auto& [name, value] : *members) {
        const auto reader = readers().find(name);
        if (reader == readers().end()) return bad(name, "is no parameter of a cluster");
        TRY(reader->second(parameters, value));
    }
    if (parameters.heartbeat % parameters.epoch != milliseconds{0})
        return bad("heartbeat", "is no whole number of epochs: votes are counted once per heartbeat slot");
    // With the least interval near the wanted one, blocks could only be late: every retarget would make them easier,
    // until the work is worth nothing.
    if (parameters.consensus == ConsensusId::Work && parameters.work.block_time < 2 * parameters.min_interval)
        return bad("work.blockTime", "is less than twice minInterval: the interval, not the work, would set the pace");
    return parameters;
}

Result<void, Reject> check_parameter_change(const Parameters& before, const Parameters& after) {
    if (before.epoch != after.epoch) return bad("epoch", "is fixed at genesis");
    if (before.consensus != after.consensus) return bad("consensus", "is fixed at genesis");
    if (before.work.hash_rate != after.work.hash_rate)
        return bad("work.hashRate", "is fixed at genesis: the target follows what is really done");
    if (after.recovery.generation < before.recovery.generation) return bad("recovery.generation", "only grows");
    if (after.recovery.generation == before.recovery.generation && after.recovery != before.recovery)
        return bad("recovery.voters", "change only with a higher generation");
    return {};
}

}  // namespace rhizome::ledger
