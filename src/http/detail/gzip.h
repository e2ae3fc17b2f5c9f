// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rhizome::http::detail {

/// Compresses piece by piece, so that a large answer neither stops a thread for long nor is held twice.
class Gzip {
public:
    Gzip();
    ~Gzip();
    Gzip(const Gzip&) = delete;
    Gzip& operator=(const Gzip&) = delete;

    /// What is ready after `piece`; with `last`, everything. May be empty.
    std::string add(std::string_view piece, bool last);

private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

/// The whole of a compressed text; `Exhausted` beyond `bytes_max`, since a kilobyte can unfold into a megabyte.
Result<std::string> gunzip(std::string_view packed, std::size_t bytes_max);

}  // namespace rhizome::http::detail
