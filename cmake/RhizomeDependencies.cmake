# SPDX-License-Identifier: Apache-2.0
# Libraries from Debian. `./run` installs the packages; docs/spec/dependencies.md says why each was chosen.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(secp256k1 REQUIRED IMPORTED_TARGET libsecp256k1>=0.2)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium>=1.0.18)
pkg_check_modules(lmdb REQUIRED IMPORTED_TARGET lmdb>=0.9.24)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash>=0.8.1)
pkg_check_modules(fyaml REQUIRED IMPORTED_TARGET libfyaml>=0.7.12)
# Not by pkg-config: it adds -pthread, and the precompiled header is made without.
find_library(RHIZOME_RE2 re2 REQUIRED)
# The allocator of programs that people run. Sanitizers bring their own.
set(RHIZOME_ALLOCATOR "")
if(NOT RHIZOME_SANITIZE)
  find_library(RHIZOME_TCMALLOC libtcmalloc_minimal.a REQUIRED)
  set(RHIZOME_ALLOCATOR "${RHIZOME_TCMALLOC}")
endif()
find_package(GTest REQUIRED)
set(Boost_NO_WARN_NEW_VERSIONS ON)
find_package(Boost 1.81 EXACT REQUIRED COMPONENTS json)
find_library(RHIZOME_RAPIDCHECK rapidcheck REQUIRED)
