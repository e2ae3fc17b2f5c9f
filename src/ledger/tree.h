// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ledger/block.h"
#include "ledger/reject.h"

namespace rhizome::ledger {

/// All headers this node knows, as the tree they form: which chain is best is consensus' question, how to get from one
/// block to another is answered here.
///
/// Knows nothing below its root (genesis, or the block a snapshot began with, later the newest final block that was
/// pruned to). Confined to the core strand; pointers to nodes are good until that node is pruned.
class HeaderTree {
public:
    struct Node {
        Header header;
        BlockHash hash;
        const Node* parent = nullptr;  ///< null for the root
        const Node* skip = nullptr;    ///< a far ancestor: any ancestor is found in O(log n) steps
        std::uint32_t children = 0;
    };

    explicit HeaderTree(const Header& root);

    /// Adds a header whose parent is known and whose height and time follow from it. Adding a known one gives it again.
    Result<const Node*, Reject> insert(const Header& header);

    /// Adds the headers below the root, the root's parent first; the last of them is the root from then on.
    Result<void, Reject> deepen(std::span<const Header> older);

    [[nodiscard]] const Node* find(const BlockHash& hash) const;
    [[nodiscard]] const Node& root() const { return *root_; }
    [[nodiscard]] std::size_t size() const { return nodes_.size(); }

    /// The ancestor of `from` at `height` (or `from` itself); null when that is below the root or above `from`.
    [[nodiscard]] static const Node* ancestor(const Node* from, Height height);
    [[nodiscard]] static bool is_ancestor(const Node* ancestor, const Node* descendant);
    /// The last block that both chains have.
    [[nodiscard]] static const Node* common_ancestor(const Node* left, const Node* right);

    /// How to get from the state after `from` to the state after `to`: undo these, newest first, then apply those,
    /// oldest first.
    struct Route {
        std::vector<const Node*> undo;
        std::vector<const Node*> apply;
    };
    [[nodiscard]] static Route route(const Node* from, const Node* to);

    /// Hashes of a chain for a stranger to find the fork in: the last ten, then at doubling distances, then the root.
    [[nodiscard]] std::vector<BlockHash> locator(const Node* tip) const;
    /// The newest block of a stranger's locator that is on the chain of `tip`; the root when none is.
    [[nodiscard]] const Node* find_fork(const std::vector<BlockHash>& locator, const Node* tip) const;

    /// Makes `root` (on every chain worth keeping) the new root and forgets all that does not descend from it. Returns
    /// how many headers went.
    std::size_t prune_to(const Node* root);

private:
    std::map<BlockHash, std::unique_ptr<Node>> nodes_;
    const Node* root_;
};

}  // namespace rhizome::ledger
