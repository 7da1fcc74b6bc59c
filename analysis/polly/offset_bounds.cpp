#include "analysis/polly/offset_bounds.hpp"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>

namespace sluice::analysis {
namespace {

using namespace llvm;
using Wide = __int128;

// Terms are bounds in unlimited arithmetic. A 64-bit value equals its terms' sum modulo 2^64, so
// it equals the sum where the sum fits into 64 bits; beyond this limit nothing is claimed.
constexpr Wide limit = Wide(1) << 62;
constexpr Wide widest_span = Wide(1) << 32;
constexpr size_t most_terms = 10'000;

struct Terms {
  std::array<Wide, 3> slope{};
  Wide low = 0;
  Wide high = 0;
  bool known = true;

  static Terms nothing() {
    Terms terms;
    terms.known = false;
    return terms;
  }
  Terms& add(const Terms& other) {
    for (int i = 0; i < 3; ++i)
      slope[i] += other.slope[i];
    low += other.low;
    high += other.high;
    known = known && other.known;
    return clip();
  }
  Terms& scale(Wide factor) {
    for (Wide& s : slope)
      s *= factor;
    low *= factor;
    high *= factor;
    if (factor < 0) std::swap(low, high);
    return clip();
  }
  // clip() gives up on numbers that could overflow even the wide type.
  Terms& clip() {
    const auto large = [](Wide value) { return value > limit || value < -limit; };
    if (large(low) || large(high) || large(slope[0]) || large(slope[1]) || large(slope[2])) {
      known = false;
    }
    if (!known) *this = Terms{{}, 0, 0, false};
    return *this;
  }
};

class Bounder {
 public:
  Bounder(const Specialised& kernel, ScalarEvolution& evolution)
      : kernel_(kernel), evolution_(evolution) {}

  Terms terms(const SCEV* expression) {
    if (left_ == 0) return Terms::nothing();
    --left_;
    Terms result = structural(expression);
    if (result.known) return result;
    return range(expression);
  }

 private:
  Terms range(const SCEV* expression) {
    const ConstantRange range = evolution_.getSignedRange(expression);
    if (range.isFullSet() || range.getBitWidth() > 64) return Terms::nothing();
    Terms result;
    result.low = range.getSignedMin().getSExtValue();
    result.high = range.getSignedMax().getSExtValue();
    return result.clip();
  }

  Terms structural(const SCEV* expression) {
    if (auto* sum = dyn_cast<SCEVAddExpr>(expression)) {
      Terms result;
      for (const SCEV* operand : sum->operands())
        result.add(terms(operand));
      return result;
    }
    if (auto* product = dyn_cast<SCEVMulExpr>(expression)) {
      auto* factor = dyn_cast<SCEVConstant>(product->getOperand(0));
      if (factor == nullptr || product->getNumOperands() != 2) return Terms::nothing();
      return terms(product->getOperand(1)).scale(factor->getAPInt().getSExtValue());
    }
    if (auto* recurrence = dyn_cast<SCEVAddRecExpr>(expression)) return iterated(*recurrence);
    if (auto* cast = dyn_cast<SCEVIntegralCastExpr>(expression)) {
      if (!isa<SCEVTruncateExpr>(cast)) return index(cast->getOperand());
    }
    return index(expression);
  }

  // index() knows the block indices: never negative, so that widening does not change them.
  Terms index(const SCEV* expression) {
    auto* unknown = dyn_cast<SCEVUnknown>(expression);
    if (unknown == nullptr) return Terms::nothing();
    for (int i = 0; i < 3; ++i) {
      if (unknown->getValue() != kernel_.block[i]) continue;
      Terms result;
      result.slope[i] = 1;
      return result;
    }
    return Terms::nothing();
  }

  Terms iterated(const SCEVAddRecExpr& recurrence) {
    auto* step = dyn_cast<SCEVConstant>(recurrence.getStepRecurrence(evolution_));
    auto* count =
        dyn_cast<SCEVConstant>(evolution_.getConstantMaxBackedgeTakenCount(recurrence.getLoop()));
    if (!recurrence.isAffine() || step == nullptr || count == nullptr ||
        count->getAPInt().getActiveBits() > 40) {
      return Terms::nothing();
    }
    Terms loop;
    loop.high = Wide(count->getAPInt().getZExtValue());
    loop.scale(step->getAPInt().getSExtValue());
    return terms(recurrence.getStart()).add(loop);
  }

  const Specialised& kernel_;
  ScalarEvolution& evolution_;
  // Expressions share parts, each of which is followed once for each way to it.
  size_t left_ = most_terms;
};

}  // namespace

std::optional<OffsetBounds> bound_offset(llvm::Value* offset, const Specialised& kernel,
                                         llvm::ScalarEvolution& evolution) {
  const SCEV* expression = evolution.getSCEV(offset);
  const Terms terms = Bounder(kernel, evolution).terms(expression);
  if (!terms.known || terms.high - terms.low >= widest_span) return std::nullopt;
  OffsetBounds bounds;
  Wide low = terms.low, high = terms.high;
  for (int i = 0; i < 3; ++i) {
    bounds.slope[i] = int64_t(terms.slope[i]);
    const auto last = kernel.block[i]->getAttribute(Attribute::Range).getRange().getUnsignedMax();
    (terms.slope[i] < 0 ? low : high) += terms.slope[i] * Wide(last.getZExtValue());
  }
  if (low < -limit || high > limit) return std::nullopt;
  bounds.low = int64_t(terms.low);
  bounds.high = int64_t(terms.high);
  return bounds;
}

}  // namespace sluice::analysis
