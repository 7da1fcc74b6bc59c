#include "analysis/polly/touch_places.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Constants.h>

namespace sluice::analysis {
namespace {

using namespace llvm;

// Constants farther apart than this might leave 64 bits when they are subtracted.
constexpr int64_t farthest = int64_t{1} << 40;
constexpr int deepest = 12;

// Displaced is a value as a form, which is the same for all values at fixed distances from each
// other, and a constant that is added to it.
struct Displaced {
  const SCEV* form = nullptr;
  int64_t constant = 0;
};

class Displacer {
 public:
  explicit Displacer(ScalarEvolution& evolution) : evolution_(evolution) {}

  // split() is exact modulo two to the width of `value`.
  Displaced split(const SCEV* value, int depth = 0) {
    const Displaced result = depth < deepest ? split_by_structure(value, depth) : whole(value);
    const bool far = result.constant > farthest || result.constant < -farthest;
    return far ? whole(value) : result;
  }

 private:
  static Displaced whole(const SCEV* value) { return {value, 0}; }

  Displaced split_by_structure(const SCEV* value, int depth) {
    if (auto* constant = dyn_cast<SCEVConstant>(value)) {
      if (!constant->getAPInt().isSignedIntN(41)) return whole(value);
      return {evolution_.getZero(value->getType()), constant->getAPInt().getSExtValue()};
    }
    if (auto* sum = dyn_cast<SCEVAddExpr>(value)) return split_sum(*sum, depth);
    if (auto* product = dyn_cast<SCEVMulExpr>(value)) return split_product(*product, depth);
    if (auto* recurrence = dyn_cast<SCEVAddRecExpr>(value); recurrence && recurrence->isAffine()) {
      const Displaced start = split(recurrence->getStart(), depth + 1);
      if (start.form == recurrence->getStart()) return whole(value);
      return {evolution_.getAddRecExpr(start.form, recurrence->getStepRecurrence(evolution_),
                                       recurrence->getLoop(), SCEV::FlagAnyWrap),
              start.constant};
    }
    if (isa<SCEVSignExtendExpr, SCEVZeroExtendExpr>(value)) {
      return split_extension(*cast<SCEVCastExpr>(value), depth);
    }
    return whole(value);
  }

  Displaced split_sum(const SCEVAddExpr& sum, int depth) {
    SmallVector<const SCEV*, 8> forms;
    int64_t constant = 0;
    for (const SCEV* operand : sum.operands()) {
      const Displaced part = split(operand, depth + 1);
      forms.push_back(part.form);
      constant += part.constant;
    }
    if (constant == 0) return whole(&sum);
    return {evolution_.getAddExpr(forms), constant};
  }

  Displaced split_product(const SCEVMulExpr& product, int depth) {
    auto* factor = dyn_cast<SCEVConstant>(product.getOperand(0));
    if (factor == nullptr || product.getNumOperands() != 2) return whole(&product);
    const Displaced part = split(product.getOperand(1), depth + 1);
    int64_t constant = 0;
    if (part.constant == 0 || !factor->getAPInt().isSignedIntN(64) ||
        __builtin_mul_overflow(part.constant, factor->getAPInt().getSExtValue(), &constant)) {
      return whole(&product);
    }
    return {evolution_.getMulExpr(factor, part.form), constant};
  }

  // split_extension() takes a constant out of an extension where the sum wraps around for no value
  // that its form may have.
  Displaced split_extension(const SCEVCastExpr& extension, int depth) {
    const SCEV* narrow = extension.getOperand();
    const Displaced part = split(narrow, depth + 1);
    if (part.constant == 0) return whole(&extension);
    const bool is_signed = isa<SCEVSignExtendExpr>(extension);
    // Wide enough for the sum of any two numbers here.
    constexpr unsigned wide = 128;
    const unsigned width = narrow->getType()->getIntegerBitWidth();
    if (width >= wide) return whole(&extension);
    const ConstantRange range = is_signed ? evolution_.getSignedRange(part.form).signExtend(wide)
                                          : evolution_.getUnsignedRange(part.form).zeroExtend(wide);
    const APInt constant(wide, uint64_t(part.constant), true);
    const APInt low = range.getSignedMin() + constant, high = range.getSignedMax() + constant;
    const bool fits = is_signed ? low.isSignedIntN(width) && high.isSignedIntN(width)
                                : !low.isNegative() && high.isIntN(width);
    if (!fits) return whole(&extension);
    const SCEV* form = is_signed ? evolution_.getSignExtendExpr(part.form, extension.getType())
                                 : evolution_.getZeroExtendExpr(part.form, extension.getType());
    return {form, part.constant};
  }

  ScalarEvolution& evolution_;
};

void add(TouchPlace& place, const AccessForm& form, uint32_t number, int64_t first) {
  const Touch& touch = form.touches[number];
  const auto known =
      std::find_if(place.touches.begin(), place.touches.end(), [&](const TouchesOfPlace& other) {
        return kind_of(form.touches[other.touch]) == kind_of(touch);
      });
  TouchesOfPlace& touches = known != place.touches.end()
                                ? *known
                                : place.touches.emplace_back(TouchesOfPlace{number, {}});
  touches.bytes.push_back({first, first + int64_t(touch.bytes)});
}

}  // namespace

std::vector<Range> coarsened(std::vector<Range> spans, size_t most) {
  if (spans.size() <= most) return spans;
  std::vector<int64_t> gaps;
  for (size_t i = 1; i < spans.size(); ++i)
    gaps.push_back(spans[i].begin - spans[i - 1].end);
  const size_t closed = spans.size() - most;
  std::nth_element(gaps.begin(), gaps.begin() + std::ptrdiff_t(closed - 1), gaps.end());
  const int64_t widest_closed = gaps[closed - 1];
  std::vector<Range> kept;
  for (const Range& span : spans) {
    if (!kept.empty() && span.begin - kept.back().end <= widest_closed) {
      kept.back().end = span.end;
    } else {
      kept.push_back(span);
    }
  }
  return kept;
}

uint32_t touch_number(const CallInst& call) {
  return uint32_t(cast<ConstantInt>(call.getArgOperand(1))->getZExtValue());
}

std::vector<TouchPlace> touch_places(const std::vector<CallInst*>& calls, const AccessForm& form,
                                     ScalarEvolution& evolution) {
  Displacer displacer(evolution);
  struct Known {
    size_t place;
    int64_t constant;  // of the first call's offset
  };
  std::vector<TouchPlace> places;
  std::map<std::pair<const BasicBlock*, const SCEV*>, Known> known;
  for (CallInst* call : calls) {
    const Displaced at = displacer.split(evolution.getSCEV(call->getArgOperand(0)));
    const auto [found, is_new] =
        known.try_emplace({call->getParent(), at.form}, Known{places.size(), at.constant});
    if (is_new) places.emplace_back();
    TouchPlace& place = places[found->second.place];
    place.calls.push_back(call);
    add(place, form, touch_number(*call), at.constant - found->second.constant);
  }
  for (TouchPlace& place : places) {
    for (TouchesOfPlace& touches : place.touches)
      join_ranges(touches.bytes);
  }
  return places;
}

}  // namespace sluice::analysis
