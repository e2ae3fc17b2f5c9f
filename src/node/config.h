// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/environment.h"
#include "stream/address.h"

/// What an operator may set of a node, in one table. The command line's options, the environment variables, the file's
/// keys, `rhizome config` and docs/operating/configuration.md all follow from it; a setting is added by adding a row.
///
/// A flag wins over the environment, that over the file, that over the default. What nobody knows is an error that
/// says where it stands and which name comes nearest: a misspelt setting must not silently stay at its default.
namespace rhizome::node {

enum class SettingType : std::uint8_t {
    Switch,     ///< true or false; true unless somebody says otherwise. Its flag is `--no-…` and takes no value
    Whole,      ///< a whole number
    Bytes,      ///< a size: `16Mi`, `500M`, `1048576`
    Choice,     ///< one of a few words
    Path,       ///< a file
    Url,        ///< `http://…` or `https://…`
    Addresses,  ///< any number of `host:port`; the port may be left out
    Resources,  ///< `cpu`, `memory`, `ephemeral-storage` and `pods` with quantities as Kubernetes writes them
};

struct Setting {
    std::string_view key;  ///< in the file; a dot stands for a map inside a map
    SettingType type;
    std::string_view fallback;    ///< as a flag would say it; empty: none
    std::string_view otherwise;   ///< what holds when there is no fallback
    std::string_view variable;    ///< in the environment
    std::string_view flag;        ///< without dashes
    std::string_view value_name;  ///< of the flag
    std::string_view choices;     ///< of a Choice: `text|json`
    std::uint64_t least = 0;      ///< of Whole and Bytes
    std::uint64_t most = 0;
    std::string_view doc;  ///< one sentence, without a full stop

    [[nodiscard]] std::vector<std::string> choice_words() const;
    /// `default: info`, `default: what the machine has`.
    [[nodiscard]] std::string default_text() const;
};
std::span<const Setting> settings();

/// Bytes of a file that are read at most: a hundred times what all settings take.
inline constexpr std::size_t kConfigBytesMax = 64u << 10;
/// Where links of nodes are listened for when an address names no port.
inline constexpr std::uint16_t kPeerPort = 7700;
/// The same for commands that ask a node over the network.
inline constexpr std::uint16_t kRpcPort = 7701;
/// The same for Prometheus.
inline constexpr std::uint16_t kMetricsPort = 7702;
/// The same for the Kubernetes API: where kubectl's users expect it.
inline constexpr std::uint16_t kApiPort = 6443;

struct ConfigFile {
    std::string name{};  ///< for errors
    std::string text{};
};
/// `DATA/config.yaml`, else `/etc/rhizome/config.yaml`; with `named` exactly that one, which then must exist. Nothing
/// when there is none.
Result<std::optional<ConfigFile>> find_config_file(const std::filesystem::path& data,
                                                   const std::optional<std::string>& named);

enum class Origin : std::uint8_t { Default, File, Variable, Flag };

/// A setting's value with where it comes from.
struct Held {
    std::vector<std::string> values{};  ///< checked; empty: nothing is set and there is no default
    Origin origin = Origin::Default;
    std::string where{};  ///< `/etc/rhizome/config.yaml line 3`, `RHIZOME_MINE`, `--mine`, `default`
};

struct ConfigSources {
    std::optional<ConfigFile> file{};
    runtime::Environment environment{};
    /// By the flag's name, those that were given; a switch that was given has any one value.
    std::map<std::string, std::vector<std::string>, std::less<>> flags{};
};

/// The settings of a node, checked. Asking for one that the table does not have is our own mistake.
class Config {
public:
    /// Touches nothing. Invalid for what the file says (Exhausted when it is nested or copies itself beyond the
    /// bounds), Usage for the rest; the sentence says where and what is wanted.
    static Result<Config> resolve(const ConfigSources& sources);

    [[nodiscard]] const Held& held(std::string_view key) const;
    [[nodiscard]] bool is_on(std::string_view key) const;
    [[nodiscard]] std::uint64_t number(std::string_view key) const;  ///< of Whole and Bytes
    [[nodiscard]] std::string text(std::string_view key) const;      ///< empty when nothing is set
    [[nodiscard]] std::vector<stream::Address> addresses(std::string_view key) const;
    /// By the resource's name: thousandths of a core for `cpu`, bytes or a count for the others.
    [[nodiscard]] std::map<std::string, std::uint64_t> resources(std::string_view key) const;

private:
    std::map<std::string, Held, std::less<>> held_{};
};

/// The table of docs/operating/configuration.md; a test compares.
std::string settings_markdown();
/// A file with every setting at its default, all in comments: what `rhizome config schema` prints.
std::string settings_template();

/// A size as Kubernetes and people write it: digits with `Ki`, `Mi`, `Gi`, `Ti`, `k`, `M`, `G`, `T` or nothing.
std::optional<std::uint64_t> parse_bytes(std::string_view text);
/// Thousandths of a core: `2`, `0.5`, `500m`.
std::optional<std::uint64_t> parse_cpu(std::string_view text);

}  // namespace rhizome::node
