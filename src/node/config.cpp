// SPDX-License-Identifier: Apache-2.0
#include "node/config.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "base/ensure.h"
#include "base/similar.h"
#include "base/yaml.h"
#include "runtime/files.h"

namespace rhizome::node {
namespace {

constexpr std::size_t kUrlBytesMax = 2'048;

constexpr std::string_view kResourceNames[] = {"cpu", "memory", "ephemeral-storage", "pods"};

// Clang-format would make a column of every word.
// clang-format off
constexpr Setting kSettings[] = {
    {.key = "listen", .type = SettingType::Addresses, .fallback = "[::]:7700", .otherwise = "", .variable = "RHIZOME_LISTEN",
     .flag = "listen", .value_name = "ADDRESS", .choices = "",
     .doc = "where other nodes reach this one; none for nowhere"},
    {.key = "peers", .type = SettingType::Addresses, .fallback = "", .otherwise = "none", .variable = "RHIZOME_PEERS",
     .flag = "peer", .value_name = "ADDRESS", .choices = "",
     .doc = "nodes to link to besides those that the chain, the LAN and others know; names are resolved again and again"},
    {.key = "advertise", .type = SettingType::Addresses, .fallback = "", .otherwise = "this machine's own addresses",
     .variable = "RHIZOME_ADVERTISE", .flag = "advertise", .value_name = "ADDRESS", .choices = "",
     .doc = "what this node tells others to dial, for machines behind a translated address"},
    {.key = "lanDiscovery", .type = SettingType::Switch, .fallback = "true", .otherwise = "", .variable = "RHIZOME_LAN_DISCOVERY",
     .flag = "no-lan-discovery", .value_name = "", .choices = "",
     .doc = "find members of the same cluster on the local network by signed beacons"},
    {.key = "links.outbound", .type = SettingType::Whole, .fallback = "8", .otherwise = "", .variable = "RHIZOME_LINKS_OUTBOUND",
     .flag = "links-outbound", .value_name = "N", .choices = "", .least = 1, .most = 128,
     .doc = "links that this node makes itself"},
    {.key = "links.inboundMax", .type = SettingType::Whole, .fallback = "64", .otherwise = "",
     .variable = "RHIZOME_LINKS_INBOUND_MAX", .flag = "links-inbound-max", .value_name = "N", .choices = "",
     .least = 0, .most = 4'096, .doc = "links that others may make to this node"},
    {.key = "rpc.listen", .type = SettingType::Addresses, .fallback = "127.0.0.1:7701", .otherwise = "",
     .variable = "RHIZOME_RPC_LISTEN", .flag = "rpc-listen", .value_name = "ADDRESS", .choices = "",
     .doc = "where commands with --node ask this one, over TLS; none for the local socket only; the default does without "
            "where that port is taken"},
    {.key = "metrics.listen", .type = SettingType::Addresses, .fallback = "", .otherwise = "none",
     .variable = "RHIZOME_METRICS_LISTEN", .flag = "metrics-listen", .value_name = "ADDRESS", .choices = "",
     .doc = "where Prometheus reads /metrics, in clear and unsigned: for networks that only you can reach"},
    {.key = "role", .type = SettingType::Choice, .fallback = "member", .otherwise = "", .variable = "RHIZOME_ROLE", .flag = "role",
     .value_name = "ROLE", .choices = "member|observer|watchtower",
     .doc = "what this node does: a member seals and votes, an observer keeps a full copy and does neither, a watchtower "
            "is an observer that watches over the members"},
    {.key = "watch.bound", .type = SettingType::Whole, .fallback = "1000", .otherwise = "", .variable = "RHIZOME_WATCH_BOUND",
     .flag = "watch-bound", .value_name = "MS", .choices = "", .least = 10, .most = 600'000,
     .doc = "of a watchtower: what was broadcast so many milliseconds before a block's time belongs into it"},
    {.key = "watch.webhook", .type = SettingType::Url, .fallback = "", .otherwise = "nobody is told besides log and metrics",
     .variable = "RHIZOME_WATCH_WEBHOOK", .flag = "watch-webhook", .value_name = "URL", .choices = "",
     .doc = "of a watchtower: where alerts are posted as JSON"},
    {.key = "cosign.rules", .type = SettingType::Path, .fallback = "", .otherwise = "nothing is co-signed",
     .variable = "RHIZOME_COSIGN_RULES", .flag = "cosign-rules", .value_name = "FILE", .choices = "",
     .doc = "of an observer or watchtower: what it puts its signature under when asked"},
    {.key = "api.listen", .type = SettingType::Addresses, .fallback = "127.0.0.1:6443", .otherwise = "",
     .variable = "RHIZOME_API_LISTEN", .flag = "api-listen", .value_name = "ADDRESS", .choices = "",
     .doc = "where kubectl asks this node, over TLS; none for nowhere; the default does without where that port is taken"},
    {.key = "api.tokenFile", .type = SettingType::Path, .fallback = "", .otherwise = "client certificates only",
     .variable = "RHIZOME_API_TOKEN_FILE", .flag = "api-token-file", .value_name = "FILE", .choices = "",
     .doc = "tokens that the Kubernetes API knows, a line for each: token,user,uid,\"groups\""},
    {.key = "api.auditLog", .type = SettingType::Path, .fallback = "", .otherwise = "none is kept",
     .variable = "RHIZOME_API_AUDIT_LOG", .flag = "api-audit-log", .value_name = "FILE", .choices = "",
     .doc = "where the Kubernetes API writes down who asked for what, a line of JSON for each request, without what was "
            "sent or answered"},
    {.key = "api.auditLogSize", .type = SettingType::Bytes, .fallback = "64Mi", .otherwise = "",
     .variable = "RHIZOME_API_AUDIT_LOG_SIZE", .flag = "api-audit-log-size", .value_name = "SIZE", .choices = "",
     .least = 64u << 10, .most = 1ull << 40, .doc = "an audit log of this size is put aside and a new one begun"},
    {.key = "api.auditLogFiles", .type = SettingType::Whole, .fallback = "4", .otherwise = "",
     .variable = "RHIZOME_API_AUDIT_LOG_FILES", .flag = "api-audit-log-files", .value_name = "N", .choices = "",
     .least = 1, .most = 100, .doc = "audit logs that are kept, the present one included"},
    {.key = "mine", .type = SettingType::Whole, .fallback = "20", .otherwise = "", .variable = "RHIZOME_MINE", .flag = "mine",
     .value_name = "PERCENT", .choices = "", .least = 0, .most = 100,
     .doc = "percent of one core that look for blocks on a chain of work"},
    {.key = "agent", .type = SettingType::Switch, .fallback = "true", .otherwise = "", .variable = "RHIZOME_AGENT",
     .flag = "no-agent", .value_name = "", .choices = "",
     .doc = "host pods; a member without an agent keeps the chain and answers, nothing else"},
    {.key = "capacity", .type = SettingType::Resources, .fallback = "", .otherwise = "what the machine has",
     .variable = "RHIZOME_CAPACITY", .flag = "capacity", .value_name = "RESOURCES", .choices = "",
     .doc = "what the machine is said to have, as in cpu=4,memory=8Gi,pods=110"},
    {.key = "allocatable", .type = SettingType::Resources, .fallback = "", .otherwise = "the capacity",
     .variable = "RHIZOME_ALLOCATABLE", .flag = "allocatable", .value_name = "RESOURCES", .choices = "",
     .doc = "how much of the capacity pods may use, written alike"},
    {.key = "log.level", .type = SettingType::Choice, .fallback = "info", .otherwise = "", .variable = "RHIZOME_LOG_LEVEL",
     .flag = "log-level", .value_name = "LEVEL", .choices = "error|warn|info|debug",
     .doc = "how much is logged"},
    {.key = "log.format", .type = SettingType::Choice, .fallback = "auto", .otherwise = "", .variable = "RHIZOME_LOG_FORMAT",
     .flag = "log-format", .value_name = "FORMAT", .choices = "auto|text|json",
     .doc = "key=value lines for people or JSON lines for programs; auto: text on a terminal, else JSON"},
    {.key = "log.file", .type = SettingType::Path, .fallback = "", .otherwise = "stderr; of a node in the background DATA/node/log",
     .variable = "RHIZOME_LOG_FILE", .flag = "log-file", .value_name = "FILE", .choices = "",
     .doc = "where the log goes"},
    {.key = "log.fileSize", .type = SettingType::Bytes, .fallback = "16Mi", .otherwise = "", .variable = "RHIZOME_LOG_FILE_SIZE",
     .flag = "log-file-size", .value_name = "SIZE", .choices = "", .least = 64u << 10, .most = 1ull << 40,
     .doc = "a log file of this size is put aside and a new one begun"},
    {.key = "log.files", .type = SettingType::Whole, .fallback = "4", .otherwise = "", .variable = "RHIZOME_LOG_FILES",
     .flag = "log-files", .value_name = "N", .choices = "", .least = 1, .most = 100,
     .doc = "log files that are kept, the present one included"},
};
// clang-format on

const Setting* find_setting(std::string_view key) {
    for (const Setting& one : kSettings)
        if (one.key == key) return &one;
    return nullptr;
}

std::vector<std::string> split(std::string_view text, char at) {
    std::vector<std::string> parts;
    for (;;) {
        const std::size_t end = text.find(at);
        if (const auto part = text.substr(0, end); !part.empty()) parts.emplace_back(part);
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::optional<std::uint64_t> whole(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

std::optional<stream::Address> address_from(const Setting& setting, std::string_view text) {
    auto address = stream::Address::parse(text);
    const std::uint16_t port = setting.key == "rpc.listen"       ? kRpcPort
                               : setting.key == "metrics.listen" ? kMetricsPort
                               : setting.key == "api.listen"     ? kApiPort
                                                                 : kPeerPort;
    if (!address) address = stream::Address::parse(fmt::format("{}:{}", text, port));
    if (!address || address->is_local) return std::nullopt;
    return *address;
}

/// Nobody is asked what a name means before there is a node to ask for.
bool is_number(const std::string& host) {
    in6_addr bytes{};
    return ::inet_pton(AF_INET, host.c_str(), &bytes) == 1 || ::inet_pton(AF_INET6, host.c_str(), &bytes) == 1;
}

std::optional<std::uint64_t> resource_amount(std::string_view name, std::string_view text) {
    if (name == "cpu") return parse_cpu(text);
    if (name == "pods") return whole(text);
    return parse_bytes(text);
}

/// What is wanted instead, when the value does not do; empty when it does.
std::string what_is_wrong(const Setting& setting, const std::string& value) {
    switch (setting.type) {
        case SettingType::Switch: return value == "true" || value == "false" ? "" : "true or false is wanted";
        case SettingType::Whole: {
            const auto number = whole(value);
            if (number && *number >= setting.least && *number <= setting.most) return "";
            return fmt::format("a whole number from {} to {} is wanted", setting.least, setting.most);
        }
        case SettingType::Bytes: {
            const auto size = parse_bytes(value);
            if (size && *size >= setting.least && *size <= setting.most) return "";
            return fmt::format("a size of at least {} bytes is wanted, such as {}", setting.least, setting.fallback);
        }
        case SettingType::Choice: {
            const auto words = setting.choice_words();
            if (std::find(words.begin(), words.end(), value) != words.end()) return "";
            std::string wanted = "one of ";
            for (const std::string& word : words) wanted += (word == words.front() ? "" : ", ") + word;
            const auto meant = did_you_mean(nearest(value, words));
            return wanted + " is wanted" + (meant.empty() ? "" : "\n" + meant);
        }
        case SettingType::Path: return "";  // whether it can be opened is found out by opening it
        case SettingType::Url:
            if ((value.starts_with("http://") || value.starts_with("https://")) && value.size() <= kUrlBytesMax)
                return "";
            return "an address that begins with http:// or https:// is wanted";
        case SettingType::Addresses:
            if (setting.key.ends_with("listen")) {
                const auto address = address_from(setting, value);
                // `fd:N` is a socket that whoever started this process has made (stream/tcp.h).
                if (value == "none" || (address && (is_number(address->host) || address->host == "fd"))) return "";
                return "an address of this machine in numbers is wanted, as in 10.0.0.7:7700 or [::]:7700; or none";
            }
            if (address_from(setting, value)) return "";
            return "host:port is wanted, as in 10.0.0.7:7700, node.example.org or [fe80::1]:7700";
        case SettingType::Resources: {
            const std::size_t equals = value.find('=');
            const std::string name = value.substr(0, equals);
            const std::vector<std::string> names{std::begin(kResourceNames), std::end(kResourceNames)};
            if (std::find(names.begin(), names.end(), name) == names.end()) {
                const auto meant = did_you_mean(nearest(name, names));
                return "cpu, memory, ephemeral-storage and pods are known" + (meant.empty() ? "" : "\n" + meant);
            }
            if (equals != std::string::npos && resource_amount(name, value.substr(equals + 1))) return "";
            return "a quantity is wanted, as in cpu=500m, memory=8Gi or pods=110";
        }
    }
    unreachable("a SettingType is one of these");
}

/// A value from a stranger's file, short and without surprises for a terminal.
std::string shown(std::string_view value) { return json::quote(value.substr(0, 80)); }

Result<void> check(const Setting& setting, const Held& held, ErrorKind kind) {
    for (const std::string& value : held.values)
        if (const std::string wrong = what_is_wrong(setting, value); !wrong.empty())
            return fail(kind, fmt::format("{}: {} cannot be {}: {}", held.where, setting.key, shown(value), wrong));
    return ok();
}

std::optional<std::string> scalar_text(const json::Value& value) {
    if (const std::string* text = value.if_string()) return *text;
    if (const json::Number* number = value.if_number()) return number->text();
    if (const auto boolean = value.if_boolean()) return *boolean ? "true" : "false";
    return std::nullopt;
}

/// The values that the file's member says, as a flag would say them; nothing when it has another form.
std::optional<std::vector<std::string>> values_in_file(const Setting& setting, const json::Value& value) {
    std::vector<std::string> values;
    if (setting.type == SettingType::Resources) {
        if (!value.is_object()) return std::nullopt;
        for (const auto& [name, amount] : *value.if_object()) {
            const auto text = scalar_text(amount);
            if (!text) return std::nullopt;
            values.push_back(name + "=" + *text);
        }
        return values;
    }
    if (setting.type == SettingType::Addresses && value.is_array()) {
        for (const json::Value& one : *value.if_array()) {
            const auto text = scalar_text(one);
            if (!text) return std::nullopt;
            values.push_back(*text);
        }
        return values;
    }
    const auto text = scalar_text(value);
    if (!text) return std::nullopt;
    return std::vector{*text};
}

/// Reads the members of one map of the file; `way` is where it stands.
class FileReader {
public:
    FileReader(const ConfigFile& file, const yaml::Located& read, std::map<std::string, Held, std::less<>>& into)
        : file_(file), read_(read), into_(into) {}

    Result<void> take(const json::Object& map, const std::string& way) {
        for (const auto& [name, value] : map) {
            const std::string key = way.empty() ? name : way + "." + name;
            const Setting* setting = find_setting(key);
            if (setting == nullptr && is_map(key)) {
                if (value.is_null()) continue;
                if (!value.is_object())
                    return fail(ErrorKind::Invalid,
                                fmt::format("{}: {} has settings below it: they stand on lines of their own, indented",
                                            place(key), key));
                TRY(take(*value.if_object(), key));
                continue;
            }
            if (setting == nullptr) return unknown(key);
            if (value.is_null()) continue;  // `peers:` with nothing behind it
            auto values = values_in_file(*setting, value);
            if (!values)
                return fail(ErrorKind::Invalid,
                            fmt::format("{}: {} has another form than a {} has\n'rhizome config schema' shows it",
                                        place(key), key,
                                        setting->type == SettingType::Addresses   ? "list of addresses"
                                        : setting->type == SettingType::Resources ? "map of resources"
                                                                                  : "single value"));
            Held held{std::move(*values), Origin::File, place(key)};
            TRY(check(*setting, held, ErrorKind::Invalid));
            into_.insert_or_assign(key, std::move(held));
        }
        return ok();
    }

private:
    [[nodiscard]] static bool is_map(const std::string& key) {
        return std::any_of(std::begin(kSettings), std::end(kSettings),
                           [&](const Setting& one) { return one.key.starts_with(key + "."); });
    }
    [[nodiscard]] std::string place(const std::string& key) const {
        const auto line = read_.lines.find(key);
        return line == read_.lines.end() ? file_.name : fmt::format("{} line {}", file_.name, line->second);
    }
    [[nodiscard]] Fail<Error> unknown(const std::string& key) const {
        std::vector<std::string> keys;
        for (const Setting& one : kSettings) keys.emplace_back(one.key);
        const auto meant = did_you_mean(nearest(key, keys));
        return fail(ErrorKind::Invalid, fmt::format("{}: there is no setting {}{}\n'rhizome config schema' lists all",
                                                    place(key), shown(key), meant.empty() ? "" : "\n" + meant));
    }

    const ConfigFile& file_;
    const yaml::Located& read_;
    std::map<std::string, Held, std::less<>>& into_;
};

Result<void> take_file(const ConfigFile& file, std::map<std::string, Held, std::less<>>& into) {
    constexpr json::Limits kLimits{.bytes = kConfigBytesMax, .depth = 8};
    auto documents = yaml::parse_all(file.text, kLimits);
    if (!documents) return Fail{with_context(file.name, documents.error())};
    if (documents->empty()) return ok();  // nothing but comments
    auto read = yaml::parse_located(file.text, kLimits);
    if (!read) return Fail{with_context(file.name, read.error())};
    if (!read->value.is_object())
        return fail(ErrorKind::Invalid, fmt::format("{}: holds no settings: lines such as 'mine: 20' are wanted\n"
                                                    "'rhizome config schema' prints a file to begin with",
                                                    file.name));
    return FileReader{file, *read, into}.take(*read->value.if_object(), "");
}

/// Of flags and variables: lists are separated by commas, switches are words.
std::vector<std::string> values_of_text(const Setting& setting, std::string_view text) {
    if (setting.type == SettingType::Addresses || setting.type == SettingType::Resources) return split(text, ',');
    return {std::string{text}};
}

}  // namespace

std::vector<std::string> Setting::choice_words() const { return split(choices, '|'); }

std::string Setting::default_text() const {
    return fmt::format("default: {}", fallback.empty() ? otherwise : fallback);
}

std::span<const Setting> settings() { return kSettings; }

Result<std::optional<ConfigFile>> find_config_file(const std::filesystem::path& data,
                                                   const std::optional<std::string>& named) {
    if (named) {
        TRY(auto text, runtime::read_file(*named, kConfigBytesMax));
        return std::optional<ConfigFile>{{*named, std::move(text)}};
    }
    for (const std::filesystem::path& place :
         {data / "config.yaml", std::filesystem::path{"/etc/rhizome/config.yaml"}}) {
        auto text = runtime::read_file(place, kConfigBytesMax);
        if (text) return std::optional<ConfigFile>{{place.native(), *std::move(text)}};
        // One that is there and cannot be read is no reason to run with other settings than those in it.
        if (text.error().kind != ErrorKind::NotFound) return Fail{std::move(text).error()};
    }
    return std::optional<ConfigFile>{};
}

Result<Config> Config::resolve(const ConfigSources& sources) {
    Config config;
    for (const Setting& setting : kSettings)
        config.held_.emplace(setting.key, Held{setting.fallback.empty() ? std::vector<std::string>{}
                                                                        : values_of_text(setting, setting.fallback),
                                               Origin::Default, "default"});
    if (sources.file) TRY(take_file(*sources.file, config.held_));
    for (const Setting& setting : kSettings) {
        Held& held = config.held_.find(setting.key)->second;
        if (const auto variable = sources.environment.find_filled(setting.variable)) {
            held = {values_of_text(setting, *variable), Origin::Variable, std::string{setting.variable}};
            TRY(check(setting, held, ErrorKind::Usage));
        }
        const auto flag = sources.flags.find(setting.flag);
        if (flag == sources.flags.end() || flag->second.empty()) continue;
        held = {{}, Origin::Flag, fmt::format("--{}", setting.flag)};
        if (setting.type == SettingType::Switch) {
            held.values = {"false"};
        } else {
            for (const std::string& text : flag->second)
                for (std::string& value : values_of_text(setting, text)) held.values.push_back(std::move(value));
        }
        TRY(check(setting, held, ErrorKind::Usage));
    }
    return config;
}

const Held& Config::held(std::string_view key) const {
    const auto found = held_.find(key);
    ensure(found != held_.end(), "a setting that is asked for is in the table");
    return found->second;
}

bool Config::is_on(std::string_view key) const { return text(key) == "true"; }

std::uint64_t Config::number(std::string_view key) const {
    const auto value = parse_bytes(text(key));
    ensure(value.has_value(), "a number was checked when it was read");
    return *value;
}

std::string Config::text(std::string_view key) const {
    const Held& found = held(key);
    return found.values.empty() ? "" : found.values.back();
}

std::vector<stream::Address> Config::addresses(std::string_view key) const {
    std::vector<stream::Address> all;
    for (const std::string& value : held(key).values)
        if (const auto address = address_from(*find_setting(key), value); address && value != "none")
            all.push_back(*address);
    return all;
}

std::map<std::string, std::uint64_t> Config::resources(std::string_view key) const {
    std::map<std::string, std::uint64_t> all;
    for (const std::string& value : held(key).values) {
        const std::size_t equals = value.find('=');
        const std::string name = value.substr(0, equals);
        all[name] = resource_amount(name, value.substr(equals + 1)).value_or(0);
    }
    return all;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
    constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {
        {"Ki", 1ull << 10}, {"Mi", 1ull << 20}, {"Gi", 1ull << 30},   {"Ti", 1ull << 40},
        {"k", 1'000},       {"M", 1'000'000},   {"G", 1'000'000'000}, {"T", 1'000'000'000'000}};
    std::uint64_t unit = 1;
    for (const auto& [name, bytes] : kUnits) {
        if (!text.ends_with(name)) continue;
        unit = bytes;
        text.remove_suffix(name.size());
        break;
    }
    const auto number = whole(text);
    if (!number || *number > UINT64_MAX / unit) return std::nullopt;
    return *number * unit;
}

std::optional<std::uint64_t> parse_cpu(std::string_view text) {
    constexpr std::uint64_t kCoresMax = 1'000'000;
    if (text.ends_with('m')) {
        const auto millis = whole(text.substr(0, text.size() - 1));
        return millis && *millis <= kCoresMax * 1'000 ? millis : std::nullopt;
    }
    const std::size_t dot = text.find('.');
    const auto cores = whole(text.substr(0, dot));
    if (!cores || *cores > kCoresMax) return std::nullopt;
    if (dot == std::string_view::npos) return *cores * 1'000;
    std::string fraction{text.substr(dot + 1)};
    if (fraction.empty() || fraction.size() > 3) return std::nullopt;  // finer than a thousandth is nothing
    fraction.append(3 - fraction.size(), '0');
    const auto millis = whole(fraction);
    if (!millis) return std::nullopt;
    return *cores * 1'000 + *millis;
}

}  // namespace rhizome::node
