#include "dro/records/widening.hpp"

#include <fmt/format.h>

namespace sluice::dro {
namespace {

using analysis::Widening;
using analysis::WideningReason;

// said_of_address() is what is said of the address of an access; null for other reasons.
const char* said_of_address(Widening why) {
  switch (why) {
    case Widening::not_affine:
      return "is not an affine function of the indices";
    case Widening::wraps:
      return "may wrap around in this launch";
    case Widening::several_pointers:
      return "may start from several pointers";
    case Widening::long_relation:
      return "takes too long to describe exactly";
    case Widening::large_kernel:
      return "stands in too large a kernel to describe exactly";
    case Widening::plain_number:
      return "may be a plain number";
    default:
      return nullptr;
  }
}

// value_of() is the value that an address depends on.
std::string value_of(const WideningReason& reason) {
  if (reason.why == Widening::pointer_value) return "the value of the pointer " + reason.name;
  const char* const source = reason.why == Widening::loaded_value
                                 ? "loaded from memory"
                                 : "not known before the kernel runs";
  return reason.source == 0 ? source
                            : fmt::format("a value {} at PTX line {}", source, reason.source);
}

}  // namespace

std::string sentence_of(const WideningReason& reason) {
  const uint32_t line = reason.line;
  if (const char* said = said_of_address(reason.why)) {
    return fmt::format("the address at PTX line {} {}", line, said);
  }
  switch (reason.why) {
    case Widening::loaded_value:
    case Widening::exchanged_value:
    case Widening::pointer_value:
      return fmt::format(
          "the address at PTX line {} {} {}", line,
          reason.bounds_a_loop ? "moves in a loop whose bounds depend on" : "depends on",
          value_of(reason));
    case Widening::data_guard:
      return fmt::format("the access at PTX line {} happens under a condition on data", line);
    case Widening::loaded_pointer:
      return fmt::format("pointer loaded from memory at PTX line {}", line);
    case Widening::module_variable:
      return fmt::format("the module variable {} is used at PTX line {}", reason.name, line);
    case Widening::no_base:
      return fmt::format("no pointer argument is found behind the address at PTX line {}", line);
    case Widening::constant_write:
      return fmt::format("a constant is written at PTX line {}", line);
    case Widening::grid_communication:
      return fmt::format(
          "a loop waits for memory read at PTX line {}, which other blocks of the launch may write",
          line);
    case Widening::deep_calls:
      return "its functions call themselves, or are too long to look into";
    case Widening::unknown_call:
      return reason.name.empty()
                 ? fmt::format("the call at PTX line {} has no known target", line)
                 : fmt::format("the call of {} at PTX line {} cannot be looked into", reason.name,
                               line);
    case Widening::unknown_instruction:
      return fmt::format("{} at PTX line {} uses memory in an unknown way",
                         reason.name.empty() ? "an instruction" : reason.name, line);
    case Widening::missing_values:
      return "the launch lacks values of shape scalars";
    case Widening::lost:
      return "it could be analysed at an earlier start, and cannot be now";
    default:
      return {};
  }
}

}  // namespace sluice::dro
