// SPDX-License-Identifier: Apache-2.0
#include "api/request_metrics.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"

namespace rhizome::api {
namespace {

std::string_view metric_verb(Verb verb, std::string_view media) {
    switch (verb) {
        case Verb::Get: return "GET";
        case Verb::List: return "LIST";
        case Verb::Watch: return "WATCH";
        case Verb::Create: return "POST";
        case Verb::Update: return "PUT";
        case Verb::Patch: return media.starts_with("application/apply-patch") ? "APPLY" : "PATCH";
        case Verb::Delete: return "DELETE";
        case Verb::DeleteCollection: return "DELETECOLLECTION";
    }
    unreachable("a Verb is one of eight");
}

/// What a label may hold: names of kinds and subresources have none of these, but nobody should have to know.
std::string label_text(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, 128)) out += c == '"' || c == '\\' || c == '\n' ? '_' : c;
    return out;
}

/// Seconds as a decimal number.
std::string seconds_text(std::uint64_t micros) {
    return fmt::format("{}.{:06}", micros / 1'000'000, micros % 1'000'000);
}

/// 25 ms as `0.025`, 1,250 ms as `1.25`, 60 s as `60`.
std::string bound_text(std::uint32_t millis) {
    std::string text = fmt::format("{}.{:03}", millis / 1'000, millis % 1'000);
    while (text.ends_with('0')) text.pop_back();
    if (text.ends_with('.')) text.pop_back();
    return text;
}

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
    out += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

}  // namespace

std::string RequestLabels::text() const {
    return fmt::format(
        R"(component="apiserver",dry_run="{}",group="{}",resource="{}",scope="{}",subresource="{}",verb="{}",version="{}")",
        dry_run ? "All" : "", label_text(group), label_text(resource), scope, label_text(subresource), verb,
        label_text(version));
}

bool RequestLabels::is_mutating() const {
    return verb != "GET" && verb != "LIST" && verb != "WATCH" && verb != "HEAD" && verb != "OPTIONS";
}

RequestLabels labels_of(Verb verb, const ResourcePath& path, std::string_view media, bool dry_run) {
    return {.verb = std::string{metric_verb(verb, media)},
            .group = path.group,
            .version = path.version,
            .resource = path.resource,
            .subresource = path.subresource,
            .scope = !path.name.empty()        ? "resource"
                     : path.name_space.empty() ? "cluster"
                                               : "namespace",
            .dry_run = dry_run};
}

RequestLabels labels_of(std::string_view method) {
    constexpr std::string_view kKnown[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
    const bool known = std::find(std::begin(kKnown), std::end(kKnown), method) != std::end(kKnown);
    return {.verb = known ? std::string{method} : std::string{"other"}};
}

RequestMetrics::Series& RequestMetrics::series_of(const RequestLabels& labels) {
    const std::string text = labels.text();
    if (const auto at = series_.find(text); at != series_.end()) return at->second;
    if (series_.size() < kSeriesMax) return series_[text];
    RequestLabels others;
    others.verb = labels.verb;
    return series_[others.text()];
}

void RequestMetrics::begin(const RequestLabels& labels) {
    if (labels.is_long()) {
        Series& series = series_of(labels);
        series.is_long = true;
        ++series.open;
    } else {
        ++(labels.is_mutating() ? changing_ : reading_);
    }
}

void RequestMetrics::drop(const RequestLabels& labels) {
    if (labels.is_long()) {
        --series_of(labels).open;
    } else {
        --(labels.is_mutating() ? changing_ : reading_);
    }
}

void RequestMetrics::end(const RequestLabels& labels, unsigned code, microseconds took) {
    Series& series = series_of(labels);
    ++series.codes[code];
    drop(labels);
    if (labels.is_long()) return;
    const auto micros = static_cast<std::uint64_t>(std::max<std::int64_t>(took.count(), 0));
    const auto bound =
        std::lower_bound(kBounds.begin(), kBounds.end(), micros,
                         [](std::uint64_t millis, std::uint64_t value) { return millis * 1'000 < value; });
    ++series.buckets[static_cast<std::size_t>(bound - kBounds.begin())];
    ++series.count;
    series.micros += micros;
}

std::string RequestMetrics::text() const {
    std::string out;
    head(out, "apiserver_current_inflight_requests", "gauge",
         "Requests under way, by whether they may change something; long-running ones are not among them.");
    out += fmt::format("apiserver_current_inflight_requests{{request_kind=\"mutating\"}} {}\n", changing_);
    out += fmt::format("apiserver_current_inflight_requests{{request_kind=\"readOnly\"}} {}\n", reading_);
    head(out, "apiserver_longrunning_requests", "gauge", "Long-running requests under way, as watches are.");
    for (const auto& [labels, series] : series_)
        if (series.is_long) out += fmt::format("apiserver_longrunning_requests{{{}}} {}\n", labels, series.open);
    head(out, "apiserver_request_total", "counter",
         "Requests that were answered, by what they asked for and the code.");
    for (const auto& [labels, series] : series_)
        for (const auto& [code, count] : series.codes)
            out += fmt::format("apiserver_request_total{{code=\"{}\",{}}} {}\n", code, labels, count);
    head(out, "apiserver_request_duration_seconds", "histogram", "How long requests took, long-running ones left out.");
    for (const auto& [labels, series] : series_) {
        if (series.count == 0) continue;
        std::uint64_t below = 0;
        for (std::size_t i = 0; i < kBounds.size(); ++i) {
            below += series.buckets[i];
            out += fmt::format("apiserver_request_duration_seconds_bucket{{{},le=\"{}\"}} {}\n", labels,
                               bound_text(kBounds[i]), below);
        }
        out += fmt::format("apiserver_request_duration_seconds_bucket{{{},le=\"+Inf\"}} {}\n", labels, series.count);
        out += fmt::format("apiserver_request_duration_seconds_sum{{{}}} {}\n", labels, seconds_text(series.micros));
        out += fmt::format("apiserver_request_duration_seconds_count{{{}}} {}\n", labels, series.count);
    }
    head(out, "apiserver_audit_event_total", "counter", "Lines of the audit log that were written.");
    out += fmt::format("apiserver_audit_event_total {}\n", audit_events_);
    head(out, "apiserver_audit_error_total", "counter", "Lines of the audit log that could not be written.");
    out += fmt::format("apiserver_audit_error_total{{plugin=\"log\"}} {}\n", audit_errors_);
    return out;
}

}  // namespace rhizome::api
