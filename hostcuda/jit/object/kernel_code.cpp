#include "hostcuda/jit/object/kernel_code.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>

#include "hostcuda/jit/block/block_body.hpp"
#include "hostcuda/jit/block/block_function.hpp"
#include "hostcuda/jit/library/directed_float.hpp"
#include "hostcuda/jit/library/quick_form.hpp"
#include "hostcuda/jit/lines/debug_lines.hpp"
#include "hostcuda/jit/lowering/access_trace.hpp"
#include "hostcuda/jit/object/host_target.hpp"
#include "hostcuda/jit/object/optimiser.hpp"
#include "hostcuda/jit/watch/data_oblivious.hpp"
#include "hostcuda/jit/watch/thread_watch.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// Diagnostics keeps the first error that LLVM reports instead of printing it, which LLVM would do
// in the middle of a user's program.
class Diagnostics : public DiagnosticHandler {
 public:
  explicit Diagnostics(std::string& error) : error_(error) {}
  bool handleDiagnostics(const DiagnosticInfo& info) override {
    if (info.getSeverity() == DS_Error && error_.empty()) {
      raw_string_ostream stream(error_);
      DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }

 private:
  std::string& error_;
};

// Only the block's functions are left to compile.
void drop_thread_function(Module& module, Function* thread) {
  thread->eraseFromParent();
  for (Function& function : make_early_inc_range(module)) {
    if (function.isDeclaration() && function.use_empty()) function.eraseFromParent();
  }
  for (GlobalVariable& variable : make_early_inc_range(module.globals())) {
    variable.removeDeadConstantUsers();
    if (variable.use_empty()) variable.eraseFromParent();
  }
  if (NamedMDNode* annotations = module.getNamedMetadata("nvvm.annotations")) {
    annotations->eraseFromParent();
  }
}

// run_as_quick_form() has QuickForm::run() called in the place of the kernel's function. Blocks
// that wait for each other are at work all at once: they would leave nobody a processor.
void run_as_quick_form(Module& module, const KernelCode& code) {
  Function* own = module.getFunction(code.symbol);
  own->setName(code.symbol + ".quick");
  own->setLinkage(GlobalValue::InternalLinkage);
  Constant* quick = own;
  if (code.waits_for_blocks)
    quick = ConstantPointerNull::get(PointerType::get(own->getContext(), 0));
  emit_call_through(module, code.symbol, run_quick_symbol, quick, quick_form_name);
}

tl::unexpected<Error> at_kernel(Error error, const std::string& kernel) {
  if (error.where.empty()) error.where = fmt::format("kernel {}", kernel);
  return tl::unexpected(std::move(error));
}

// Complaints are LLVM's errors about what is in a context, of which the first is kept.
class Complaints {
 public:
  explicit Complaints(LLVMContext& context) : context_(context) {
    context.setDiagnosticHandler(std::make_unique<Diagnostics>(text_));
  }
  ~Complaints() { context_.setDiagnosticHandler(std::make_unique<DiagnosticHandler>()); }
  Complaints(const Complaints&) = delete;
  Complaints& operator=(const Complaints&) = delete;

  Status status() const {
    if (text_.empty()) return {};
    return tl::unexpected(Error{ErrorKind::system, fmt::format("LLVM: {}", text_)});
  }

 private:
  LLVMContext& context_;
  std::string text_;
};

}  // namespace

Result<LoweredKernel> lower_kernel(LlvmModule lifted, const KernelContext& context) {
  const auto at = [&](Error error) { return at_kernel(std::move(error), context.kernel); };
  const std::unique_ptr<Module>& module = lifted.module;
  const Complaints complaints(*lifted.context);
  Result<std::unique_ptr<TargetMachine>> target = make_host_target();
  if (!target) return at(target.error());

  use_directed_instructions(*module, **target);
  if (context.traced) mark_private_accesses(*module, !context.watched);
  Result<ThreadFunction> thread = make_thread_function(*module, context);
  if (!thread) return at(thread.error());
  if (context.lines) note_lines(*thread, *context.lines);
  // Before anything is simplified, so that no access is optimised away.
  if (context.watched) {
    insert_watch(*thread, context);
  } else if (context.traced) {
    insert_trace(*thread->function);
  }
  module->setTargetTriple((*target)->getTargetTriple().str());
  module->setDataLayout((*target)->createDataLayout());
  if (Status status = verify(*module, "lowering"); !status) return at(status.error());
  simplify(*thread->function, **target);
  read_structures_first(*thread);
  bind_origin(*thread->function);
  if (context.watched) tell_data_oblivious(*thread);

  KernelCode code;
  ExchangePlan layout;
  const BlockBody body = emit_block_body(*thread, context, layout);
  const uint64_t shared_offset = body.private_bytes + body.bytes_below_shared;
  code.symbol = fmt::format("{}.block.{}x{}x{}", context.kernel, context.block.x, context.block.y,
                            context.block.z);
  emit_block_function(body, shared_offset, thread->is_flushing, code.symbol);
  code.scratch_bytes = shared_offset + std::max(thread->static_shared_bytes, body.shared_bytes);
  code.waits_for_blocks = body.waits_for_blocks;
  drop_thread_function(*module, thread->function);
  if (context.lines) settle_lines(*module, context.kernel, *context.lines);
  if (Status status = verify(*module, "region splitting"); !status) return at(status.error());
  if (Status status = complaints.status(); !status) return at(status.error());
  return LoweredKernel{std::move(lifted), context.kernel, std::move(code)};
}

Result<KernelCode> finish_kernel(LoweredKernel kernel, Form form) {
  const auto at = [&](Error error) { return at_kernel(std::move(error), kernel.kernel); };
  Module& module = *kernel.llvm.module;
  const Complaints complaints(*kernel.llvm.context);
  Result<std::unique_ptr<TargetMachine>> target = make_host_target();
  if (!target) return at(target.error());
  define_directed_floats(module);
  if (form == Form::quick) {
    run_as_quick_form(module, kernel.code);
    optimise_quickly(module, **target);
  } else {
    optimise(module, **target);
  }
  inline_directed_floats(module);
  Result<std::unique_ptr<MemoryBuffer>> object = compile(module, **target);
  if (!object) return at(object.error());
  if (Status status = complaints.status(); !status) return at(status.error());
  kernel.code.object = std::move(*object);
  return std::move(kernel.code);
}

PackedKernel packed(const LoweredKernel& kernel) {
  const KernelCode& code = kernel.code;
  PackedKernel packed{
      "", kernel.kernel, {nullptr, code.symbol, code.scratch_bytes, code.waits_for_blocks}};
  raw_string_ostream stream(packed.bitcode);
  WriteBitcodeToFile(*kernel.llvm.module, stream);
  return packed;
}

Result<LoweredKernel> unpacked(PackedKernel packed) {
  LlvmModule llvm;
  Expected<std::unique_ptr<Module>> module =
      parseBitcodeFile(MemoryBufferRef(packed.bitcode, "sluice-kernel"), *llvm.context);
  if (!module) {
    return at_kernel(Error{ErrorKind::system, toString(module.takeError())}, packed.kernel);
  }
  llvm.module = std::move(*module);
  return LoweredKernel{std::move(llvm), std::move(packed.kernel), std::move(packed.code)};
}

}  // namespace sluice::hostcuda::jit
