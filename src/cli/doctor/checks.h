// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor/facts.h"

/// From facts to verdicts: pure, so that every host that somebody reports can become a row in a test.
namespace rhizome::cli::doctor {

/// What a host may do in a cluster. A host can do several.
enum class Role : unsigned char {
    Member,     ///< keeps the ledger and answers the API
    Agent,      ///< runs pods
    Edge,       ///< talks to devices
    Developer,  ///< builds and measures rhizome itself
};
std::string_view name(Role role);
inline constexpr Role kRoles[] = {Role::Member, Role::Agent, Role::Edge, Role::Developer};
/// The roles of hosts in a cluster.
inline constexpr Role kClusterRoles[] = {Role::Member, Role::Agent, Role::Edge};

enum class Status : unsigned char {
    Ok,
    Warn,     ///< works with a drawback, or something useful is absent
    Missing,  ///< something required is absent
};
std::string_view name(Status status);

/// One line of the report.
struct Check {
    std::string id;     ///< for programs: `cgroups`
    std::string title;  ///< for people: `cgroups`
    Status status = Status::Ok;
    std::string found;                ///< what is there
    std::string needed_for;           ///< why anybody wants it
    std::string advice{};             ///< what to do about it, with the exact command; empty when all is well
    std::vector<Role> required_by{};  ///< of the roles asked about

    friend bool operator==(const Check&, const Check&) = default;
};

/// All checks that matter to one of the roles, in a fixed order.
std::vector<Check> judge(const Facts& facts, const std::vector<Role>& roles);

struct Summary {
    unsigned ok = 0;
    unsigned warn = 0;
    unsigned missing = 0;
    /// Roles for which nothing required is missing.
    std::vector<Role> fit_for{};
    std::vector<Role> unfit_for{};
};
Summary summarise(const std::vector<Check>& checks, const std::vector<Role>& roles);

}  // namespace rhizome::cli::doctor
