#include "hostcuda/jit/converged/meetings.hpp"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>

#include "hostcuda/jit/convergence/warp_meetings.hpp"
#include "hostcuda/jit/kernel_facts.hpp"
#include "hostcuda/jit/lowering/thread_function.hpp"
#include "hostcuda/jit/object/host_target.hpp"
#include "hostcuda/jit/object/optimiser.hpp"
#include "ptx/lift.hpp"
#include "ptx/parser.hpp"

namespace sluice::hostcuda {
namespace {

// lower() does to a kernel what lower_kernel() does before it looks for meetings.
Result<jit::ThreadFunction> lower(llvm::Module& module, const jit::KernelContext& context) {
  Result<std::unique_ptr<llvm::TargetMachine>> target = jit::make_host_target();
  if (!target) return tl::unexpected(target.error());
  Result<jit::ThreadFunction> thread = jit::make_thread_function(module, context);
  if (!thread) return thread;
  module.setTargetTriple((*target)->getTargetTriple().str());
  module.setDataLayout((*target)->createDataLayout());
  jit::simplify(*thread->function, **target);
  jit::read_structures_first(*thread);
  jit::bind_origin(*thread->function);
  return thread;
}

}  // namespace

void use_thread_function(const std::string& ptx, const std::string& kernel, const Dim3& block,
                         llvm::function_ref<void(llvm::Function&)> use) {
  const auto fail = [&](const Error& error) { ADD_FAILURE() << error.line(); };
  Result<ptx::Module> parsed = ptx::parse(ptx);
  if (!parsed) return fail(parsed.error());
  const Result<KernelFacts> facts = jit::kernel_facts(*parsed, kernel);
  if (!facts) return fail(facts.error());
  jit::KernelContext context;
  context.kernel = kernel;
  context.block = block;
  for (const KernelFacts::Parameter& parameter : facts->parameters)
    context.parameter_offsets.push_back(parameter.offset);
  context.variable_address = [](std::string_view) -> Result<uint64_t> { return 4096; };
  llvm::LLVMContext llvm_context;
  Result<std::unique_ptr<llvm::Module>> module = ptx::lift(llvm_context, *parsed, kernel);
  if (!module) return fail(module.error());
  const Result<jit::ThreadFunction> thread = lower(**module, context);
  if (!thread) return fail(thread.error());
  use(*thread->function);
}

unsigned meetings_in(const std::string& ptx, const std::string& kernel, const Dim3& block) {
  unsigned meetings = ~0U;
  use_thread_function(ptx, kernel, block, [&](llvm::Function& function) {
    meetings = jit::insert_warp_meetings(function, block);
  });
  return meetings;
}

std::string ptx_of(const std::string& name) {
  const std::string path = std::string(SLUICE_TEST_PTX) + "/" + name + ".ptx";
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace sluice::hostcuda
