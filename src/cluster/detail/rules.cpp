// SPDX-License-Identifier: Apache-2.0
#include "cluster/detail/rules.h"

#include <algorithm>

#include <fmt/core.h>

#include "cluster/quantity.h"

namespace rhizome::cluster::detail {

Checker Checker::at(std::string_view member) const {
    return {value_ == nullptr ? nullptr : value_->find(member), where_ / member, *errors_};
}

void Checker::each(const std::function<void(const Checker&)>& visit) const {
    const json::Array* array = value_ == nullptr ? nullptr : value_->if_array();
    if (array == nullptr) return;
    for (std::size_t i = 0; i < array->size(); ++i) visit(Checker{&(*array)[i], where_ / i, *errors_});
}

void Checker::each_entry(const std::function<void(const std::string&, const json::Value&)>& visit) const {
    const json::Object* object = value_ == nullptr ? nullptr : value_->if_object();
    if (object == nullptr) return;
    for (const auto& member : *object) visit(member.key, member.value);
}

std::string_view Checker::text() const {
    return value_ == nullptr || value_->if_string() == nullptr ? std::string_view{} : *value_->if_string();
}

std::size_t Checker::size() const {
    if (value_ == nullptr) return 0;
    if (const json::Object* object = value_->if_object()) return object->size();
    return value_->is_array() ? value_->if_array()->size() : 0;
}

void Checker::add(FieldErrors errors) const { errors_->append(std::move(errors)); }

bool Checker::require(std::string_view detail) const {
    const bool empty_text = value_ != nullptr && value_->is_string() && text().empty();
    const bool empty_list = value_ != nullptr && value_->is_array() && size() == 0;
    if (present() && !empty_text && !empty_list) return true;
    add(required(where_, detail));
    return false;
}

void Checker::one_of(std::vector<std::string_view> supported) const {
    if (value_ == nullptr || !value_->is_string()) return;
    if (std::find(supported.begin(), supported.end(), text()) == supported.end())
        add(not_supported(where_, *value_, std::move(supported)));
}

void Checker::not_negative() const {
    if (const auto held = number(); held && *held < 0)
        add(invalid(where_, *held, "must be greater than or equal to 0"));
}

void Checker::positive() const {
    if (const auto held = number(); held && *held <= 0) add(invalid(where_, *held, "must be greater than zero"));
}

void Checker::between(std::int64_t least, std::int64_t most) const {
    if (const auto held = number(); held && (*held < least || *held > most))
        add(invalid(where_, *held, fmt::format("must be between {} and {}, inclusive", least, most)));
}

void Checker::port() const { between(1, 65535); }

void Checker::named(std::vector<std::string> (*check)(std::string_view)) const {
    if (value_ == nullptr || !value_->is_string()) return;
    for (const std::string& complaint : check(text())) add(invalid(where_, *value_, complaint));
}

void Checker::unique(std::string_view field) const {
    std::set<std::string_view> seen;
    each([&](const Checker& element) {
        const Checker name = element.at(field);
        if (!name.text().empty() && !seen.insert(name.text()).second) name.add(duplicate(name.where(), *name.value()));
    });
}

void Checker::count_or_percent() const {
    if (number()) {
        not_negative();
        return;
    }
    if (value_ == nullptr || !value_->is_string()) return;
    const std::string_view held = text();
    const bool digits = held.size() >= 2 && held.ends_with('%') &&
                        std::all_of(held.begin(), held.end() - 1, [](char c) { return c >= '0' && c <= '9'; });
    if (!digits)
        add(invalid(where_, *value_,
                    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
                    "regex used for validation is '[0-9]+%')"));
}

void Checker::quantity() const {
    if (value_ == nullptr) return;
    const auto amount = Quantity::from_value(*value_);
    if (!amount) {
        add(invalid(where_, *value_, amount.error().message));
        return;
    }
    if (amount->is_negative()) add(invalid(where_, *value_, "must be greater than or equal to 0"));
}

}  // namespace rhizome::cluster::detail
