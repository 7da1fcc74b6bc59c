#include "hostcuda/jit/convergence/lane_values.hpp"

#include <array>
#include <optional>

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/MathExtras.h>

#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

constexpr unsigned most_value_steps = 256;  // of operands' operands

bool is_narrow_integer(const Type& type) {
  return type.isIntegerTy() && type.getIntegerBitWidth() <= 64;
}

uint64_t mask_of(unsigned width) {
  return maskTrailingOnes<uint64_t>(width);
}

std::optional<uint64_t> divide(unsigned opcode, uint64_t a, uint64_t b, unsigned width) {
  const int64_t left = SignExtend64(a, width);
  const int64_t right = SignExtend64(b, width);
  if (b == 0 || (right == -1 && left == INT64_MIN)) return std::nullopt;
  switch (opcode) {
    case Instruction::UDiv:
      return a / b;
    case Instruction::URem:
      return a % b;
    case Instruction::SDiv:
      return static_cast<uint64_t>(left / right);
    default:
      return static_cast<uint64_t>(left % right);
  }
}

// Empty where the result is poison or another operation is asked for.
std::optional<uint64_t> combine(unsigned opcode, uint64_t a, uint64_t b, unsigned width) {
  switch (opcode) {
    case Instruction::Add:
      return a + b;
    case Instruction::Sub:
      return a - b;
    case Instruction::Mul:
      return a * b;
    case Instruction::And:
      return a & b;
    case Instruction::Or:
      return a | b;
    case Instruction::Xor:
      return a ^ b;
    case Instruction::UDiv:
    case Instruction::URem:
    case Instruction::SDiv:
    case Instruction::SRem:
      return divide(opcode, a, b, width);
    default:
      break;
  }
  if (b >= width) return std::nullopt;
  switch (opcode) {
    case Instruction::Shl:
      return a << b;
    case Instruction::LShr:
      return a >> b;
    case Instruction::AShr:
      return static_cast<uint64_t>(SignExtend64(a, width) >> b);
    default:
      return std::nullopt;
  }
}

bool compare(CmpInst::Predicate predicate, uint64_t a, uint64_t b, unsigned width) {
  return ICmpInst::compare(APInt(width, a), APInt(width, b), predicate);
}

std::optional<uint64_t> choose(Intrinsic::ID id, uint64_t a, uint64_t b, unsigned width) {
  const bool less = SignExtend64(a, width) < SignExtend64(b, width);
  switch (id) {
    case Intrinsic::umin:
      return std::min(a, b);
    case Intrinsic::umax:
      return std::max(a, b);
    case Intrinsic::smin:
      return less ? a : b;
    case Intrinsic::smax:
      return less ? b : a;
    default:
      return std::nullopt;
  }
}

std::optional<uint64_t> cast_value(const CastInst& cast, uint64_t value) {
  switch (cast.getOpcode()) {
    case Instruction::ZExt:
    case Instruction::Trunc:
      return value;
    case Instruction::SExt:
      return static_cast<uint64_t>(signed_lane(value, *cast.getSrcTy()));
    default:
      return std::nullopt;
  }
}

// What one thread computes from its operands' values.
std::optional<uint64_t> evaluate(const Instruction& instruction, ArrayRef<uint64_t> operands) {
  const unsigned width = instruction.getOperand(0)->getType()->getIntegerBitWidth();
  if (auto* cast = dyn_cast<CastInst>(&instruction)) return cast_value(*cast, operands[0]);
  if (isa<FreezeInst>(instruction)) return operands[0];
  if (isa<SelectInst>(instruction)) return operands[0] != 0 ? operands[1] : operands[2];
  if (auto* test = dyn_cast<ICmpInst>(&instruction)) {
    return compare(test->getPredicate(), operands[0], operands[1], width);
  }
  if (auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction)) {
    if (operands.size() != 2) return std::nullopt;
    return choose(intrinsic->getIntrinsicID(), operands[0], operands[1], width);
  }
  if (!isa<BinaryOperator>(instruction)) return std::nullopt;
  return combine(instruction.getOpcode(), operands[0], operands[1], width);
}

bool is_computed(const Instruction& instruction) {
  return isa<BinaryOperator, CastInst, ICmpInst, SelectInst, FreezeInst, MinMaxIntrinsic>(
             instruction) &&
         is_narrow_integer(*instruction.getType());
}

}  // namespace

