// Listing what an access relation says, block by block, in plain loops: isl prepares them once,
// running them takes none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/dim3.hpp"
#include "base/number/range.hpp"
#include "relation/budget.hpp"
#include "relation/isl_context.hpp"

namespace sluice {

// ByteRun is bytes begin .. end - 1 that a block, by its linear number, touches.
struct ByteRun {
  uint32_t block = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

// AccessLoops is a relation { B[x, y, z] -> A[o] }, maybe with parameters, as nests of loops: for
// each of its pieces over z, y, x, then the existentially quantified variables, then o. The bounds
// of each loop are those that Fourier-Motzkin elimination of all inner variables leaves, so that a
// loop may run in vain; the innermost has all constraints and is exact. A value of `AccessLoops`
// holds nothing of isl's.
class AccessLoops {
 public:
  // make() gives nothing where a loop has no bounds, or where there are too many constraints.
  static std::optional<AccessLoops> make(const isl::map& relation);

  // list() appends what the relation says where its parameters have `values`. Runs of a
  // block may overlap and come in any order. It returns false, with `runs` in any state, where
  // blocks outside the grid come, or past the budget.
  bool list(std::span<const int64_t> values, const Dim3& grid, Budget& budget,
            std::vector<ByteRun>& runs) const;

 private:
  // Form is constant + sum of coefficients of parameters and of outer variables.
  struct Bound {
    int64_t divisor = 1;           // > 0: of this loop's variable
    std::vector<int64_t> outer;    // by loop
    std::vector<int64_t> symbols;  // by parameter
    int64_t constant = 0;
  };
  // Loop runs from the largest of ceil(form / divisor) to the smallest of floor(form / divisor).
  struct Loop {
    std::vector<Bound> lower;
    std::vector<Bound> upper;
  };
  struct Piece {
    std::vector<Bound> guards;  // forms without variables: not negative where anything is listed
    std::vector<Loop> loops;
  };
  class Runner;

  static bool add_piece(const isl::basic_map& relation, std::vector<Piece>& pieces);

  std::vector<Piece> pieces_;
};

}  // namespace sluice
