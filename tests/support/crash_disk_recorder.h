// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/crash_disk.h"
#include "support/crash_disk_replay.h"

/// What stands behind the replaced file calls while a `CrashDisk` lives: knows the files below the folder, lets calls
/// fail that shall fail, and writes the trace.
namespace rhizome::test::crash {

class Recorder {
public:
    Recorder(const std::filesystem::path& folder, CrashDisk::Options options);

    /// The one that records, or none: also inside a call of the recorder itself, and in a forked child. The cost of a
    /// call that is not recorded is one load.
    static Recorder* active() {
        Recorder* found = active_recorder.load(std::memory_order_acquire);
        return found == nullptr || inside_recorder || !found->in_own_process() ? nullptr : found;
    }
    void start();
    void stop();

    /// While one lives, this thread's file calls go through untouched (or, with false, are recorded again).
    class Inside {
    public:
        explicit Inside(bool inside = true) : before_(std::exchange(inside_recorder, inside)) {}
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;
        ~Inside() { inside_recorder = before_; }

    private:
        bool before_;
    };

    // ---- file calls: each does what libc's does, `real` being that with the stated change, errno included -----------
    struct WriteCall {
        std::size_t bytes = 0;
        std::optional<off_t> offset{};                ///< nothing: where the descriptor stands
        bool synced = false;                          ///< asked for with the call itself
        std::function<ssize_t(std::size_t)> real{};   ///< writes at most this many bytes
        std::function<Bytes(std::size_t)> written{};  ///< a copy of the first bytes
    };
    ssize_t write(int fd, const WriteCall& call);
    int sync(int fd, bool whole, const std::function<int()>& real);
    int sync_map(void* address, std::size_t length, const std::function<int()>& real);
    int sync_all(int fd, const std::function<int()>& real);  ///< −1: of every file system
    int resize(int fd, off_t size, const std::function<int()>& real);
    int allocate(int fd, int mode, off_t offset, off_t length, const std::function<int()>& real);
    int open(int folder, const char* path, int flags, const std::function<int()>& real);
    int rename(int from_folder, const char* from, int to_folder, const char* to, bool exchange,
               const std::function<int()>& real);
    int link(int folder, const char* path, const std::function<int()>& real);
    int remove(int folder, const char* path, const std::function<int()>& real);
    int make_folder(int folder, const char* path, const std::function<int()>& real);
    bool watches(int fd);
    bool watches(const char* path);
    /// Puts the pretended free space in place of the real one.
    void pretend(struct statvfs& space);

    // ---- what CrashDisk says ---------------------------------------------------------------------------------------
    void fail(Fault fault);
    void clear_faults();
    [[nodiscard]] std::uint64_t faults_hit() const;
    void limit_space(std::optional<std::uint64_t> bytes);
    void report_free_space(std::optional<std::uint64_t> bytes);
    void mark(std::string label);

    /// A replay at `point`, good while `lock` is held.
    Replay& at(std::size_t point, const std::unique_lock<std::mutex>& lock);
    [[nodiscard]] std::unique_lock<std::mutex> lock() const { return std::unique_lock{mutex_}; }
    [[nodiscard]] const std::vector<Operation>& trace() const { return trace_; }
    [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

private:
    struct Object {
        bool folder = false;
        bool unnamed = false;  ///< made by O_TMPFILE and without a name so far
        std::set<Name> names{};
        std::vector<bool> blocks{};  ///< allocated ones, of kPageBytes
    };
    struct Found {
        Node node = 0;
        struct stat about {};
    };
    struct Planned {
        Fault fault;
        std::uint64_t seen = 0;
    };
    using Key = std::pair<dev_t, ino_t>;

    [[nodiscard]] bool in_own_process() const;
    std::optional<Found> find(int fd);
    std::optional<Node> find_folder(int folder, const std::string& path);
    std::optional<Name> resolve(int folder, const char* path);
    std::optional<Node> node_of(const struct stat& about);
    std::optional<Node> named(const Name& name) const;
    std::string path_of(Node node) const;
    std::string path_of(const Name& name) const;

    Node add(const struct stat& about);
    std::optional<Node> adopt(int fd, const struct stat& about);
    Node adopt(const Name& name, const std::filesystem::path& path, const struct stat& about);
    void scan(Node folder, const std::filesystem::path& path, Replay::Tree& tree);
    void set_name(const Name& name, std::optional<Node> node);
    void record_names(Act act, std::string text, std::vector<std::pair<Name, std::optional<Node>>> names);

    /// Does what is asked with a name; if it worked and the name is watched, `record` is told which it is.
    int change_name(int folder, const char* path, const std::function<int()>& real,
                    const std::function<void(const Name&)>& record);
    /// Makes the sync a failed one if a fault says so, and returns the error then.
    std::optional<int> fail_sync(Operation& sync, const std::string& path);

    std::optional<Fault> fault_for(Fault::On on, const std::string& path, const std::string& other = {});
    std::uint64_t blocks_missing(const Object& object, std::uint64_t begin, std::uint64_t end) const;
    std::size_t fits(const Object& object, std::uint64_t offset, std::size_t bytes) const;
    void take_blocks(Object& object, std::uint64_t begin, std::uint64_t end);
    void free_blocks(Object& object, std::uint64_t begin, std::uint64_t end);

    // Set before anything runs: libraries write before main.
    static inline constinit std::atomic<Recorder*> active_recorder{nullptr};
    static inline constinit thread_local bool inside_recorder = false;

    std::filesystem::path folder_;
    CrashDisk::Options options_;
    pid_t process_;
    mutable std::mutex mutex_;  ///< guards all below
    std::vector<Object> objects_;
    std::map<Key, Node> by_key_;
    std::map<Name, Node> names_;
    std::vector<Operation> trace_;
    std::vector<Mark> marks_;
    std::vector<Planned> faults_;
    std::uint64_t faults_hit_ = 0;
    std::optional<std::uint64_t> space_left_;
    std::optional<std::uint64_t> reported_free_;
    Replay::Tree base_;
    std::optional<Replay> replay_;
};

}  // namespace rhizome::test::crash
