// PTX text to syntax tree.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "ptx/syntax.hpp"

namespace sluice::ptx {

// parse() reads one PTX translation unit (a trailing NUL is allowed). `file` names the text in
// errors ("k.ptx:12:7: expected a register, found ';'"). Opcodes are not checked against the
// instruction table: a module may hold kernels that nobody launches. Thread-safe.
Result<Module> parse(std::string_view text, std::string_view file = "<ptx>");

}  // namespace sluice::ptx
