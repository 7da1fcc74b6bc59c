// How the journal has the reasons of the analysis, and the words that people read of them.
#pragma once

#include <array>
#include <string>
#include <tuple>

#include "analysis/widening.hpp"
#include "dro/fields.hpp"

namespace sluice::dro {

template <>
inline constexpr std::array names<analysis::Widening> = {
    "none",         "loaded_value", "exchanged_value",     "pointer_value",
    "not_affine",   "wraps",        "several_pointers",    "long_relation",
    "large_kernel", "data_guard",   "loaded_pointer",      "module_variable",
    "plain_number", "no_base",      "constant_write",      "grid_communication",
    "deep_calls",   "unknown_call", "unknown_instruction", "missing_values",
    "lost"};

template <>
inline constexpr auto elements<analysis::WideningReason> = [](auto& reason) {
  return std::tie(reason.why, reason.line, reason.source, reason.bounds_a_loop, reason.name);
};

// sentence_of() is a reason in words, without a full stop: "the address at PTX line 7 may wrap
// around in this launch". Empty where there is none.
std::string sentence_of(const analysis::WideningReason& reason);

}  // namespace sluice::dro
