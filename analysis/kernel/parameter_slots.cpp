#include "analysis/kernel/parameter_slots.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/ReplaceConstant.h>

namespace sluice::analysis {
namespace {

using namespace llvm;

// Place is an address inside a by-value struct.
struct Place {
  Argument* argument = nullptr;
  int64_t offset = 0;
};

std::optional<Place> place_of(Value* address, const DataLayout& layout) {
  int64_t offset = 0;
  for (int steps = 0; steps < 64; ++steps) {
    if (auto* argument = dyn_cast<Argument>(address)) {
      if (!argument->hasByValAttr()) return std::nullopt;
      return Place{argument, offset};
    }
    auto* user = dyn_cast<Operator>(address);
    if (user == nullptr) return std::nullopt;
    switch (user->getOpcode()) {
      case Instruction::GetElementPtr: {
        APInt bytes(layout.getIndexTypeSizeInBits(address->getType()), 0);
        if (!cast<GEPOperator>(user)->accumulateConstantOffset(layout, bytes)) return std::nullopt;
        offset += bytes.getSExtValue();
        break;
      }
      case Instruction::Add: {
        auto* constant = dyn_cast<ConstantInt>(user->getOperand(1));
        if (constant == nullptr) return std::nullopt;
        offset += constant->getSExtValue();
        break;
      }
      case Instruction::PtrToInt:
      case Instruction::IntToPtr:
      case Instruction::AddrSpaceCast:
      case Instruction::BitCast:
        break;
      default:
        return std::nullopt;
    }
    address = user->getOperand(0);
  }
  return std::nullopt;
}

// ScalarField is a scalar read from a struct: what stands for it until the new function exists.
struct ScalarField {
  ParameterSlot slot;
  std::vector<LoadInst*> loads;
};

using FieldKey = std::tuple<uint32_t, uint32_t, Type*>;  // offset in the block, size, type

// split_vector_load() replaces a load of a vector by loads of its elements.
void split_vector_load(LoadInst* load, FixedVectorType* type, const DataLayout& layout) {
  IRBuilder<> builder(load);
  const uint64_t stride = layout.getTypeStoreSize(type->getElementType());
  Value* whole = PoisonValue::get(type);
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    Value* place = builder.CreatePtrAdd(load->getPointerOperand(), builder.getInt64(i * stride));
    whole = builder.CreateInsertElement(whole, builder.CreateLoad(type->getElementType(), place),
                                        uint64_t(i));
  }
  load->replaceAllUsesWith(whole);
  load->eraseFromParent();
}

std::vector<LoadInst*> loads_of(Function& kernel) {
  std::vector<LoadInst*> loads;
  for (BasicBlock& block : kernel) {
    for (Instruction& instruction : block) {
      if (auto* load = dyn_cast<LoadInst>(&instruction)) loads.push_back(load);
    }
  }
  return loads;
}

// find_fields() lists the reads of by-value structs at constant offsets.
std::map<FieldKey, ScalarField> find_fields(Function& kernel,
                                            const std::vector<ParameterSlot>& parameters) {
  const DataLayout& layout = kernel.getParent()->getDataLayout();
  for (LoadInst* load : loads_of(kernel)) {
    auto* vector = dyn_cast<FixedVectorType>(load->getType());
    if (vector && place_of(load->getPointerOperand(), layout)) {
      split_vector_load(load, vector, layout);
    }
  }
  std::map<FieldKey, ScalarField> fields;
  for (LoadInst* load : loads_of(kernel)) {
    const auto place = place_of(load->getPointerOperand(), layout);
    if (!place) continue;
    const ParameterSlot& parameter = parameters[place->argument->getArgNo()];
    const auto size = int64_t(layout.getTypeStoreSize(load->getType()));
    if (place->offset < 0 || place->offset + size > int64_t(parameter.size)) continue;
    const auto offset = parameter.offset + uint32_t(place->offset);
    ScalarField& field = fields[{offset, uint32_t(size), load->getType()}];
    field.slot = {parameter.name + "+" + std::to_string(place->offset), offset, uint32_t(size)};
    field.loads.push_back(load);
  }
  return fields;
}

// variables_of() are the module's .global variables that the kernel uses, by name, but for those
// that are never written.
std::vector<GlobalVariable*> variables_of(Function& kernel) {
  std::vector<GlobalVariable*> found;
  for (GlobalVariable& variable : kernel.getParent()->globals()) {
    const bool is_global = variable.getAddressSpace() <= 1;
    if (!is_global || variable.isConstant()) continue;
    convertUsersOfConstantsToInstructions({&variable}, &kernel);
    const bool is_used = any_of(variable.users(), [&](const User* user) {
      auto* instruction = dyn_cast<Instruction>(user);
      return instruction != nullptr && instruction->getFunction() == &kernel;
    });
    if (is_used) found.push_back(&variable);
  }
  std::sort(found.begin(), found.end(), [](const GlobalVariable* a, const GlobalVariable* b) {
    return a->getName() < b->getName();
  });
  return found;
}

// stand_in() lets an argument stand for the address of a variable.
void stand_in(Argument& argument, GlobalVariable& variable, Function& kernel) {
  IRBuilder<> builder(&*kernel.getEntryBlock().getFirstInsertionPt());
  Value* address = builder.CreateIntToPtr(&argument, variable.getType());
  variable.replaceUsesWithIf(address, [&](const Use& use) {
    auto* instruction = dyn_cast<Instruction>(use.getUser());
    return instruction != nullptr && instruction->getFunction() == &kernel;
  });
}

}  // namespace

