// Which rule a run finds its dependences by.
#pragma once

namespace sluice::dro {

// Rule is how writes retire earlier accesses.
enum class Rule {
  exact,   // per byte: RAW, WAR and WAW; only must-writes retire what they cover
  buffer,  // Mekong's: any write invalidates all earlier writes of the buffer; RAW only
};

}  // namespace sluice::dro
