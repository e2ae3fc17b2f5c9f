// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/json.h"
#include "cluster/kinds.h"

/// A kind that is served in several versions has one document, written in whichever version its author used. It is
/// shown in the version that a reader asks for:
///
///  - HorizontalPodAutoscaler `autoscaling/v1` and `v2`: the share of CPU against the list of metrics;
///  - Event of the core group and of `events.k8s.io`: the same facts under two sets of names.
namespace rhizome::cluster {

/// `object` in the words of `to`, whatever version of the same kind it is in; that one stays as it is. What the older
/// version has no word for goes into annotations and comes back from there.
void convert(json::Value& object, const Kind& to);

/// The group under whose name documents of this kind are kept: two groups share their events.
std::string_view kept_group(const Kind& kind);

}  // namespace rhizome::cluster
