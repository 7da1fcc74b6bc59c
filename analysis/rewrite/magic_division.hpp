// Divisions by constants as compilers write them: a multiplication by a magic number and shifts.
// Internal to the analysis.
#pragma once

#include <functional>
#include <optional>

#include <llvm/IR/Instruction.h>

namespace sluice::analysis {

// IntegerRange is the signed range of an integer of at most 64 bits.
struct IntegerRange {
  __int128 low = 0;
  __int128 high = 0;
};

// MagicDivision finds x / d in what such code computes, for dividends that are never negative.
class MagicDivision {
 public:
  // `range` gives the range of a value, if one is known; `original` the value that stood in the
  // code before a rewrite put its argument there.
  MagicDivision(std::function<std::optional<IntegerRange>(llvm::Value*)> range,
                std::function<llvm::Value*(llvm::Value*)> original)
      : range_(std::move(range)), original_(std::move(original)) {}

  // quotient() builds, before a shift or truncation, the division or constant that it computes;
  // null where it is none. It is exact for every dividend in its range.
  llvm::Value* quotient(llvm::Instruction& instruction) const;

 private:
  // Product is floor(x * magic / 2^shift), for 0 <= x <= high.
  struct Product {
    llvm::Value* x = nullptr;
    __int128 magic = 0;
    unsigned shift = 0;
    __int128 high = 0;

    __int128 bound() const { return shift > 120 ? 0 : (high * magic) >> shift; }
  };
  std::optional<Product> product(llvm::Value* value) const;
  std::optional<Product> multiplied(llvm::Value* value) const;
  std::optional<Product> upper_half_and_dividend(llvm::Value* value) const;

  std::function<std::optional<IntegerRange>(llvm::Value*)> range_;
  std::function<llvm::Value*(llvm::Value*)> original_;
};

}  // namespace sluice::analysis
