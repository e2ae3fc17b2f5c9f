// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "state/path.h"

/// What a deletion leaves to be done: dependents of an owner that is gone go too, those of one that waits for them go
/// first, references to one that is deleted without them are taken out, and a namespace that ends is emptied.
///
/// Here it is found out; somebody with authority does it (docs/decisions/005). Fed with every change, so the work per
/// change is proportional to what depends on it; nothing is looked through but what was named in a change.
namespace rhizome::cluster {

inline constexpr std::string_view kForeground = "foregroundDeletion";
inline constexpr std::string_view kOrphan = "orphan";

/// Whom an object belongs to, as `metadata.ownerReferences` says.
struct OwnerReference {
    std::string group{};
    std::string kind{};
    std::string name{};
    std::string uid{};
    bool blocks = false;  ///< `blockOwnerDeletion`: an owner that is deleted in the foreground waits for this one
};
std::vector<OwnerReference> owners_of(const json::Value& object);

/// What is to be done to one object. It holds for the object of this uid only.
struct Chore {
    enum class What : unsigned char {
        Delete,
        DropOwners,  ///< take out the references to `uids`
        Release,     ///< take the finalizer `finalizer` out
    };
    What what = What::Delete;
    state::Path path = state::Path::cluster();
    std::string uid{};
    std::vector<std::string> uids{};
    std::string finalizer{};
    bool foreground = false;  ///< of Delete: its own dependents go before it
    std::string why{};        ///< for logs
};

/// The object at a path as it is shown (with its uid); nothing when there is none.
using ObjectAt = std::function<std::optional<json::Value>(const state::Path& path)>;

class Garbage {
public:
    /// `after` and `before` as they are shown; null: none.
    void saw(const state::Path& path, const json::Value* before, const json::Value* after);
    /// A namespace has something in it that is to be looked at again: contents of one that ends have gone.
    void look_at(const state::Path& path) { waiting_.insert(path); }

    /// What is to be done now, at most about `most` (of one object all is told at once); the next call goes on behind
    /// it, so that what nobody can do does not stand before the rest for ever. What has nothing more to be done is
    /// forgotten. `is_known` says whether a kind is known at all: an owner of an unknown kind may well be there.
    /// `contents` gives what stands in a namespace.
    struct World {
        ObjectAt object_at{};
        std::function<bool(std::string_view group, std::string_view kind)> is_known{};
        std::function<bool(std::string_view group, std::string_view kind)> is_namespaced{};
        std::function<std::vector<state::Path>(std::string_view name_space, std::size_t most)> contents{};
    };
    std::vector<Chore> chores(const World& world, std::size_t most);
    /// Everything has been told once: the next call begins anew.
    [[nodiscard]] bool is_round_over() const { return !next_; }

    /// Objects that something may be to be done about.
    [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

private:
    void judge(const state::Path& path, const json::Value& object, const World& world, std::vector<Chore>& out) const;
    void judge_owned(const state::Path& path, const json::Value& object, const World& world,
                     std::vector<Chore>& out) const;
    void judge_namespace(const state::Path& path, const json::Value& object, const World& world,
                         std::vector<Chore>& out) const;
    [[nodiscard]] std::vector<state::Path> dependents(std::string_view uid) const;

    std::map<std::string, std::set<state::Path>, std::less<>> by_owner_;  ///< by the owner's uid
    std::set<state::Path> waiting_;
    std::optional<state::Path> next_;  ///< where the next call goes on; none: at the beginning
};

/// Whether a namespace that ends may go, as far as it says itself: no finalizers but the one that stands for its
/// contents.
bool namespace_may_go(const json::Value& object);

}  // namespace rhizome::cluster
