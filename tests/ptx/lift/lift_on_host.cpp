#include "ptx/lift/lift_on_host.hpp"

#include <cstring>

#include <gtest/gtest.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include "llvm_analyses.hpp"
#include "ptx/lift.hpp"
#include "ptx/parser.hpp"

namespace sluice::ptx::test {

namespace {

std::string message(llvm::Error error) {
  return llvm::toString(std::move(error));
}

void replace_special_registers(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    uint32_t value = 0;
    switch (function.getIntrinsicID()) {
      case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x:
        value = host_thread_x;
        break;
      case llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
        value = host_block_x;
        break;
      case llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x:
        value = host_block_size_x;
        break;
      default:
        continue;
    }
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      call->replaceAllUsesWith(llvm::ConstantInt::get(call->getType(), value));
      call->eraseFromParent();
    }
  }
}

// Module variables are declarations in lifted code; here they get the bytes of their initialisers.
void define_variables(llvm::Module& module, const Module& source) {
  for (const ModuleItem& item : source.items) {
    const auto* variable = std::get_if<Variable>(&item);
    if (variable == nullptr) continue;
    llvm::GlobalVariable* global = module.getGlobalVariable(variable->name);
    if (global == nullptr || !global->isDeclaration()) continue;
    std::string bytes(variable->bytes(), '\0');
    size_t at = 0;
    for (const Operand& element : variable->initialiser) {
      const auto* integer = std::get_if<IntegerLiteral>(&element.value);
      const auto* floating = std::get_if<FloatLiteral>(&element.value);
      ASSERT_TRUE(integer != nullptr || floating != nullptr) << variable->name;
      const uint64_t value = integer != nullptr ? integer->bits : floating->bits;
      std::memcpy(bytes.data() + at, &value, size_in_bytes(variable->type));
      at += size_in_bytes(variable->type);
    }
    global->setInitializer(llvm::ConstantDataArray::getString(module.getContext(), bytes, false));
  }
}

}  // namespace

void optimise(llvm::Module& module) {
  sluice::testing::LlvmAnalyses analyses;
  analyses.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, analyses.modules);
  EXPECT_FALSE(llvm::verifyModule(module, &llvm::errs()));
}

struct HostKernel::Compiled {
  std::vector<std::unique_ptr<llvm::orc::LLJIT>> jits;

  // compile() returns the address of the kernel, or null after a test failure.
  void (*compile(const std::string& ptx, std::string_view kernel, bool optimised))(uint64_t) {
    static const bool ready =
        !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
    EXPECT_TRUE(ready);
    auto parsed = parse(ptx);
    if (!parsed) {
      ADD_FAILURE() << parsed.error().line();
      return nullptr;
    }
    auto context = std::make_unique<llvm::LLVMContext>();
    auto lifted = lift(*context, *parsed, kernel);
    if (!lifted) {
      ADD_FAILURE() << lifted.error().line();
      return nullptr;
    }
    auto jit = llvm::orc::LLJITBuilder().create();
    if (!jit) {
      ADD_FAILURE() << message(jit.takeError());
      return nullptr;
    }
    llvm::Module& module = **lifted;
    replace_special_registers(module);
    define_variables(module, *parsed);
    module.setTargetTriple((*jit)->getTargetTriple().str());
    module.setDataLayout((*jit)->getDataLayout());
    module.getFunction(kernel)->setCallingConv(llvm::CallingConv::C);
    if (optimised) optimise(module);
    llvm::Error added =
        (*jit)->addIRModule(llvm::orc::ThreadSafeModule(std::move(*lifted), std::move(context)));
    if (added) {
      ADD_FAILURE() << message(std::move(added));
      return nullptr;
    }
    auto address = (*jit)->lookup(llvm::StringRef(kernel));
    if (!address) {
      ADD_FAILURE() << message(address.takeError());
      return nullptr;
    }
    jits.push_back(std::move(*jit));
    return address->toPtr<void (*)(uint64_t)>();
  }
};

HostKernel::HostKernel(const std::string& ptx, std::string_view kernel)
    : compiled_(std::make_unique<Compiled>()) {
  plain_ = compiled_->compile(ptx, kernel, false);
  optimised_ = compiled_->compile(ptx, kernel, true);
}
HostKernel::~HostKernel() = default;
HostKernel::HostKernel(HostKernel&&) noexcept = default;

void HostKernel::run(std::vector<uint64_t>& memory) const {
  if (!usable()) return;
  // PTX may load four doubles at once: the copies are aligned for it.
  struct alignas(32) Line {
    uint64_t words[4] = {};
  };
  auto call = [&](void (*function)(uint64_t)) {
    std::vector<Line> copy((memory.size() + 3) / 4);
    std::copy(memory.begin(), memory.end(), copy.data()->words);
    function(reinterpret_cast<uint64_t>(copy.data()));
    return std::vector<uint64_t>(copy.data()->words, copy.data()->words + memory.size());
  };
  const std::vector<uint64_t> plain = call(plain_);
  EXPECT_EQ(plain, call(optimised_)) << "optimised and plain code differ";
  memory = plain;
}

std::string unit(const std::string& items) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n" + items;
}

namespace {

std::string operation_text(const std::string& instructions, const std::string& result) {
  std::string text =
      ".visible .entry k(.param .u64 memory)\n{\n"
      ".reg .pred %p<10>;\n.reg .b16 %h<10>;\n.reg .b32 %r<10>;\n.reg .b64 %rd<10>;\n"
      ".reg .f32 %f<10>;\n.reg .f64 %fd<10>;\n.reg .b64 %m;\n"
      "ld.param.u64 %m, [memory];\n";
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    const std::string place = n + ", [%m+" + std::to_string(8 * i) + "];\n";
    text += "ld.global.b16 %h" + place + "ld.global.b32 %r" + place + "ld.global.b64 %rd" + place +
            "ld.global.f32 %f" + place + "ld.global.f64 %fd" + place;
    text += "setp.ne.b64 %p" + n + ", %rd" + n + ", 0;\n";
  }
  text += instructions + "\n";
  if (result == "%p9") {
    text += "selp.b64 %rd9, 1, 0, %p9;\nst.global.b64 [%m+24], %rd9;\n";
  } else {
    const bool wide = result == "%rd9" || result == "%fd9";
    const std::string width = wide ? "64" : result == "%h9" ? "16" : "32";
    text += "st.global.b" + width + " [%m+24], " + result + ";\n";
  }
  return unit(text + "ret;\n}\n");
}

}  // namespace

Operation::Operation(const std::string& instructions, const std::string& result)
    : kernel_(operation_text(instructions, result), "k") {}

uint64_t Operation::operator()(uint64_t a, uint64_t b, uint64_t c) const {
  std::vector<uint64_t> memory = {a, b, c, 0};
  kernel_.run(memory);
  return memory[3];
}

}  // namespace sluice::ptx::test
