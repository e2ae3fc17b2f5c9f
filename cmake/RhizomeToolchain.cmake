# SPDX-License-Identifier: Apache-2.0
# Language level, warnings, sanitizers, linker and compiler cache, in one place for every target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

set(RHIZOME_SANITIZE "" CACHE STRING "Sanitizers, as the compiler spells them: 'address,undefined' or 'thread'")
option(RHIZOME_TOGETHER "Compile files several at a time where speed does not matter: a third less time for a full build" ON)
option(RHIZOME_FUZZ "Build libFuzzer targets and the tests of the pure modules, nothing else (needs clang)" OFF)

# -g1: line numbers for stack traces at a tenth of the size of full debug information.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1")
if(RHIZOME_SANITIZE)
  # Instrumented code takes far longer to optimise than it saves in these runs.
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -g1")
endif()

add_library(rhizome_flags INTERFACE)
target_include_directories(rhizome_flags INTERFACE "${CMAKE_SOURCE_DIR}/src")
# fmt is part of the flags because its definitions must be the same wherever the precompiled header is used.
target_link_libraries(rhizome_flags INTERFACE fmt::fmt)
target_link_options(rhizome_flags INTERFACE -pie -Wl,-z,relro,-z,now)
target_compile_options(rhizome_flags INTERFACE
  -Wall -Wextra -Wpedantic -Werror
  -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
  -fPIE -fstack-protector-strong -fno-omit-frame-pointer
  "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=")
# Bounds checks of the standard library stay on in release builds: strangers feed this program.
target_compile_definitions(rhizome_flags INTERFACE _GLIBCXX_ASSERTIONS)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these in its own headers when it inlines variants and strings (GCC bugs 105562, 105329).
  target_compile_options(rhizome_flags INTERFACE -Wno-maybe-uninitialized -Wno-restrict)
endif()

if(RHIZOME_SANITIZE)
  set(sanitize "-fsanitize=${RHIZOME_SANITIZE}" -fno-sanitize-recover=all)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # clang 14 cannot assemble a coroutine that carries the type this check looks at (LLVM issue 49689).
    list(APPEND sanitize -fno-sanitize=function)
  endif()
  target_compile_options(rhizome_flags INTERFACE ${sanitize})
  target_link_options(rhizome_flags INTERFACE ${sanitize})
else()
  target_compile_options(rhizome_flags INTERFACE "$<$<CONFIG:Release>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
endif()
if(RHIZOME_FUZZ)
  target_compile_options(rhizome_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(RHIZOME_MOLD mold)
find_program(RHIZOME_LLD NAMES ld.lld ld.lld-14)
if(RHIZOME_MOLD AND NOT RHIZOME_FUZZ)
  target_link_options(rhizome_flags INTERFACE -fuse-ld=mold)
elseif(RHIZOME_LLD)
  target_link_options(rhizome_flags INTERFACE -fuse-ld=lld)
endif()

find_program(RHIZOME_CCACHE ccache)
if(RHIZOME_CCACHE)
  # Sloppiness as ccache's manual asks for precompiled headers; the base directory lets two clones share results.
  set(launcher "${CMAKE_COMMAND}" -E env
    "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime"
    "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${RHIZOME_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>")
endif()

# Most of a file's time goes into headers and templates that its neighbours need as well, so eight of a folder are
# compiled as one: in sanitizer builds everything, else tests and modules that say COLD. What serves requests is not:
# GCC inlines less into larger units (a quarter less code), and GETs seemed to cost a tenth more, as far as a noisy
# machine could tell. Anonymous namespaces of such files become one, too: names in them differ within a module. Presets
# for people who edit and for clang-tidy, which must see a missing include, go without.
if(RHIZOME_TOGETHER)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # It takes every file but the one that is compiled for a header, where members of local types would be wrong.
    target_compile_options(rhizome_flags INTERFACE -Wno-subobject-linkage)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The compiler looks for memory to reuse from 512 MB on instead of 128: a tenth of its time.
  target_compile_options(rhizome_flags INTERFACE "SHELL:--param ggc-min-heapsize=524288")
endif()

# Precompiled headers: one for code, one for what stands on the ledger, one for tests (GoogleTest on top). They take a test
# file from 5.7 s to 2.1 s. Ours in them are those that most files above the ledger include anyway, so that a change to one
# compiles little more again than it had to; in angle brackets, since CMake would write the folder of this clone otherwise
# and the compiler's cache would miss in every other.
set(RHIZOME_PCH_STANDARD
  <algorithm> <array> <chrono> <cstdint> <functional> <map> <memory> <optional> <set> <span> <string> <string_view>
  <variant> <vector> <fmt/core.h>)
set(RHIZOME_PCH_LEDGER
  <base/bytes.h> <base/codec.h> <base/ids.h> <base/json.h> <base/log.h> <base/result.h> <base/time.h>
  <crypto/hash.h> <crypto/keys.h> <state/delta.h> <state/document.h> <state/path.h> <state/tree.h> <state/view.h>
  <ledger/apply.h> <ledger/block.h> <ledger/chain_records.h> <ledger/check.h> <ledger/member.h> <ledger/parameters.h>
  <ledger/reject.h> <ledger/resource.h> <ledger/tx.h> <ledger/working_state.h>)
file(WRITE "${CMAKE_BINARY_DIR}/pch/empty.cpp" "")
add_library(rhizome_pch_code OBJECT "${CMAKE_BINARY_DIR}/pch/empty.cpp")
target_link_libraries(rhizome_pch_code PRIVATE rhizome_flags)
target_precompile_headers(rhizome_pch_code PRIVATE ${RHIZOME_PCH_STANDARD})
add_library(rhizome_pch_ledger OBJECT "${CMAKE_BINARY_DIR}/pch/empty.cpp")
target_link_libraries(rhizome_pch_ledger PRIVATE rhizome_flags)
target_precompile_headers(rhizome_pch_ledger PRIVATE ${RHIZOME_PCH_STANDARD} <deque> <filesystem> ${RHIZOME_PCH_LEDGER})