int64_t signed_lane(uint64_t value, const Type& type) {
  return SignExtend64(value, type.getIntegerBitWidth());
}

LaneValues::LaneValues(const Function& function, const Dim3& block) : threads_(block.count()) {
  std::array<Lanes, 3> indices;
  for (uint32_t z = 0; z < block.z; ++z) {
    for (uint32_t y = 0; y < block.y; ++y) {
      for (uint32_t x = 0; x < block.x; ++x) {
        indices[0].push_back(x);
        indices[1].push_back(y);
        indices[2].push_back(z);
      }
    }
  }
  for (unsigned axis = 0; axis < 3; ++axis)
    assume(function.getArg(ThreadFunction::tid + axis), std::move(indices[axis]));
}

LaneValues LaneValues::of_all(const Function& function, const Dim3& block) {
  LaneValues values(1);
  const std::array<uint32_t, 3> extents = {block.x, block.y, block.z};
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (extents[axis] == 1) values.assume(function.getArg(ThreadFunction::tid + axis), {0});
  }
  return values;
}

const LaneValues::Lanes* LaneValues::keep(Lanes lanes) {
  kept_.push_back(std::make_unique<Lanes>(std::move(lanes)));
  return kept_.back().get();
}

const LaneValues::Lanes* LaneValues::find(const Value* value, unsigned depth) {
  if (const auto found = known_.find(value); found != known_.end()) return found->second;
  const Lanes* lanes = nullptr;
  if (auto* constant = dyn_cast<ConstantInt>(value)) {
    if (is_narrow_integer(*constant->getType()))
      lanes = keep(Lanes(threads_, constant->getZExtValue()));
  } else if (auto* instruction = dyn_cast<Instruction>(value)) {
    if (depth > most_value_steps) return nullptr;
    if (is_computed(*instruction)) lanes = compute(*instruction, depth);
  }
  return known_[value] = lanes;
}

// What one operand decides, whatever the others are.
const LaneValues::Lanes* LaneValues::decide(const Instruction& instruction, unsigned depth) {
  const auto is_all = [&](const Lanes* lanes, uint64_t value) {
    return lanes && all_of(*lanes, [&](uint64_t lane) { return lane == value; });
  };
  if (isa<SelectInst>(instruction)) {
    const Lanes* condition = find(instruction.getOperand(0), depth + 1);
    if (is_all(condition, 1)) return find(instruction.getOperand(1), depth + 1);
    if (is_all(condition, 0)) return find(instruction.getOperand(2), depth + 1);
    return nullptr;
  }
  const bool is_or = instruction.getOpcode() == Instruction::Or;
  if (!is_or && instruction.getOpcode() != Instruction::And) return nullptr;
  const uint64_t deciding = is_or ? mask_of(instruction.getType()->getIntegerBitWidth()) : 0;
  for (const Use& operand : instruction.operands()) {
    const Lanes* lanes = find(operand, depth + 1);
    if (is_all(lanes, deciding)) return lanes;
  }
  return nullptr;
}

const LaneValues::Lanes* LaneValues::compute(const Instruction& instruction, unsigned depth) {
  const unsigned count = isa<IntrinsicInst>(instruction)
                             ? cast<IntrinsicInst>(instruction).arg_size()
                             : instruction.getNumOperands();
  SmallVector<const Lanes*, 3> operands;
  for (unsigned i = 0; i < count; ++i) {
    if (!is_narrow_integer(*instruction.getOperand(i)->getType())) return nullptr;
    operands.push_back(find(instruction.getOperand(i), depth + 1));
    if (!operands.back()) return decide(instruction, depth);
  }
  const uint64_t mask = mask_of(instruction.getType()->getIntegerBitWidth());
  Lanes lanes(threads_);
  SmallVector<uint64_t, 3> values(count);
  for (size_t thread = 0; thread < threads_; ++thread) {
    for (unsigned i = 0; i < count; ++i)
      values[i] = (*operands[i])[thread];
    // Where a thread's result has no meaning, any will do: it does not get there.
    lanes[thread] = evaluate(instruction, values).value_or(0) & mask;
  }
  return keep(std::move(lanes));
}

}  // namespace sluice::hostcuda::jit
