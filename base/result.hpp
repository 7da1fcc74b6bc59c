// The one result type of the project: errors are values at every module seam.
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace sluice {

// ErrorKind says what a caller can do about an error.
enum class ErrorKind {
  invalid_input,  // the user's file, argument or program is wrong
  unsupported,    // a limit we admit: the input is right, and Sluice will not do it
  unimplemented,  // a debt: the input is right, and Sluice does not do it yet
  system,         // the operating system or a library said no
};

// Error is one clear line in three parts: what went wrong, where, and what to do about it.
// `where` and `remedy` may be empty.
struct Error {
  ErrorKind kind = ErrorKind::invalid_input;
  std::string what;
  std::string where;
  std::string remedy;

  // line() returns "where: what; remedy", without the parts that are empty and without a newline.
  std::string line() const;
};

// Result<T> holds a T or an Error; Status holds nothing or an Error.
template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

// The makers of errors: `return invalid_input("expected a register", "k.ptx:12:7");`
inline tl::unexpected<Error> invalid_input(std::string what, std::string where = {},
                                           std::string remedy = {}) {
  return tl::unexpected<Error>(
      {ErrorKind::invalid_input, std::move(what), std::move(where), std::move(remedy)});
}
inline tl::unexpected<Error> unsupported(std::string what, std::string where = {},
                                         std::string remedy = {}) {
  return tl::unexpected<Error>(
      {ErrorKind::unsupported, std::move(what), std::move(where), std::move(remedy)});
}
inline tl::unexpected<Error> unimplemented(std::string what, std::string where = {},
                                           std::string remedy = {}) {
  return tl::unexpected<Error>(
      {ErrorKind::unimplemented, std::move(what), std::move(where), std::move(remedy)});
}
inline tl::unexpected<Error> system_error(std::string what, std::string where = {},
                                          std::string remedy = {}) {
  return tl::unexpected<Error>(
      {ErrorKind::system, std::move(what), std::move(where), std::move(remedy)});
}

}  // namespace sluice
