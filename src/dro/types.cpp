#include "dro/types.hpp"

namespace sluice::dro {

std::string hazard_names(const Hazards& hazards) {
  std::string names;
  const auto add = [&](bool holds, const char* name) {
    if (holds && !names.empty()) names += '+';
    if (holds) names += name;
  };
  add(hazards.raw, "raw");
  add(hazards.war, "war");
  add(hazards.waw, "waw");
  return names;
}

}  // namespace sluice::dro
