// SPDX-License-Identifier: Apache-2.0
// Any file gives settings that can be asked for, or an error that names the file.
#include "base/bytes.h"
#include "base/ensure.h"
#include "node/config.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(config_fuzz) {
    node::ConfigSources sources;
    sources.file = node::ConfigFile{"config.yaml", std::string{as_text({data, size})}};
    const auto config = node::Config::resolve(sources);
    if (!config) {
        const ErrorKind kind = config.error().kind;
        ensure(kind == ErrorKind::Invalid || kind == ErrorKind::Exhausted,
               "a bad file is Invalid, or beyond the bounds");
        ensure(config.error().message.find("config.yaml") != std::string::npos, "an error names the file");
        return 0;
    }
    for (const node::Setting& one : node::settings()) {
        switch (one.type) {
            case node::SettingType::Whole:
            case node::SettingType::Bytes:
                ensure(config->number(one.key) >= one.least && config->number(one.key) <= one.most,
                       "a number is in its bounds");
                break;
            case node::SettingType::Addresses: (void)config->addresses(one.key); break;
            case node::SettingType::Resources: (void)config->resources(one.key); break;
            default: (void)config->text(one.key); break;
        }
    }
    return 0;
}
