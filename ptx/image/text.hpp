// PTX text as a code image.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "ptx/fat_binary.hpp"

namespace sluice::ptx::image {

// text_entry() makes an entry of PTX text; its architecture is that of `.target`. Text that begins
// with anything but blanks, comments and `.version` is an error. It does not parse the rest.
Result<CodeEntry> text_entry(std::string_view text);

}  // namespace sluice::ptx::image
