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

Hazards hazards_of(const std::string& names) {
  const auto holds = [&](const char* name) { return names.find(name) != std::string::npos; };
  return {holds("raw"), holds("war"), holds("waw")};
}

}  // namespace sluice::dro
