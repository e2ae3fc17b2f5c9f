// SPDX-License-Identifier: Apache-2.0
#include "ledger/tree.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"

namespace rhizome::ledger {
namespace {

/// Which height a block's skip pointer leads to: clears the lowest set bits in turn, as Bitcoin Core does, so that the
/// steps to any ancestor are about twice the logarithm of the distance.
std::uint64_t skip_height(std::uint64_t height) {
    const auto clear_lowest = [](std::uint64_t n) { return n & (n - 1); };
    if (height < 2) return 0;
    return (height & 1) != 0 ? clear_lowest(clear_lowest(height - 1)) + 1 : clear_lowest(height);
}

}  // namespace

HeaderTree::HeaderTree(const Header& root) {
    auto node = std::make_unique<Node>(Node{.header = root, .hash = hash_of(root)});
    root_ = node.get();
    nodes_.emplace(root_->hash, std::move(node));
}

Result<const HeaderTree::Node*, Reject> HeaderTree::insert(const Header& header) {
    const BlockHash hash = hash_of(header);
    if (const Node* known = find(hash)) return known;
    const auto parent = nodes_.find(header.previous);
    if (parent == nodes_.end()) return reject(RejectCode::MissingInput, "the block before this one is not known");
    Node& before = *parent->second;
    if (header.height != before.header.height + 1)
        return reject(RejectCode::BadEncoding,
                      fmt::format("the block says height {}, its parent has {}", header.height, before.header.height));
    if (header.time <= before.header.time)
        return reject(RejectCode::BadEncoding, "the block's time is not above its parent's");

    auto node = std::make_unique<Node>(Node{.header = header, .hash = hash, .parent = &before});
    node->skip = ancestor(&before, std::max(Height{skip_height(header.height.number())}, root_->header.height));
    const Node* added = node.get();
    nodes_.emplace(hash, std::move(node));
    ++before.children;
    return added;
}

Result<void, Reject> HeaderTree::deepen(std::span<const Header> older) {
    const Header* above = &root_->header;
    for (const Header& header : older) {
        if (hash_of(header) != above->previous || header.height + 1 != above->height)
            return reject(RejectCode::BadEncoding, "the header is not that of the block before");
        above = &header;
    }
    std::vector<Node*> added;
    Node* child = nodes_.find(root_->hash)->second.get();
    for (const Header& header : older) {
        auto node = std::make_unique<Node>(Node{.header = header, .hash = hash_of(header), .children = 1});
        added.push_back(node.get());
        child->parent = node.get();
        child = node.get();
        nodes_.emplace(child->hash, std::move(node));
    }
    root_ = child;
    for (auto node = added.rbegin(); node != added.rend(); ++node)
        if ((*node)->parent != nullptr)
            (*node)->skip = ancestor(
                (*node)->parent, std::max(Height{skip_height((*node)->header.height.number())}, root_->header.height));
    return {};
}

const HeaderTree::Node* HeaderTree::find(const BlockHash& hash) const {
    const auto at = nodes_.find(hash);
    return at == nodes_.end() ? nullptr : at->second.get();
}

const HeaderTree::Node* HeaderTree::ancestor(const Node* from, Height height) {
    if (from == nullptr || height > from->header.height) return nullptr;
    while (from != nullptr && from->header.height > height)
        from = from->skip != nullptr && from->skip->header.height >= height ? from->skip : from->parent;
    return from;
}

bool HeaderTree::is_ancestor(const Node* above, const Node* descendant) {
    return above != nullptr && ancestor(descendant, above->header.height) == above;
}

const HeaderTree::Node* HeaderTree::common_ancestor(const Node* left, const Node* right) {
    const Height lower = std::min(left->header.height, right->header.height);
    left = ancestor(left, lower);
    right = ancestor(right, lower);
    while (left != right) {
        // Skips of blocks at one height lead to one height, unless one of them came before the tree was deepened.
        const bool skip = left->skip != nullptr && right->skip != nullptr && left->skip != right->skip &&
                          left->skip->header.height == right->skip->header.height;
        left = skip ? left->skip : left->parent;
        right = skip ? right->skip : right->parent;
        ensure(left != nullptr && right != nullptr, "all blocks of one tree meet at its root");
    }
    return left;
}

HeaderTree::Route HeaderTree::route(const Node* from, const Node* to) {
    const Node* fork = common_ancestor(from, to);
    Route route;
    for (; from != fork; from = from->parent) route.undo.push_back(from);
    for (; to != fork; to = to->parent) route.apply.push_back(to);
    std::reverse(route.apply.begin(), route.apply.end());
    return route;
}

std::vector<BlockHash> HeaderTree::locator(const Node* tip) const {
    std::vector<BlockHash> hashes;
    std::uint64_t step = 1;
    for (const Node* at = tip; at != root_;) {
        hashes.push_back(at->hash);
        if (hashes.size() >= 10) step *= 2;
        const std::uint64_t above_root = at->header.height - root_->header.height;
        at = ancestor(at, at->header.height - std::min(step, above_root));
    }
    hashes.push_back(root_->hash);
    return hashes;
}

const HeaderTree::Node* HeaderTree::find_fork(const std::vector<BlockHash>& locator, const Node* tip) const {
    for (const BlockHash& hash : locator) {
        const Node* known = find(hash);
        if (known != nullptr && is_ancestor(known, tip)) return known;
    }
    return root_;
}

std::size_t HeaderTree::prune_to(const Node* root) {
    ensure(find(root->hash) == root, "the new root is in the tree");
    const std::size_t before = nodes_.size();
    // Decide for all first: `ancestor` needs the pointers of those that go.
    std::vector<BlockHash> going;
    std::vector<Node*> staying;
    for (const auto& [hash, node] : nodes_) {
        if (is_ancestor(root, node.get())) {
            staying.push_back(node.get());
        } else {
            going.push_back(hash);
        }
    }
    for (Node* node : staying)
        if (node->skip != nullptr && node->skip->header.height < root->header.height) node->skip = root;
    nodes_.find(root->hash)->second->parent = nullptr;
    nodes_.find(root->hash)->second->skip = nullptr;
    root_ = root;
    for (const BlockHash& hash : going) nodes_.erase(hash);
    return before - nodes_.size();
}

}  // namespace rhizome::ledger
