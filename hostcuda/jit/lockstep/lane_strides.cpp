#include "hostcuda/jit/lockstep/lane_strides.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/MathExtras.h>

#include "hostcuda/jit/convergence/lane_values.hpp"

namespace sluice::hostcuda::jit {

using namespace llvm;

std::optional<int64_t> LaneStrides::of(const Value* value) {
  if (value == tid_x_) return 1;
  auto* instruction = dyn_cast<Instruction>(value);
  if (!instruction) return 0;
  if (const auto found = known_.find(value); found != known_.end()) return found->second;
  // A loop's variable that comes back to itself changes alike for all threads, until shown
  // otherwise.
  if (isa<PHINode>(instruction)) known_[value] = 0;
  const std::optional<int64_t> stride = find(instruction);
  known_[value] = stride;
  return stride;
}

std::optional<int64_t> LaneStrides::find(const Value* value) {
  auto& instruction = *cast<Instruction>(value);
  switch (instruction.getOpcode()) {
    case Instruction::Add:
    case Instruction::Or:  // of disjoint bits, where the stride is not zero
      return of_sum(instruction, 1);
    case Instruction::Sub:
      return of_sum(instruction, -1);
    case Instruction::Mul:
      return of_product(instruction.getOperand(0), instruction.getOperand(1));
    case Instruction::Shl:
      if (auto* amount = dyn_cast<ConstantInt>(instruction.getOperand(1));
          amount && amount->getValue().ult(32)) {
        if (const auto stride = of(instruction.getOperand(0))) {
          return *stride * (int64_t{1} << amount->getZExtValue());
        }
        return std::nullopt;
      }
      break;
    case Instruction::And:
    case Instruction::LShr:
    case Instruction::AShr:
      if (const auto in_warp = of_part(instruction)) return in_warp;
      break;
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem:
      if (const auto in_row = of_row(instruction)) return in_row;
      break;
    case Instruction::Select:
      return of_choice(cast<SelectInst>(instruction));
    case Instruction::SExt:
    case Instruction::ZExt:
    case Instruction::Trunc:
    case Instruction::Freeze:
    case Instruction::PtrToInt:
    case Instruction::IntToPtr:
      return of(instruction.getOperand(0));
    case Instruction::PHI:
      return of_phi(cast<PHINode>(instruction));
    case Instruction::GetElementPtr:
      return of_address(cast<GetElementPtrInst>(instruction));
    case Instruction::Alloca:
      return std::nullopt;
    default:
      break;
  }
  return is_uniform(instruction) ? std::optional<int64_t>(0) : std::nullopt;
}

bool LaneStrides::is_uniform(const User& user) {
  return all_of(user.operands(), [&](const Use& operand) {
    return isa<BasicBlock>(operand.get()) || of(operand.get()) == 0;
  });
}

std::optional<int64_t> LaneStrides::of_sum(const User& sum, int sign) {
  const auto first = of(sum.getOperand(0));
  const auto second = of(sum.getOperand(1));
  if (!first || !second) return std::nullopt;
  return *first + sign * *second;
}

// Five bits of a value with a stride of 2^n tell a lane from the others of its warp, those from n
// on: a part of the value has all of them, or none and then all lanes have the same. That goes for
// a thread's place in its warp (x & 31) and for its warp's number (x >> 5), also times 32
// (x & ~31), and as compilers write them together: (x << 5) & ~1023.
std::optional<int64_t> LaneStrides::of_part(const User& part) {
  auto* constant = dyn_cast<ConstantInt>(part.getOperand(1));
  const auto stride = of(part.getOperand(0));
  if (!constant || !stride || *stride <= 0 || !isPowerOf2_64(static_cast<uint64_t>(*stride)))
    return std::nullopt;
  constexpr unsigned bits_of_lane = 5;
  const APInt& bits = constant->getValue();
  const unsigned first = Log2_64(static_cast<uint64_t>(*stride));
  if (first + bits_of_lane > bits.getBitWidth()) return std::nullopt;
  if (cast<Instruction>(part).getOpcode() != Instruction::And) {
    if (bits.uge(first + bits_of_lane)) return 0;
    return bits.ule(first) ? std::optional<int64_t>(*stride >> bits.getZExtValue()) : std::nullopt;
  }
  const APInt of_lane = bits.extractBits(bits_of_lane, first);
  if (of_lane.isZero()) return 0;
  return of_lane.isAllOnes() ? stride : std::nullopt;
}

// Neighbours that divide their number by a width, the same for all of them, nearly always stand in
// one row.
std::optional<int64_t> LaneStrides::of_row(const User& division) {
  if (of(division.getOperand(0)) != 1 || of(division.getOperand(1)) != 0) return std::nullopt;
  auto* width = dyn_cast<ConstantInt>(division.getOperand(1));
  if (width && width->getValue().ult(warp_size)) return std::nullopt;
  const unsigned opcode = cast<Instruction>(division).getOpcode();
  const bool is_quotient = opcode == Instruction::UDiv || opcode == Instruction::SDiv;
  return is_quotient ? 0 : 1;
}

// Of two strides that of the second value, where all threads choose alike: as the lifter writes it
// (ptx/lift.hpp) the first is for divisors of 0 and -1.
std::optional<int64_t> LaneStrides::of_choice(const SelectInst& choice) {
  if (of(choice.getCondition()) != 0 || !of(choice.getTrueValue())) return std::nullopt;
  return of(choice.getFalseValue());
}

std::optional<int64_t> LaneStrides::of_product(const Value* value, const Value* factor) {
  if (isa<ConstantInt>(value)) std::swap(value, factor);
  const auto stride = of(value);
  const auto other = of(factor);
  if (!stride || !other || *other != 0) {
    return stride == 0 && other == 0 ? stride : std::nullopt;
  }
  if (*stride == 0) return 0;
  auto* constant = dyn_cast<ConstantInt>(factor);
  if (!constant || constant->getValue().getSignificantBits() > 32) return std::nullopt;
  return *stride * constant->getSExtValue();
}

// Whether a value is made of the phi's by additions, perhaps around other loops; those whose stride
// is known already are starts.
bool LaneStrides::comes_back(const Value* value, const PHINode& phi) const {
  constexpr size_t most_values = 64;  // unrolled loops add several times
  SmallSetVector<const Value*, 16> seen;
  seen.insert(value);
  for (size_t i = 0; i < seen.size() && i < most_values; ++i) {
    if (seen[i] == &phi) return true;
    auto* instruction = dyn_cast<Instruction>(seen[i]);
    if (!instruction || known_.contains(instruction)) continue;
    if (instruction->getOpcode() == Instruction::Add ||
        isa<GetElementPtrInst, PHINode>(instruction)) {
      seen.insert(instruction->value_op_begin(), instruction->value_op_end());
    }
  }
  return false;
}

// The stride with which a loop begins, where what comes back has it as well.
std::optional<int64_t> LaneStrides::of_phi(const PHINode& phi) {
  std::optional<int64_t> common;
  SmallVector<const Value*, 4> rounds;
  for (const Value* incoming : phi.incoming_values()) {
    if (incoming == &phi || isa<UndefValue>(incoming)) continue;
    if (comes_back(incoming, phi)) {
      rounds.push_back(incoming);
      continue;
    }
    const auto stride = of(incoming);
    if (!stride || (common && *common != *stride)) return std::nullopt;
    common = stride;
  }
  if (!common) return std::nullopt;
  known_[&phi] = common;
  for (const Value* incoming : rounds)
    if (of(incoming) != common) return std::nullopt;
  return common;
}

std::optional<int64_t> LaneStrides::of_address(const GetElementPtrInst& address) {
  auto total = of(address.getPointerOperand());
  for (auto index = gep_type_begin(address); total && index != gep_type_end(address); ++index) {
    const auto stride = of(index.getOperand());
    if (!stride) return std::nullopt;
    if (*stride == 0) continue;
    if (index.isStruct()) return std::nullopt;
    *total +=
        *stride * static_cast<int64_t>(index.getSequentialElementStride(layout_).getFixedValue());
  }
  return total;
}

}  // namespace sluice::hostcuda::jit
