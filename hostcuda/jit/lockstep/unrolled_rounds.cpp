#include "hostcuda/jit/lockstep/unrolled_rounds.hpp"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

#include "hostcuda/jit/lockstep/lockstep_candidates.hpp"

namespace sluice::hostcuda::jit {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// Operands of a commutative operation may be compared twice, and sums be taken apart again: loops
// that differ at the end of a long chain would take long to tell.
constexpr size_t most_steps = 50000;

}  // namespace

void Linear::add(const Term& term, uint64_t factor) {
  if ((terms[term] += factor) == 0) terms.erase(term);
}

void Linear::add(const Linear& other, uint64_t factor) {
  constant += other.constant * factor;
  for (const auto& [term, times] : other.terms)
    add(term, times * factor);
}

std::optional<int64_t> step_of(const PHINode& phi) {
  const BasicBlock* loop = phi.getParent();
  if (phi.getBasicBlockIndex(loop) < 0) return std::nullopt;
  const APInt* step = nullptr;
  const Value* next = phi.getIncomingValueForBlock(loop);
  const auto* address = dyn_cast<GetElementPtrInst>(next);
  const bool is_step = address ? address->getPointerOperand() == &phi &&
                                     address->getNumIndices() == 1 &&
                                     address->getSourceElementType()->isIntegerTy(8) &&
                                     match(address->getOperand(1), m_APInt(step))
                               : match(next, m_Add(m_Specific(&phi), m_APInt(step)));
  return is_step && step->getBitWidth() <= 64 ? std::optional(step->getSExtValue()) : std::nullopt;
}

bool UnrolledRounds::are_the_same() {
  for (const auto& [of_one, of_many] : loops_.partners) {
    const Value* next = of_many->getIncomingValueForBlock(loops_.many);
    if (!is_same(next, of_one->getIncomingValueForBlock(loops_.one), loops_.count - 1))
      return false;
  }
  return have_same_accesses();
}

// Loads may stand in any order, and beside stores all stand in the same.
bool UnrolledRounds::have_same_accesses() {
  bool writes = false;
  const auto accesses = [&](const BasicBlock& block) {
    std::vector<const Instruction*> found;
    for (const Instruction& instruction : block) {
      writes |= instruction.mayWriteToMemory();
      if (instruction.mayReadOrWriteMemory()) found.push_back(&instruction);
    }
    return found;
  };
  const auto of_one = accesses(*loops_.one);
  const auto of_many = accesses(*loops_.many);
  if (!writes) return true;
  if (of_many.size() != loops_.count * of_one.size()) return false;
  for (size_t i = 0; i < of_many.size(); ++i) {
    const auto round = static_cast<unsigned>(i / of_one.size());
    if (!is_same_instruction(*of_many[i], *of_one[i % of_one.size()], round)) return false;
  }
  return true;
}

bool UnrolledRounds::is_inside(const Value* value) const {
  const auto* instruction = dyn_cast<Instruction>(value);
  return instruction &&
         (instruction->getParent() == loops_.one || instruction->getParent() == loops_.many);
}

bool UnrolledRounds::is_same(const Value* of_many, const Value* of_one, unsigned round) {
  const auto known = known_.find({of_one, round});
  if (known != known_.end()) return known->second == of_many;
  if (++steps_ > most_steps) return false;
  if (const auto sum = linear(of_one)) {
    const auto expected = in_round(*sum, round);
    return expected && expected == linear(of_many);
  }
  if (!is_inside(of_one)) return of_one == of_many;
  if (const auto* phi = dyn_cast<PHINode>(of_one)) {
    if (round > 0) return is_same(of_many, phi->getIncomingValueForBlock(loops_.one), round - 1);
    return of_many != nullptr && loops_.partners.lookup(phi) == of_many;
  }
  if (!is_inside(of_many)) return false;
  if (!is_same_instruction(*cast<Instruction>(of_many), *cast<Instruction>(of_one), round))
    return false;
  known_[{of_one, round}] = of_many;
  return true;
}