KernelSlots separate_slots(llvm::Function& kernel, const std::vector<ParameterSlot>& parameters,
                           const std::set<uint32_t>& known_pointers) {
  const std::map<FieldKey, ScalarField> fields = find_fields(kernel, parameters);
  std::vector<Type*> types;
  for (Argument& argument : kernel.args()) {
    if (!argument.hasByValAttr()) types.push_back(argument.getType());
  }
  for (const auto& [key, field] : fields)
    types.push_back(std::get<Type*>(key));
  const std::vector<GlobalVariable*> variables = variables_of(kernel);
  types.resize(types.size() + variables.size(), Type::getInt64Ty(kernel.getContext()));
  auto* type = FunctionType::get(kernel.getReturnType(), types, false);
  Function* result = Function::Create(type, GlobalValue::InternalLinkage, kernel.getAddressSpace(),
                                      "", kernel.getParent());
  result->takeName(&kernel);
  result->splice(result->begin(), &kernel);

  KernelSlots separated{result, {}};
  unsigned next = 0;
  for (Argument& argument : kernel.args()) {
    const size_t i = argument.getArgNo();
    if (argument.hasByValAttr()) continue;
    Argument* value = result->getArg(next++);
    argument.replaceAllUsesWith(value);
    separated.slots.push_back(
        {parameters[i], value, known_pointers.contains(parameters[i].offset)});
  }
  for (const auto& [key, field] : fields) {
    Argument* value = result->getArg(next++);
    for (LoadInst* load : field.loads) {
      load->replaceAllUsesWith(value);
      load->eraseFromParent();
    }
    separated.slots.push_back({field.slot, value, known_pointers.contains(field.slot.offset)});
  }
  for (GlobalVariable* variable : variables) {
    Argument* value = result->getArg(next++);
    stand_in(*value, *variable, *result);
    separated.slots.push_back(
        {{variable->getName().str(), 0, sizeof(uint64_t), /*is_variable=*/true}, value, true});
  }
  IRBuilder<> builder(&*result->getEntryBlock().getFirstInsertionPt());
  for (Argument& argument : kernel.args()) {
    if (argument.use_empty()) continue;
    Value* memory = builder.CreateAlloca(argument.getParamByValType());
    if (memory->getType() != argument.getType()) {
      memory = builder.CreateAddrSpaceCast(memory, argument.getType());
    }
    argument.replaceAllUsesWith(memory);
  }
  std::stable_sort(separated.slots.begin(), separated.slots.end(),
                   [](const SlotValue& a, const SlotValue& b) {
                     return std::tuple(a.slot.is_variable, a.slot.offset, a.slot.size) <
                            std::tuple(b.slot.is_variable, b.slot.offset, b.slot.size);
                   });
  return separated;
}

}  // namespace sluice::analysis
