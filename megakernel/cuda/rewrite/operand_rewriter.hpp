// The operands of a task body's instructions: parameters, variables and special registers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "megakernel/cuda/rewrite/rewrite_context.hpp"
#include "ptx/syntax.hpp"

namespace sluice::megakernel {

// OperandRewriter replaces what names a place or a register of the launch by what a task has for
// it. It lives as long as one function is rewritten, since it numbers that function's temporaries.
class OperandRewriter {
 public:
  // `is_entry`: the function is the kernel itself.
  OperandRewriter(const RewriteContext& context, bool is_entry)
      : context_(context), is_entry_(is_entry) {}

  // rewrite() replaces the instruction's operands; what computes them goes to the end of `out`.
  // Throws a Refusal.
  void rewrite(ptx::Instruction& instruction, ptx::Block& out);

 private:
  std::string temporary(ptx::Block& out, const char* type);
  void rewrite_name(const ptx::Identifier& name, const ptx::Instruction& instruction,
                    ptx::Operand& leaf, ptx::Block& out);
  void rewrite_offset(const ptx::Offset& offset, const ptx::Instruction& instruction,
                      ptx::Operand& leaf, ptx::Block& out);
  // is_moved() is whether a name of the pool is one that each group of threads has its own of.
  bool is_moved(const std::string& name) const;
  ptx::Operand own_place(int64_t offset, const ptx::Instruction& instruction, ptx::Block& out);
  void rewrite_address(ptx::Address& address, const ptx::Instruction& instruction, ptx::Block& out);
  void rewrite_register(const ptx::Identifier& name, ptx::Operand& leaf, ptx::Block& out);
  std::string load_address(const std::string& variable, ptx::Block& out);
  std::string load_control(uint32_t offset, ptx::Block& out);
  std::string position(std::string_view what, const std::string& component, ptx::Block& out);

  const RewriteContext& context_;
  const bool is_entry_;
  unsigned temporaries_ = 0;
};

}  // namespace sluice::megakernel
