#include "hostcuda/jit/threads/lane_numbers.hpp"

#include <optional>
#include <utility>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;
using namespace llvm::PatternMatch;

// LaneNumbers finds what an instruction is for the lanes of one warp.
class LaneNumbers {
 public:
  LaneNumbers(const WarpLoops& warp, const ThreadLoops& loops)
      : first_(warp.first[0]), tid_(loops.tid[0]), lane_(loops.lane) {}

  // of() is the same as `instruction`, in another form; null where there is no better one.
  Value* of(Instruction& instruction) const {
    IRBuilder<> ir(&instruction);
    Type* type = instruction.getType();
    Value* whole = nullptr;
    const APInt* constant = nullptr;
    if (match(&instruction, m_And(m_Value(whole), m_APInt(constant)))) {
      const std::optional<Parts> parts = parts_of(whole, ir);
      if (!parts) return nullptr;
      const APInt bits = bits_of_lane(*parts, type);
      if (*constant == bits) return shifted(ir.CreateZExt(lane_, type), parts->first_bit, ir);
      return (*constant & bits).isZero() ? ir.CreateAnd(parts->rest, *constant) : nullptr;
    }
    if (!match(&instruction, m_LShr(m_Value(whole), m_APInt(constant)))) return nullptr;
    Value* rest = nullptr;
    const auto tid = m_CombineOr(m_Specific(tid_), m_ZExt(m_Specific(tid_)));
    // A shift goes over either half of a union.
    if (*constant == lane_bits && match(whole, m_c_Or(m_Value(rest), tid)))
      return ir.CreateOr(ir.CreateLShr(rest, lane_bits),
                         ir.CreateZExt(ir.CreateLShr(first_, lane_bits), type));
    const std::optional<Parts> parts = parts_of(whole, ir);
    if (!parts || constant->ult(parts->first_bit + lane_bits)) return nullptr;
    return ir.CreateLShr(parts->rest, *constant);
  }

 private:
  static constexpr unsigned lane_bits = 5;

  // Parts of a value are its lane's number, from a bit on, and the rest, which has none of those.
  struct Parts {
    Value* rest = nullptr;
    unsigned first_bit = 0;
  };

  static Value* shifted(Value* value, unsigned bits, IRBuilder<>& ir) {
    return bits == 0 ? value : ir.CreateShl(value, bits);
  }

  // What does not overflow doesn't without a lane's number either.
  static Value* with_flags_of(const Value* whole, Value* rest) {
    if (auto* instruction = dyn_cast<Instruction>(rest)) instruction->copyIRFlags(whole);
    return rest;
  }

  static APInt bits_of_lane(const Parts& parts, Type* type) {
    const unsigned first = parts.first_bit;
    return APInt::getBitsSet(type->getIntegerBitWidth(), first, first + lane_bits);
  }

  std::optional<Parts> parts_of(Value* value, IRBuilder<>& ir) const {
    if (value == tid_) return Parts{first_, 0};
    Value* whole = nullptr;
    Value* other = nullptr;
    const APInt* constant = nullptr;
    Type* type = value->getType();
    if (match(value, m_ZExt(m_Value(whole)))) {
      const std::optional<Parts> parts = parts_of(whole, ir);
      if (!parts) return std::nullopt;
      return Parts{with_flags_of(value, ir.CreateZExt(parts->rest, type)), parts->first_bit};
    }
    if (match(value, m_Shl(m_Value(whole), m_APInt(constant)))) {
      const std::optional<Parts> parts = parts_of(whole, ir);
      const unsigned width = type->getIntegerBitWidth();
      if (!parts || constant->ugt(width) ||
          parts->first_bit + lane_bits + constant->getZExtValue() >= width)
        return std::nullopt;
      return Parts{with_flags_of(value, ir.CreateShl(parts->rest, *constant)),
                   parts->first_bit + static_cast<unsigned>(constant->getZExtValue())};
    }
    if (!match(value, m_CombineOr(m_Add(m_Value(whole), m_Value(other)),
                                  m_Or(m_Value(whole), m_Value(other)))))
      return std::nullopt;
    // Of a sum where the other part has no lanes' bits, nor lower ones: nothing is carried into
    // them.
    for (int turn = 0; turn < 2; ++turn, std::swap(whole, other)) {
      const std::optional<Parts> parts = parts_of(whole, ir);
      if (!parts || trailing_zeros(*other, ir) < parts->first_bit + lane_bits) continue;
      const auto operation = cast<BinaryOperator>(value)->getOpcode();
      return Parts{with_flags_of(value, ir.CreateBinOp(operation, parts->rest, other)),
                   parts->first_bit};
    }
    return std::nullopt;
  }

  static unsigned trailing_zeros(const Value& value, IRBuilder<>& ir) {
    const DataLayout& layout = ir.GetInsertBlock()->getModule()->getDataLayout();
    return computeKnownBits(&value, layout).countMinTrailingZeros();
  }

  Value* first_;
  Value* tid_;
  Value* lane_;
};

}  // namespace

void fold_lanes(ArrayRef<BasicBlock*> blocks, const WarpLoops& warp, const ThreadLoops& loops,
                ValueToValueMapTy& map) {
  const LaneNumbers numbers(warp, loops);
  for (BasicBlock* block : blocks) {
    for (Instruction& instruction : make_early_inc_range(*cast<BasicBlock>(map.lookup(block)))) {
      Value* same = numbers.of(instruction);
      if (same == nullptr) continue;
      instruction.replaceAllUsesWith(same);
      instruction.eraseFromParent();
    }
  }
}

}  // namespace sluice::hostcuda::jit
