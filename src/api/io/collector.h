// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "api/io/front.h"
#include "stream/strand.h"

namespace rhizome::api {

/// Does what deletions leave to be done (`cluster/garbage.h`), with the keys of this machine: dependents of what is
/// gone, references to it, the contents of namespaces that end.
///
/// On every node; the one that an object belongs to by `cluster/ownership.h` acts at once, the next a while later if it
/// is still to be done then: not every machine has a key for it. What two do is done once, since a version is replaced
/// once.
class Collector {
public:
    /// `patience`: of one change, the signature and the block with it; after it the change is tried again.
    Collector(SharedService service, const stream::Strand& strand, std::string patience = "20s");
    /// Returns when it has ended. Not from a task.
    ~Collector();
    Collector(const Collector&) = delete;
    Collector& operator=(const Collector&) = delete;

    /// Who signs, as the API shows it.
    static constexpr std::string_view kUser = "system:garbage-collector";

private:
    struct Inside;
    std::shared_ptr<Inside> inside_;
};

}  // namespace rhizome::api
