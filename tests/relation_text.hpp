// Relations as isl's text, for tests.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "relation/isl_relation.hpp"

namespace sluice {

inline std::ostream& operator<<(std::ostream& out, const Relation& relation) {
  return out << text_of(relation);
}

namespace testing {

// relation_of() reads { B[x, y, z] -> A[o] : ... } by isl, and throws where rows
// cannot say it; `parameters` names all, in order.
inline Relation relation_of(const std::string& text,
                            const std::vector<std::string>& parameters = {}) {
  const IslContext context;
  return rows_of(isl::map(context.get(), text), parameters).value();
}

}  // namespace testing
}  // namespace sluice
