#include "analysis/polly/specialise.hpp"

#include <algorithm>

#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

namespace sluice::analysis {
namespace {

using namespace llvm;

constexpr const char* place_metadata = "sluice.place";

std::array<uint32_t, 3> extents(const Dim3& dim) {
  return {dim.x, dim.y, dim.z};
}

Constant* constant_of(Type* type, uint64_t bits) {
  const unsigned width = type->getPrimitiveSizeInBits().getFixedValue();
  Constant* integer = ConstantInt::get(type->getContext(), APInt(64, bits).zextOrTrunc(width));
  return type->isIntegerTy() ? integer : ConstantExpr::getBitCast(integer, type);
}

class Specialiser {
 public:
  Specialiser(AccessForm& form, const ShapeFamily& family)
      : form_(form),
        family_(family),
        shape_(family.shape),
        grid_{family.largest_grid(0), family.largest_grid(1), family.largest_grid(2)},
        context_(form.module->getContext()) {}

  Specialised run(Passes& passes) {
    declare();
    clone();
    replace_registers();
    passes.specialise(*result_.function);
    replace_touches(passes);
    return result_;
  }

 private:
  Type* type_of(const SymbolicNumber& symbol) const {
    if (symbol.number >= form_.scalar_arguments.size()) return Type::getInt32Ty(context_);
    return form_.function->getArg(form_.scalar_arguments[symbol.number])->getType();
  }

  void declare() {
    Type* index = Type::getInt32Ty(context_);
    std::vector<Type*> types(6, index);
    types.resize(6 + form_.signature.pointers.size(), PointerType::get(context_, 0));
    for (const SymbolicNumber& symbol : family_.symbols)
      types.push_back(type_of(symbol));
    Function* function = Function::Create(
        FunctionType::get(Type::getVoidTy(context_), types, false), GlobalValue::InternalLinkage,
        form_.signature.kernel + ".specialised", form_.module.get());
    const auto give = [&](unsigned first, const Dim3& dim, std::array<Argument*, 3>& arguments) {
      for (unsigned i = 0; i < 3; ++i) {
        arguments[i] = function->getArg(first + i);
        arguments[i]->addAttr(
            Attribute::get(context_, Attribute::Range,
                           ConstantRange(APInt(32, 0), APInt(32, std::max(1u, extents(dim)[i])))));
        arguments[i]->addAttr(Attribute::NoUndef);
        arguments[i]->setName((first == 0 ? "block" : "thread") + std::string(1, "xyz"[i]));
      }
    };
    give(0, grid_, result_.block);
    give(3, shape_.block, result_.thread);
    unsigned next = 6;
    for (; next < 6 + form_.signature.pointers.size(); ++next)
      function->getArg(next)->addAttr(Attribute::NoAlias);
    for (const SymbolicNumber& symbol : family_.symbols) {
      Argument* argument = function->getArg(next++);
      const unsigned width = argument->getType()->getIntegerBitWidth();
      argument->addAttr(
          Attribute::get(context_, Attribute::Range,
                         ConstantRange(APInt(width, uint64_t(symbol.low), true),
                                       APInt(width, uint64_t(symbol.high + 1), true))));
      argument->addAttr(Attribute::NoUndef);
      argument->setName(symbol_name(symbol.number));
      result_.symbols.push_back(argument);
    }
    result_.function = function;
  }

  void clone() {
    ValueToValueMapTy values;
    for (Argument& argument : form_.function->args()) {
      values[&argument] = PoisonValue::get(argument.getType());
    }
    for (size_t i = 0; i < form_.scalar_arguments.size(); ++i) {
      Argument* argument = form_.function->getArg(form_.scalar_arguments[i]);
      const auto symbol = family_.symbol(ShapeNumber(i));
      values[argument] = symbol ? static_cast<Value*>(result_.symbols[*symbol])
                                : constant_of(argument->getType(), shape_.shape_values[i]);
    }
    SmallVector<ReturnInst*> returns;
    const AttributeList attributes = result_.function->getAttributes();
    CloneFunctionInto(result_.function, form_.function, values,
                      CloneFunctionChangeType::LocalChangesOnly, returns);
    result_.function->setAttributes(attributes);
    result_.function->addFnAttr(Attribute::MustProgress);
    result_.function->addFnAttr(Attribute::WillReturn);
    result_.function->addFnAttr(Attribute::NoUnwind);
    result_.function->setCallingConv(CallingConv::C);
  }

  Value* grid_extent(unsigned dimension) {
    if (const auto symbol = family_.grid_symbol(dimension)) return result_.symbols[*symbol];
    return ConstantInt::get(Type::getInt32Ty(context_), extents(grid_)[dimension]);
  }