bool UnrolledRounds::is_same_instruction(const Instruction& of_many, const Instruction& of_one,
                                         unsigned round) {
  if (!is_plain(of_one) || !is_plain(of_many) || !of_many.isSameOperationAs(&of_one)) return false;
  if (isa<FPMathOperator>(of_one) && of_one.getFastMathFlags() != of_many.getFastMathFlags())
    return false;
  const auto operands_are_same = [&](bool swapped) {
    for (unsigned i = 0; i < of_one.getNumOperands(); ++i) {
      const unsigned j = swapped && i < 2 ? 1 - i : i;
      if (!is_same(of_many.getOperand(j), of_one.getOperand(i), round)) return false;
    }
    return true;
  };
  return operands_are_same(false) || (of_one.isCommutative() && operands_are_same(true));
}

// leaf() is the one value that stands for all outside of the loops that are computed alike.
const Value* UnrolledRounds::leaf(const Value* value) {
  const auto* instruction = dyn_cast<Instruction>(value);
  const bool is_pure = instruction && !is_inside(value) &&
                       isa<BinaryOperator, CastInst, CmpInst>(instruction) && ++steps_ < most_steps;
  if (!is_pure) return value;
  std::vector<const void*> key = {
      reinterpret_cast<const void*>(uintptr_t{instruction->getOpcode()}), instruction->getType()};
  if (const auto* compare = dyn_cast<CmpInst>(instruction))
    key.push_back(reinterpret_cast<const void*>(uintptr_t{compare->getPredicate()}));
  for (const Value* operand : instruction->operand_values())
    key.push_back(leaf(operand));
  return leaves_.try_emplace(std::move(key), value).first->second;
}

std::optional<Linear> UnrolledRounds::linear(const Value* value) {
  Type* type = value->getType();
  if (!type->isPointerTy() && !(type->isIntegerTy() && type->getIntegerBitWidth() <= 64))
    return std::nullopt;
  if (++steps_ > most_steps) return std::nullopt;
  Linear sum;
  if (const auto* number = dyn_cast<ConstantInt>(value)) {
    sum.constant = static_cast<uint64_t>(number->getSExtValue());
    return sum;
  }
  if (const auto* instruction = dyn_cast<Instruction>(value)) {
    if (auto found = of_instruction(*instruction)) return found;
    if (is_inside(value)) return std::nullopt;
  }
  sum.add({leaf(value), Linear::Width::whole}, 1);
  return sum;
}

std::optional<Linear> UnrolledRounds::of_instruction(const Instruction& instruction) {
  Linear sum;
  const auto add = [&](unsigned operand, uint64_t factor) {
    const auto part = linear(instruction.getOperand(operand));
    if (part) sum.add(*part, factor);
    return part.has_value();
  };
  const auto result = [&](bool is_sum) { return is_sum ? std::optional(sum) : std::nullopt; };
  const APInt* constant = nullptr;
  switch (instruction.getOpcode()) {
    case Instruction::PHI:
      return is_inside(&instruction) ? of_variable(cast<PHINode>(instruction)) : std::nullopt;
    case Instruction::Add:
      return result(add(0, 1) && add(1, 1));
    case Instruction::Sub:
      return result(add(0, 1) && add(1, ~uint64_t{0}));
    case Instruction::Xor:  // ~x is -1 - x
      sum.constant = ~uint64_t{0};
      return result(match(instruction.getOperand(1), m_AllOnes()) && add(0, ~uint64_t{0}));
    case Instruction::Shl:
      return result(match(instruction.getOperand(1), m_APInt(constant)) && constant->ult(64) &&
                    add(0, uint64_t{1} << constant->getZExtValue()));
    case Instruction::Mul:
      return result(match(instruction.getOperand(1), m_APInt(constant)) &&
                    add(0, static_cast<uint64_t>(constant->getSExtValue())));
    case Instruction::PtrToInt:
      return result(instruction.getType()->isIntegerTy(64) && add(0, 1));
    case Instruction::IntToPtr:
      return result(instruction.getOperand(0)->getType()->isIntegerTy(64) && add(0, 1));
    case Instruction::SExt:
    case Instruction::ZExt:
      return widened(cast<CastInst>(instruction));
    case Instruction::GetElementPtr:
      return address(cast<GetElementPtrInst>(instruction));
    default:
      return std::nullopt;
  }
}

