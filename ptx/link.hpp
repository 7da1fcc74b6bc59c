// Several units of relocatable PTX into one module, as CUDA's driver links them.
// Source: PTX ISA, chapter "Linking Directives".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ptx/syntax.hpp"

namespace sluice::ptx {

// LinkUnit is one input, with the name by which errors call it.
struct LinkUnit {
  std::string name;
  Module module;
};

// link_units() makes one module of all units. `.extern` names get the definition of another unit;
// of several, a `.visible` one beats `.common` ones, of which the largest stays, and these beat
// `.weak` ones, of which the first stays. Two `.visible` definitions of a name are an error, and so
// is a name that is used and that neither a unit nor is_provided() has, and one that is different
// things in two units. Names without a linking directive are their unit's own: where two units have
// one, the later's becomes NAME$UNIT. Debugging data is left out: it numbers the files of its unit.
Result<Module> link_units(std::vector<LinkUnit> units,
                          const std::function<bool(std::string_view name)>& is_provided);

// link_texts() parses and links the units of one device-linked image. A name that no unit defines
// stays declared: whatever runs the module may have it. A single unit is taken as it is. `file`
// stands in errors.
Result<Module> link_texts(const std::vector<std::string>& texts, std::string_view file = "<ptx>");

}  // namespace sluice::ptx
