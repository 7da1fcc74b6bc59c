#include "hostcuda/jit/library/directed_float.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/ModRef.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "ptx/lift.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// Embedded rounding takes whole registers.
constexpr unsigned register_lanes = 16;
// The numbers of lanes that a loop may be vectorised for.
constexpr unsigned vector_lanes[] = {2, 4, 8, 16, 32, 64};
constexpr const char* variant_attribute = "vector-function-abi-variant";

struct Operation {
  const char* name;
  Intrinsic::ID intrinsic;
};
constexpr Operation operations[] = {{"add", Intrinsic::x86_avx512_add_ps_512},
                                    {"mul", Intrinsic::x86_avx512_mul_ps_512},
                                    {"fma", Intrinsic::x86_avx512_vfmadd_ps_512}};

// The rounding operand of the intrinsics, exceptions suppressed.
struct Rounding {
  const char* name;
  int number;
};
constexpr Rounding roundings[] = {{"rm", 9}, {"rp", 10}, {"rz", 11}};

Value* part_of(IRBuilder<>& ir, Value* vector, unsigned first, unsigned lanes) {
  SmallVector<int, register_lanes> order;
  for (unsigned i = 0; i < lanes; ++i)
    order.push_back(static_cast<int>(first + i));
  return ir.CreateShuffleVector(vector, order);
}

// emit_register() computes 16 lanes.
Value* emit_register(IRBuilder<>& ir, Intrinsic::ID intrinsic, int rounding,
                     std::vector<Value*> operands) {
  operands.push_back(ir.getInt32(static_cast<uint32_t>(rounding)));
  return ir.CreateIntrinsic(intrinsic, {}, operands);
}

// emit_body() makes the function of so many lanes; 0: of one float.
void emit_body(Function& function, Intrinsic::ID intrinsic, int rounding, unsigned lanes) {
  IRBuilder<> ir(BasicBlock::Create(function.getContext(), "entry", &function));
  auto* whole = FixedVectorType::get(ir.getFloatTy(), register_lanes);
  const unsigned parts = std::max(1U, lanes / register_lanes);
  Value* result = nullptr;
  for (unsigned part = 0; part < parts; ++part) {
    std::vector<Value*> operands;
    for (Argument& argument : function.args()) {
      Value* operand = &argument;
      if (lanes == 0) {
        operand = ir.CreateInsertElement(Constant::getNullValue(whole), operand, uint64_t{0});
      } else if (lanes < register_lanes) {
        // Lanes beyond the last compute with the first: no operand is made up.
        SmallVector<int, register_lanes> order(register_lanes, 0);
        for (unsigned i = 0; i < lanes; ++i)
          order[i] = static_cast<int>(i);
        operand = ir.CreateShuffleVector(operand, order);
      } else if (lanes > register_lanes) {
        operand = part_of(ir, operand, part * register_lanes, register_lanes);
      }
      operands.push_back(operand);
    }
    Value* value = emit_register(ir, intrinsic, rounding, operands);
    if (lanes == 0) {
      value = ir.CreateExtractElement(value, uint64_t{0});
    } else if (lanes < register_lanes) {
      value = part_of(ir, value, 0, lanes);
    }
    result =
        result ? ir.CreateShuffleVector(result, value,
                                        [&] {
                                          SmallVector<int, 64> order;
                                          for (unsigned i = 0; i < (part + 1) * register_lanes; ++i)
                                            order.push_back(static_cast<int>(i));
                                          return order;
                                        }())
               : value;
  }
  ir.CreateRet(result);
}

void describe(Function& function) {
  function.setMemoryEffects(MemoryEffects::none());
  function.addFnAttr(Attribute::NoInline);
  function.addFnAttr(Attribute::NoUnwind);
  function.addFnAttr(Attribute::WillReturn);
  function.addFnAttr(Attribute::Speculatable);
  function.addFnAttr(Attribute::NoSync);
  function.addFnAttr(Attribute::NoFree);
}

std::string variant_name(const Function& function, unsigned lanes) {
  return fmt::format("{}.x{}", function.getName().str(), lanes);
}

// variants() says in LLVM's words which functions take several lanes at once.
std::string variants(const Function& function) {
  std::string text;
  for (unsigned lanes : vector_lanes)
    text += fmt::format("{}_ZGV_LLVM_N{}{}_{}({})", text.empty() ? "" : ",", lanes,
                        std::string(function.arg_size(), 'v'), function.getName().str(),
                        variant_name(function, lanes));
  return text;
}

// declare() has the function's calls stand for an instruction, whose code define() makes.
void declare(Function& function) {
  function.deleteBody();
  function.setLinkage(Function::ExternalLinkage);
  describe(function);
  for (User* user : function.users()) {
    if (auto* call = dyn_cast<CallInst>(user))
      call->addFnAttr(Attribute::get(function.getContext(), variant_attribute, variants(function)));
  }
}

void define(Function& function, Intrinsic::ID intrinsic, int rounding) {
  Module& module = *function.getParent();
  emit_body(function, intrinsic, rounding, 0);
  function.setLinkage(Function::InternalLinkage);
  std::vector<GlobalValue*> kept = {&function};
  for (unsigned lanes : vector_lanes) {
    auto* type = FixedVectorType::get(Type::getFloatTy(module.getContext()), lanes);
    const std::vector<Type*> types(function.arg_size(), type);
    Function* vector =
        Function::Create(FunctionType::get(type, types, false), Function::InternalLinkage,
                         variant_name(function, lanes), module);
    emit_body(*vector, intrinsic, rounding, lanes);
    describe(*vector);
    kept.push_back(vector);
  }
  appendToCompilerUsed(module, kept);
}

using Visit = function_ref<void(Function&, Intrinsic::ID, int)>;

void for_each_function(Module& module, Visit visit) {
  for (const Operation& operation : operations) {
    for (const Rounding& rounding : roundings) {
      Function* function =
          module.getFunction(ptx::directed_float_name(operation.name, rounding.name));
      if (function) visit(*function, operation.intrinsic, rounding.number);
    }
  }
}

bool is_ours(const Function& function) {
  return function.hasFnAttribute(Attribute::NoInline) &&
         any_of(operations, [&](const Operation& operation) {
           return any_of(roundings, [&](const Rounding& rounding) {
             return function.getName().starts_with(
                 ptx::directed_float_name(operation.name, rounding.name));
           });
         });
}

}  // namespace

void use_directed_instructions(Module& module, const TargetMachine& target) {
  if (!target.getTargetTriple().isX86() || !target.getMCSubtargetInfo()->checkFeatures("+avx512f"))
    return;
  for_each_function(module, [](Function& function, Intrinsic::ID, int) { declare(function); });
}

void define_directed_floats(Module& module) {
  for_each_function(module, [](Function& function, Intrinsic::ID intrinsic, int rounding) {
    if (function.isDeclaration()) define(function, intrinsic, rounding);
  });
}

bool is_directed_float(const CallBase& call) {
  return call.hasFnAttr(variant_attribute);
}

void inline_directed_floats(Module& module) {
  std::vector<Function*> functions;
  for (Function& function : module)
    if (is_ours(function)) functions.push_back(&function);
  if (functions.empty()) return;
  removeFromUsedLists(
      module, [&](Constant* value) { return is_contained(functions, dyn_cast<Function>(value)); });
  for (Function* function : functions) {
    for (User* user : make_early_inc_range(function->users())) {
      InlineFunctionInfo information;
      InlineFunction(*cast<CallInst>(user), information);
    }
    if (function->use_empty()) function->eraseFromParent();
  }
}

}  // namespace sluice::hostcuda::jit
