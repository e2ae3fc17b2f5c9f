// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/request.h"
#include "base/time.h"

/// What the API did, in figures under the names that Kubernetes has for them, so that dashboards made for it work:
/// `apiserver_request_total`, `apiserver_request_duration_seconds`, `apiserver_current_inflight_requests`,
/// `apiserver_longrunning_requests`, `apiserver_audit_event_total`, `apiserver_audit_error_total`.
namespace rhizome::api {

/// What one request counts under.
struct RequestLabels {
    std::string verb{};   ///< `GET`, `LIST`, `WATCH`, `POST`, `PUT`, `PATCH`, `APPLY`, `DELETE`, `DELETECOLLECTION`
    std::string group{};  ///< of kinds that are known; empty for other paths, which strangers may invent
    std::string version{};
    std::string resource{};
    std::string subresource{};
    std::string scope{};  ///< `resource`: one object; `namespace`, `cluster`: a list, or a creation
    bool dry_run = false;

    /// `component="apiserver",dry_run="",…`, by name.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool is_mutating() const;
    [[nodiscard]] bool is_long() const { return verb == "WATCH" || verb == "CONNECT"; }
};
/// Of a request for a kind that is known. `media` of its body tells an apply from other patches.
RequestLabels labels_of(Verb verb, const ResourcePath& path, std::string_view media, bool dry_run);
/// Of any other.
RequestLabels labels_of(std::string_view method);

/// Confined to whoever holds it.
class RequestMetrics {
public:
    /// More kinds of requests than these are counted together, so that nobody can make it grow: 60 kinds × 12 verbs and
    /// subresources in use, and as many custom ones.
    static constexpr std::size_t kSeriesMax = 2'048;

    void begin(const RequestLabels& labels);
    /// Once for every `begin`, with the same labels.
    void end(const RequestLabels& labels, unsigned code, microseconds took);
    /// One that was begun was begun under other labels than its own.
    void drop(const RequestLabels& labels);
    void audited(bool written) { ++(written ? audit_events_ : audit_errors_); }

    /// In Prometheus's text format.
    [[nodiscard]] std::string text() const;

    /// Upper bounds of the histogram in milliseconds: those of kube-apiserver.
    static constexpr std::array<std::uint32_t, 23> kBounds{5,     25,     50,     100,    200,    400,    600,   800,
                                                           1'000, 1'250,  1'500,  2'000,  3'000,  4'000,  5'000, 6'000,
                                                           8'000, 10'000, 15'000, 20'000, 30'000, 45'000, 60'000};

private:
    struct Series {
        std::map<unsigned, std::uint64_t> codes{};
        std::array<std::uint64_t, kBounds.size() + 1> buckets{};  ///< each by itself, the last beyond all bounds
        std::uint64_t count = 0;
        std::uint64_t micros = 0;
        std::uint64_t open = 0;  ///< of long ones: under way
        bool is_long = false;
    };
    Series& series_of(const RequestLabels& labels);

    std::map<std::string, Series, std::less<>> series_{};
    std::uint64_t reading_ = 0;
    std::uint64_t changing_ = 0;
    std::uint64_t audit_events_ = 0;
    std::uint64_t audit_errors_ = 0;
};

}  // namespace rhizome::api