  Value* value_of_register(Intrinsic::ID id) {
    const auto extent = [&](const Dim3& dim, int i) -> Value* {
      return ConstantInt::get(Type::getInt32Ty(context_), extents(dim)[i]);
    };
    const auto index = [&](const std::array<Argument*, 3>& arguments, const Dim3& dim,
                           int i) -> Value* {
      if (extents(dim)[i] > 1) return arguments[i];
      return ConstantInt::get(Type::getInt32Ty(context_), 0);
    };
    switch (id) {
      case Intrinsic::nvvm_read_ptx_sreg_tid_x:
        return index(result_.thread, shape_.block, 0);
      case Intrinsic::nvvm_read_ptx_sreg_tid_y:
        return index(result_.thread, shape_.block, 1);
      case Intrinsic::nvvm_read_ptx_sreg_tid_z:
        return index(result_.thread, shape_.block, 2);
      case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
        return index(result_.block, grid_, 0);
      case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
        return index(result_.block, grid_, 1);
      case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
        return index(result_.block, grid_, 2);
      case Intrinsic::nvvm_read_ptx_sreg_ntid_x:
        return extent(shape_.block, 0);
      case Intrinsic::nvvm_read_ptx_sreg_ntid_y:
        return extent(shape_.block, 1);
      case Intrinsic::nvvm_read_ptx_sreg_ntid_z:
        return extent(shape_.block, 2);
      case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
        return grid_extent(0);
      case Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
        return grid_extent(1);
      case Intrinsic::nvvm_read_ptx_sreg_nctaid_z:
        return grid_extent(2);
      default:
        return nullptr;
    }
  }

  void replace_registers() {
    for (BasicBlock& block : *result_.function) {
      for (Instruction& instruction : make_early_inc_range(block)) {
        auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction);
        if (intrinsic == nullptr) continue;
        if (Value* value = value_of_register(intrinsic->getIntrinsicID())) {
          intrinsic->replaceAllUsesWith(value);
          intrinsic->eraseFromParent();
        }
      }
    }
  }

  void replace_touches(Passes& passes) {
    std::vector<CallInst*> touches;
    for (Instruction& instruction : instructions(*result_.function)) {
      auto* call = dyn_cast<CallInst>(&instruction);
      if (call == nullptr || call->getCalledFunction() == nullptr) continue;
      const StringRef name = call->getCalledFunction()->getName();
      // Nothing moves code from here on, and Polly takes what reads no memory.
      if (name.starts_with(unknown_prefix)) call->setDoesNotAccessMemory();
      if (name == touch_name) touches.push_back(call);
    }
    // A division by zero, say, leaves an address that may be anything.
    const auto placed_nowhere =
        std::stable_partition(touches.begin(), touches.end(), [&](const CallInst* call) {
          return !form_.touches[touch_number(*call)].any_byte &&
                 !isa<UndefValue>(call->getArgOperand(0));
        });
    for (auto call = placed_nowhere; call != touches.end(); ++call) {
      result_.any_byte.push_back(touch_number(**call));
      erase(**call);
    }
    touches.erase(placed_nowhere, touches.end());
    for (TouchPlace& place :
         touch_places(touches, form_, passes.scalar_evolution(*result_.function))) {
      replace(place);
    }
    passes.clear();
  }

  void replace(TouchPlace& place) {
    CallInst& first = *place.calls.front();
    IRBuilder<> builder(&first);
    Value* base = result_.function->getArg(6 + form_.touches[touch_number(first)].slot);
    StoreInst* store = builder.CreateStore(
        builder.getInt8(0), builder.CreateGEP(builder.getInt8Ty(), base, first.getArgOperand(0)));
    Metadata* number = ConstantAsMetadata::get(builder.getInt32(unsigned(result_.places.size())));
    store->setMetadata(place_metadata, MDNode::get(context_, number));
    result_.places.push_back(std::move(place.touches));
    for (CallInst* call : place.calls)
      erase(*call);
  }

  // erase() takes the arithmetic of the offset along where nothing else needs it.
  static void erase(CallInst& touch) {
    WeakTrackingVH offset = touch.getArgOperand(0);
    touch.eraseFromParent();
    if (offset) RecursivelyDeleteTriviallyDeadInstructions(offset);
  }

  AccessForm& form_;
  const ShapeFamily& family_;
  const LaunchShape& shape_;
  const Dim3 grid_;  // no launch of the family has a larger one
  LLVMContext& context_;
  Specialised result_;
};

}  // namespace

const std::vector<TouchesOfPlace>* Specialised::place_of(
    const llvm::Instruction& instruction) const {
  const MDNode* node = instruction.getMetadata(place_metadata);
  if (node == nullptr) return nullptr;
  return &places[mdconst::extract<ConstantInt>(node->getOperand(0))->getZExtValue()];
}

llvm::Value* Specialised::offset_of(const llvm::StoreInst& store) {
  const Value* pointer = store.getPointerOperand();
  if (auto* gep = dyn_cast<GEPOperator>(pointer)) return gep->getOperand(1);
  // The builder folds an offset of nothing.
  return ConstantInt::get(Type::getInt64Ty(store.getContext()), 0);
}

Specialised specialise(AccessForm& form, const ShapeFamily& family, Passes& passes) {
  return Specialiser(form, family).run(passes);
}

}  // namespace sluice::analysis
