#include "place.hpp"

namespace sluice::nests {

bool jumps_past(const Statements& statements) {
  for (const Statement& statement : statements) {
    if (statement.kind == Statement::Kind::next_round) return true;
    if (statement.kind != Statement::Kind::loop &&
        (jumps_past(statement.first) || jumps_past(statement.second)))
      return true;
  }
  return false;
}

}  // namespace sluice::nests
