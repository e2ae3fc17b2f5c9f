// SPDX-License-Identifier: Apache-2.0
// Loaded before libc into a real process (LD_PRELOAD): its wall clock is ahead by what a file says at that moment, so
// that a test can set it while it runs. Clocks that nobody sets stay as they are.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

constexpr std::int64_t kMicros = 1'000'000;

/// Microseconds, in a file of eight bytes that both sides map.
const volatile std::int64_t* mapped_offset() {
    const char* path = std::getenv("RHIZOME_TEST_CLOCK");
    if (path == nullptr) return nullptr;
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return nullptr;
    void* place = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    return place == MAP_FAILED ? nullptr : static_cast<const volatile std::int64_t*>(place);
}

std::int64_t offset() {
    static const volatile std::int64_t* const place = mapped_offset();
    return place == nullptr ? 0 : *place;
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
    const auto failed = ::syscall(SYS_clock_gettime, clock, time);
    if (failed != 0) return -1;
    if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return 0;
    const std::int64_t micros = time->tv_sec * kMicros + time->tv_nsec / 1'000 + offset();
    time->tv_nsec = (micros % kMicros) * 1'000 + time->tv_nsec % 1'000;
    time->tv_sec = micros / kMicros;
    return 0;
}

extern "C" int gettimeofday(timeval* time, void*) noexcept {
    timespec exact{};
    if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
    time->tv_sec = exact.tv_sec;
    time->tv_usec = exact.tv_nsec / 1'000;
    return 0;
}

extern "C" time_t time(time_t* result) noexcept {
    timespec exact{};
    if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
    if (result != nullptr) *result = exact.tv_sec;
    return exact.tv_sec;
}
