// SPDX-License-Identifier: Apache-2.0
#include "node/machine.h"

#include <sched.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "cluster/base64.h"
#include "cluster/object.h"
#include "ledger/member.h"
#include "runtime/files.h"
#include "runtime/host_addresses.h"

namespace rhizome::node {
namespace {

/// As a kubelet allows.
constexpr std::uint64_t kPodsMax = 110;

std::string first_line(const char* file) {
    const std::string text = runtime::read_file(file, 64u << 10).value_or("");
    return text.substr(0, text.find('\n'));
}

/// PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
std::string pretty_name() {
    for (const char* file : {"/etc/os-release", "/usr/lib/os-release"}) {
        const std::string text = "\n" + runtime::read_file(file, 64u << 10).value_or("");
        constexpr std::string_view kKey = "\nPRETTY_NAME=";
        const std::size_t at = text.find(kKey);
        if (at == std::string::npos) continue;
        std::string value = text.substr(at + kKey.size());
        value = value.substr(0, value.find('\n'));
        std::erase(value, '"');
        return value;
    }
    return "Linux";
}

std::uint64_t memory_bytes() {
    const std::string line = first_line("/proc/meminfo");  // MemTotal:       16384256 kB
    const std::size_t at = line.find_first_of("0123456789");
    std::uint64_t kilobytes = 0;
    if (at != std::string::npos) std::from_chars(line.data() + at, line.data() + line.size(), kilobytes);
    return kilobytes * 1'024;
}

std::uint64_t cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return static_cast<std::uint64_t>(std::max(1, CPU_COUNT(&set)));
}

json::Object quantities(const std::map<std::string, std::uint64_t>& amounts) {
    json::Object object;
    for (const auto& [name, amount] : amounts) {
        if (name == "cpu") {
            object.set(name, cpu_text(amount));
        } else if (name == "pods") {
            object.set(name, std::to_string(amount));
        } else {
            object.set(name, fmt::format("{}Ki", amount / 1'024));
        }
    }
    return object;
}

json::Object no_agent_taint(std::string_view effect) { return {{"key", kNoAgentTaint}, {"effect", effect}}; }

}  // namespace

std::string cpu_text(std::uint64_t millis) {
    return millis % 1'000 == 0 ? fmt::format("{}", millis / 1'000) : fmt::format("{}m", millis);
}

std::string architecture_name(std::string_view machine) {
    constexpr std::pair<std::string_view, std::string_view> kNames[] = {
        {"x86_64", "amd64"}, {"aarch64", "arm64"},   {"armv7l", "arm"},      {"armv6l", "arm"},
        {"i686", "386"},     {"ppc64le", "ppc64le"}, {"riscv64", "riscv64"}, {"s390x", "s390x"}};
    for (const auto& [kernel, kubernetes] : kNames)
        if (machine == kernel) return std::string{kubernetes};
    return std::string{machine};
}

std::string machine_architecture() {
    struct utsname names {};
    return ::uname(&names) == 0 ? architecture_name(names.machine) : "";
}

Machine look_at_machine(const std::filesystem::path& data) {
    Machine machine;
    struct utsname names {};
    if (::uname(&names) == 0) {
        machine.arch = architecture_name(names.machine);
        machine.kernel = names.release;
        machine.host_name = names.nodename;
    }
    machine.os_image = pretty_name();
    machine.machine_id = first_line("/etc/machine-id");
    machine.boot_id = first_line("/proc/sys/kernel/random/boot_id");
    for (std::string& address : runtime::host_addresses()) {
        std::erase_if(address, [](char c) { return c == '[' || c == ']'; });
        machine.addresses.push_back(std::move(address));
    }
    machine.capacity = {{"cpu", cores() * 1'000}, {"memory", memory_bytes()}, {"pods", kPodsMax}};
    struct statvfs disk {};
    if (::statvfs(data.c_str(), &disk) == 0)
        machine.capacity["ephemeral-storage"] = static_cast<std::uint64_t>(disk.f_blocks) * disk.f_frsize;
    return machine;
}

json::Object node_document(const std::string& name, const crypto::NodeKeys& keys, const ledger::ChainId& chain,
                           const NodeTraits& traits) {
    json::Value node = json::Object{
        {"apiVersion", "v1"},
        {"kind", "Node"},
        {"metadata", json::Object{{"name", name}, {"annotations", ledger::member_annotations(keys, name, chain)}}}};
    (void)apply_traits(node, name, traits);
    return *node.if_object();
}

bool apply_traits(json::Value& node, const std::string& name, const NodeTraits& traits) {
    const json::Value before = node;
    json::Value& labels = cluster::object_in(cluster::object_in(node, "metadata"), "labels");
    labels["kubernetes.io/hostname"] = name;
    labels["kubernetes.io/os"] = "linux";
    if (!traits.arch.empty()) labels["kubernetes.io/arch"] = traits.arch;
    json::Array taints;
    if (const json::Value* known = node.find_path({"spec", "taints"}); known != nullptr && known->is_array())
        for (const json::Value& taint : *known->if_array())
            if (taint.text_at({"key"}) != kNoAgentTaint) taints.push_back(taint);
    if (traits.has_agent) {
        labels.make_object().erase(kNoAgentRole);
    } else {
        labels[kNoAgentRole] = "";
        taints.emplace_back(no_agent_taint("NoSchedule"));
        taints.emplace_back(no_agent_taint("NoExecute"));
    }
    if (!taints.empty()) {
        cluster::object_in(node, "spec")["taints"] = std::move(taints);
    } else if (json::Value* spec = node.find("spec"); spec != nullptr && spec->is_object()) {
        spec->make_object().erase("taints");
        if (spec->if_object()->empty()) node.make_object().erase("spec");
    }
    return node != before;
}

json::Object report_document(const ReportWish& wish, const Machine& machine) {
    auto capacity = machine.capacity;
    for (const auto& [name, amount] : wish.capacity) capacity[name] = amount;
    auto allocatable = capacity;
    for (const auto& [name, amount] : wish.allocatable) allocatable[name] = std::min(amount, capacity[name]);
    if (!wish.traits.has_agent) allocatable["pods"] = 0;
    json::Array addresses;
    for (const std::string& one : machine.addresses)
        addresses.push_back(json::Object{{"type", "InternalIP"}, {"address", one}});
    addresses.push_back(json::Object{{"type", "Hostname"}, {"address", machine.host_name}});
    json::Array links;
    for (const stream::Address& one : wish.links) links.emplace_back(one.text());
    json::Object status{{"capacity", quantities(capacity)},
                        {"allocatable", quantities(allocatable)},
                        {"addresses", std::move(addresses)},
                        {"nodeInfo", json::Object{{"architecture", machine.arch},
                                                  {"operatingSystem", "linux"},
                                                  {"kernelVersion", machine.kernel},
                                                  {"osImage", machine.os_image},
                                                  {"machineID", machine.machine_id},
                                                  {"bootID", machine.boot_id},
                                                  {"rhizomeVersion", wish.version}}},
                        {"links", std::move(links)}};
    if (!wish.api_authority.empty()) status.set("apiAuthority", cluster::base64(wish.api_authority));
    return {{"apiVersion", "rhizome.dev/v1"},
            {"kind", "NodeReport"},
            {"metadata", json::Object{{"name", wish.name}}},
            {"status", std::move(status)},
            {"pods", json::Array{}}};
}

std::vector<stream::Address> reachable_addresses(const std::vector<stream::Address>& listens,
                                                 const std::vector<std::string>& host_addresses) {
    std::vector<stream::Address> all;
    const auto add = [&](stream::Address address) {
        if (std::find(all.begin(), all.end(), address) == all.end()) all.push_back(std::move(address));
    };
    for (const stream::Address& one : listens) {
        if (one.is_local) continue;
        const bool everywhere = one.host == "::" || one.host == "0.0.0.0";
        if (!everywhere) add(one);
        for (const std::string& host : host_addresses) {
            if (!everywhere) break;
            // `[::]` takes IPv4 as well, `0.0.0.0` no IPv6.
            if (one.host == "::" || host.find(':') == std::string::npos) add({.host = host, .port = one.port});
        }
    }
    return all;
}

}  // namespace rhizome::node