// A variable that has no partner may be one of place, where it begins and grows like that.
std::optional<Linear> UnrolledRounds::of_variable(const PHINode& phi) {
  const auto step = step_of(phi);
  if (!step) return std::nullopt;
  const bool is_of_one = phi.getParent() == loops_.one;
  Linear sum;
  if (is_of_one ? loops_.partners.contains(&phi)
                : any_of(loops_.partners, [&](const auto& pair) { return pair.second == &phi; })) {
    sum.add({&phi, Linear::Width::whole}, 1);
    return sum;
  }
  const PHINode* place = is_of_one ? loops_.place : loops_.partners.lookup(loops_.place);
  const Value* begin = leaf(is_of_one ? loops_.start : loops_.middle);
  const unsigned outside = phi.getIncomingBlock(0) == phi.getParent() ? 1 : 0;
  auto found = linear(phi.getIncomingValue(outside));
  if (!found) return std::nullopt;
  uint64_t grows = 0;
  for (const auto& [term, factor] : found->terms) {
    if (term.first != begin) {
      sum.add(term, factor);
      continue;
    }
    sum.add({place, term.second}, factor);
    grows += factor * static_cast<uint64_t>(*step_of(*place));
  }
  sum.constant = found->constant;
  return grows == static_cast<uint64_t>(*step) ? std::optional(sum) : std::nullopt;
}

// What does not wrap is place itself, in each of the rounds that `many` runs at once.
std::optional<Linear> UnrolledRounds::widened(const CastInst& cast) {
  Linear sum;
  const PHINode* of_many = loops_.partners.lookup(loops_.place);
  const Value* base = cast.getOperand(0);
  const APInt* constant = nullptr;
  if (match(base, m_Add(m_Specific(of_many), m_APInt(constant)))) {
    const auto last = static_cast<uint64_t>(*step_of(*loops_.place)) * (loops_.count - 1);
    if (constant->ugt(last)) return std::nullopt;
    sum.constant = constant->getZExtValue();
    base = of_many;
  }
  const bool is_place = base == loops_.place || base == of_many;
  if (is_inside(base) && !is_place) return std::nullopt;
  if (is_place && isa<SExtInst>(cast) && !loops_.is_signed) return std::nullopt;
  const Value* of = leaf(base);
  const bool counts = is_place || of == leaf(loops_.start) || of == leaf(loops_.middle);
  const bool is_signed = isa<SExtInst>(cast) && !(counts && loops_.is_signed);
  sum.add({of, is_signed ? Linear::Width::sign_extended : Linear::Width::zero_extended}, 1);
  return sum;
}

std::optional<Linear> UnrolledRounds::address(const GetElementPtrInst& address) {
  const DataLayout& layout = address.getModule()->getDataLayout();
  constexpr unsigned bits = 64;
  MapVector<Value*, APInt> variable;
  APInt constant(bits, 0);
  if (!cast<GEPOperator>(address).collectOffset(layout, bits, variable, constant))
    return std::nullopt;
  auto sum = linear(address.getPointerOperand());
  if (!sum) return std::nullopt;
  sum->constant += constant.getZExtValue();
  for (const auto& [index, factor] : variable) {
    const auto part = index->getType()->isIntegerTy(bits) ? linear(index) : std::nullopt;
    if (!part) return std::nullopt;
    sum->add(*part, factor.getZExtValue());
  }
  return sum;
}

// What a sum of the first loop is in one of the rounds that the second runs at once.
std::optional<Linear> UnrolledRounds::in_round(const Linear& of_one, unsigned round) const {
  Linear sum;
  sum.constant = of_one.constant;
  for (const auto& [term, factor] : of_one.terms) {
    const auto* phi = dyn_cast<PHINode>(term.first);
    if (!phi || phi->getParent() != loops_.one) {
      sum.add(term, factor);
      continue;
    }
    const PHINode* partner = loops_.partners.lookup(phi);
    if (partner == nullptr) return std::nullopt;
    sum.add({partner, term.second}, factor);
    sum.constant += factor * static_cast<uint64_t>(*step_of(*phi)) * round;
  }
  return sum;
}

}  // namespace sluice::hostcuda::jit
