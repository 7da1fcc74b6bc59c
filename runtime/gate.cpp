#include "runtime/gate.hpp"

#include <exception>
#include <string>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/log.hpp"

namespace sluice::runtime {
namespace {

// what_was_thrown() describes the exception being handled.
std::string what_was_thrown() {
  try {
    throw;
  } catch (const AssertionFailure& failure) {
    return fmt::format("assertion '{}' failed at {}:{}", failure.condition, failure.file,
                       failure.line);
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "an unknown exception";
  }
}

}  // namespace

void Gate::fail() noexcept {
  if (!std::exchange(has_failed_, true)) {
    try {
      log::error("a bug in Sluice: {}; from here the program runs without it", what_was_thrown());
    } catch (...) {
      // A program without memory cannot be told.
    }
  }
  let_go_();
}

}  // namespace sluice::runtime
