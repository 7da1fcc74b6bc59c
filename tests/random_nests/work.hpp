// Random statements that neither branch nor meet.
#pragma once

#include "expressions.hpp"

namespace sluice::nests {

class Work {
 public:
  // The first `assigned` variables are assigned anywhere.
  Work(Expressions& expressions, Dice& dice, uint32_t assigned)
      : expressions_(expressions), dice_(dice), assigned_(assigned) {}

  Statement any();
  // sweep() is what the CPU device likes to run for neighbouring threads at once: accesses where a
  // loop's variable stands and nothing else.
  Statements sweep(const Variable& variable);

 private:
  Value owned_element();

  Expressions& expressions_;
  Dice& dice_;
  const uint32_t assigned_;
};

}  // namespace sluice::nests
