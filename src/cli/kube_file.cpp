// SPDX-License-Identifier: Apache-2.0
#include "cli/kube_file.h"

#include "base/yaml.h"
#include "runtime/files.h"

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFileBytesMax = 4u << 20;

Result<fs::path> kubectl_file(const Console& console) {
    if (const auto list = console.environment.find_filled("KUBECONFIG"))
        return fs::path{list->substr(0, list->find(':'))};
    const auto home = console.environment.find_filled("HOME");
    if (!home) return fail(ErrorKind::Usage, "HOME is not set: say where the file goes with --out FILE");
    return fs::path{*home} / ".kube" / "config";
}

}  // namespace

Result<fs::path> write_kube_context(Console& console, const std::optional<std::string>& out,
                                    const api::KubeContext& context) {
    if (out && *out == "-") {
        TRY(const auto file, api::with_kube_context(nullptr, context));
        console.out << yaml::print(file);
        return fs::path{};
    }
    fs::path path;
    json::Value file;
    if (out) {
        path = *out;
    } else {
        TRY(path, kubectl_file(console));
        if (const auto text = runtime::read_file(path, kFileBytesMax)) {
            auto parsed = yaml::parse(*text);
            if (!parsed) return Fail{with_context(path.native(), parsed.error())};
            file = *std::move(parsed);
        } else if (text.error().kind != ErrorKind::NotFound) {
            return Fail{text.error()};
        }
    }
    auto merged = api::with_kube_context(std::move(file), context);
    if (!merged) return Fail{with_context(path.native(), merged.error())};
    if (path.has_parent_path()) TRY(runtime::make_folder(path.parent_path(), 0700));
    TRY(runtime::replace_file(path, yaml::print(*merged), 0600));
    return path;
}

}  // namespace rhizome::cli
