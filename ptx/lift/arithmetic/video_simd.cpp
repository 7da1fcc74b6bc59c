// Video instructions on two halves or four bytes at once. Source: PTX ISA, SIMD video instructions.
#include <llvm/IR/Constants.h>

#include "ptx/lift/arithmetic/video.hpp"

namespace sluice::ptx::lift_detail {

namespace {

struct SimdLanes {
  unsigned count = 4;
  unsigned bits() const { return 32 / count; }
  char letter() const { return count == 4 ? 'b' : 'h'; }
};

// digits() are a selector's digits from the lowest lane up, or `standard`'s where it is empty.
std::string digits(InstructionLifter& lifter, const SimdLanes& lanes, const std::string& selector,
                   std::string_view standard, char largest) {
  if (selector.empty()) return std::string(standard.rbegin(), standard.rend());
  const std::string_view numbers = std::string_view(selector).substr(1);
  for (char digit : numbers) {
    if (digit < '0' || digit > largest) lifter.refuse_invalid("it selects what there is not");
  }
  if (selector[0] != lanes.letter() || numbers.empty() || numbers.size() > lanes.count) {
    lifter.refuse_invalid("it selects what there is not");
  }
  return std::string(numbers.rbegin(), numbers.rend());
}

class SimdLifter {
 public:
  SimdLifter(InstructionLifter& lifter, SimdLanes lanes) : lifter_(lifter), lanes_(lanes) {}

  void lift() {
    const auto comparison = take_comparison(lifter_);
    const bool gives_signed = !comparison && take_video_type(lifter_);
    const bool a_signed = take_video_type(lifter_);
    const bool b_signed = take_video_type(lifter_);
    const bool sums = lifter_.modifiers.take("add");
    const bool saturates = lifter_.modifiers.take("sat");
    const VideoOperand a = video_operand(lifter_, 1);
    const VideoOperand b = video_operand(lifter_, 2);
    const VideoOperand to = video_operand(lifter_, 0);
    first_ = lifter_.read(a.whole, ScalarType::b32);
    second_ = lifter_.read(b.whole, ScalarType::b32);
    const bool is_pair = lanes_.count == 2;
    const char last = static_cast<char>('0' + 2 * lanes_.count - 1);
    const std::string from_a = digits(lifter_, lanes_, a.selector, is_pair ? "10" : "3210", last);
    const std::string from_b = digits(lifter_, lanes_, b.selector, is_pair ? "32" : "7654", last);
    if (from_a.size() != lanes_.count || from_b.size() != lanes_.count) {
      lifter_.refuse_invalid("its selectors name too few parts");
    }
    const std::string mask = digits(lifter_, lanes_, to.selector, is_pair ? "10" : "3210",
                                    static_cast<char>('0' + lanes_.count - 1));
    llvm::IRBuilder<>& ir = lifter_.ir();
    llvm::Value* result = lifter_.read(3, ScalarType::b32);
    for (unsigned i = 0; i < lanes_.count; ++i) {
      if (mask.find(static_cast<char>('0' + i)) == std::string::npos) continue;
      llvm::Value* value = video_result(lifter_, comparison, chosen(from_a[i], a_signed),
                                        chosen(from_b[i], b_signed));
      if (saturates) value = clamp(lifter_, value, lanes_.bits(), gives_signed);
      value = ir.CreateTrunc(value, ir.getInt32Ty());
      result = sums ? ir.CreateAdd(result, value) : merged(result, i, value);
    }
    lifter_.write(to.whole, result, ScalarType::b32);
  }

 private:
  // Parts are numbered through both registers, the first one's lower.
  llvm::Value* chosen(char digit, bool is_signed) {
    const auto number = static_cast<unsigned>(digit - '0');
    return part(lifter_, number < lanes_.count ? first_ : second_,
                number % lanes_.count * lanes_.bits(), lanes_.bits(), is_signed);
  }

  llvm::Value* merged(llvm::Value* around, unsigned lane, llvm::Value* value) {
    llvm::IRBuilder<>& ir = lifter_.ir();
    const uint32_t mask = ((1U << lanes_.bits()) - 1) << lane * lanes_.bits();
    llvm::Value* inside = ir.CreateAnd(ir.CreateShl(value, uint64_t{lane} * lanes_.bits()), mask);
    return ir.CreateOr(inside, ir.CreateAnd(around, ~mask));
  }

  InstructionLifter& lifter_;
  SimdLanes lanes_;
  llvm::Value* first_ = nullptr;
  llvm::Value* second_ = nullptr;
};

}  // namespace

void lift_video_pairs(InstructionLifter& lifter) {
  SimdLifter(lifter, SimdLanes{2}).lift();
}

void lift_video_quadruple(InstructionLifter& lifter) {
  SimdLifter(lifter, SimdLanes{4}).lift();
}

}  // namespace sluice::ptx::lift_detail
