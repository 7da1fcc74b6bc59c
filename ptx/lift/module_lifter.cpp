#include "ptx/lift/module_lifter.hpp"

#include <algorithm>
#include <charconv>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Verifier.h>

#include "base/assert.hpp"
#include "ptx/lift.hpp"
#include "ptx/lift/function_lifter.hpp"
#include "ptx/lift/refusal.hpp"
#include "ptx/lift/types.hpp"

namespace sluice::ptx {

using lift_detail::ModuleLifter;
using lift_detail::Refusal;

Result<std::unique_ptr<llvm::Module>> lift(llvm::LLVMContext& context, const Module& module,
                                           std::string_view kernel, const LeftOut& left_out) {
  try {
    auto lifted = ModuleLifter(context, module, kernel, left_out).lift();
    // A module that LLVM itself finds broken is our bug, whatever the PTX says.
    SLUICE_ASSERT(!llvm::verifyModule(*lifted, nullptr));
    return lifted;
  } catch (Refusal& refusal) {
    return tl::unexpected<Error>(std::move(refusal.error));
  }
}

uint32_t source_line(const llvm::Instruction& instruction) {
  const llvm::MDNode* node = instruction.getMetadata(line_mark);
  if (node == nullptr || node->getNumOperands() == 0) return 0;
  const auto* line = llvm::mdconst::dyn_extract<llvm::ConstantInt>(node->getOperand(0));
  return line == nullptr ? 0 : static_cast<uint32_t>(line->getZExtValue());
}

}  // namespace sluice::ptx

namespace sluice::ptx::lift_detail {

namespace {

constexpr const char* nvvm_data_layout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64";
constexpr const char* nvvm_triple = "nvptx64-nvidia-cuda";

// SignatureBuilder turns PTX parameters into LLVM's. An aggregate result goes through a leading
// sret pointer; several results are the fields of a structure.
class SignatureBuilder {
 public:
  SignatureBuilder(ModuleLifter& lifter, const Function& source)
      : lifter_(lifter), source_(source) {}

  llvm::Function* declare() {
    const bool has_several = source_.results.size() > 1;
    if (has_several && std::any_of(source_.results.begin(), source_.results.end(), is_by_value)) {
      refuse(unimplemented(
          "function '" + source_.name +
              "' has several results with an array among them, which Sluice does not lift yet",
          "kernel " + lifter_.kernel()));
    }
    llvm::LLVMContext& context = lifter_.context();
    llvm::Type* result = llvm::Type::getVoidTy(context);
    std::vector<llvm::Type*> types;
    const bool returns_by_value = !source_.results.empty() && is_by_value(source_.results[0]);
    if (returns_by_value) {
      types.push_back(llvm::PointerType::getUnqual(context));
    } else if (!has_several && !source_.results.empty()) {
      result = scalar(source_.results[0]);
    } else if (has_several) {
      std::vector<llvm::Type*> results;
      for (const Variable& each : source_.results)
        results.push_back(scalar(each));
      result = llvm::StructType::get(context, results);
    }
    for (const Variable& parameter : source_.parameters) {
      types.push_back(is_by_value(parameter) ? llvm::PointerType::getUnqual(context)
                                             : scalar(parameter));
    }
    auto* function = llvm::Function::Create(llvm::FunctionType::get(result, types, false),
                                            source_.is_definition && !source_.is_entry
                                                ? llvm::Function::InternalLinkage
                                                : llvm::Function::ExternalLinkage,
                                            source_.name, lifter_.module());
    describe_arguments(*function, returns_by_value);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    function->addFnAttr(llvm::Attribute::Convergent);
    return function;
  }

 private:
  llvm::Type* scalar(const Variable& parameter) {
    llvm::Type* type = register_type(lifter_.context(), parameter.type);
    if (type == nullptr) {
      refuse(unsupported("parameter '" + parameter.name + "' has type ." +
                             std::string(name(parameter.type)) + ", which Sluice does not support",
                         "kernel " + lifter_.kernel()));
    }
    return type;
  }

  llvm::Type* bytes_type(const Variable& parameter) {
    return llvm::ArrayType::get(llvm::Type::getInt8Ty(lifter_.context()), parameter.bytes());
  }

  void describe_arguments(llvm::Function& function, bool returns_by_value) {
    llvm::LLVMContext& context = lifter_.context();
    auto* argument = function.arg_begin();
    if (returns_by_value) {
      argument->setName(source_.results[0].name);
      argument->addAttr(
          llvm::Attribute::getWithStructRetType(context, bytes_type(source_.results[0])));
      ++argument;
    }
    for (const Variable& parameter : source_.parameters) {
      argument->setName(parameter.name);
      if (is_by_value(parameter)) {
        argument->addAttr(llvm::Attribute::getWithByValType(context, bytes_type(parameter)));
        argument->addAttr(
            llvm::Attribute::getWithAlignment(context, llvm::Align(parameter.aligned_to())));
      }
      ++argument;
    }
  }

  ModuleLifter& lifter_;
  const Function& source_;
};

}  // namespace

std::string place_of(const ModuleLifter& module, const Function& function,
                     const Location& location) {
  std::string text = "kernel " + module.kernel();
  if (function.name != module.kernel()) text += ", function " + function.name;
  return text + ", PTX line " + std::to_string(location.line);
}

bool is_by_value(const Variable& parameter) {
  return !parameter.dimensions.empty() || parameter.vector_elements > 1;
}

ModuleLifter::ModuleLifter(llvm::LLVMContext& context, const Module& source,
                           std::string_view kernel,
                           const std::unordered_set<const Instruction*>& left_out)
    : context_(context), source_(source), kernel_(kernel), left_out_(left_out) {
  for (const ModuleItem& item : source.items) {
    const auto* function = std::get_if<Function>(&item);
    if (function == nullptr) continue;
    const Function*& known = prototypes_[function->name];
    if (known == nullptr || (function->is_definition && !known->is_definition)) known = function;
  }
}

const Function* ModuleLifter::prototype(std::string_view name) const {
  const auto found = prototypes_.find(name);
  return found == prototypes_.end() ? nullptr : found->second;
}

std::unique_ptr<llvm::Module> ModuleLifter::lift() {
  const Function* kernel = source_.find_function(kernel_);
  if (kernel == nullptr || !kernel->is_entry || !kernel->is_definition) {
    refuse(invalid_input("the module has no kernel '" + kernel_ + "'"));
  }
  if (source_.address_size != 64) {
    refuse(unsupported("the module has 32-bit addresses", "kernel " + kernel_,
                       "compile it with 64-bit addresses (nvcc -m64)"));
  }
  module_ = std::make_unique<llvm::Module>(kernel_, context_);
  module_->setTargetTriple(nvvm_triple);
  module_->setDataLayout(nvvm_data_layout);
  llvm::Function* entry = function(kernel_);
  entry->setCallingConv(llvm::CallingConv::PTX_Kernel);
  annotate_kernel(*entry, *kernel);
  while (!pending_.empty()) {
    const Function* next = pending_.back();
    pending_.pop_back();
    llvm::Function* lifted = functions_.find(next->name)->second;
    FunctionLifter(*this, *next, *lifted).lift();
    promote(*lifted, !left_out_.empty());
  }
  return std::move(module_);
}

llvm::Function* ModuleLifter::function(std::string_view name) {
  auto known = functions_.find(name);
  if (known != functions_.end()) return known->second;
  const Function* source = prototype(name);
  if (source == nullptr) return nullptr;
  llvm::Function* declared = SignatureBuilder(*this, *source).declare();
  functions_.emplace(name, declared);
  if (source->is_definition) pending_.push_back(source);
  return declared;
}

const Variable* ModuleLifter::find_declaration(std::string_view name) const {
  const Variable* found = nullptr;
  for (const ModuleItem& item : source_.items) {
    const auto* variable = std::get_if<Variable>(&item);
    if (variable == nullptr || variable->name != name) continue;
    // A definition beats an extern declaration of the same name.
    if (found == nullptr || found->linkage == "extern") found = variable;
  }
  return found;
}

ModuleLifter::ModuleVariable ModuleLifter::variable(std::string_view name) {
  const Variable* declaration = find_declaration(name);
  if (declaration == nullptr) return {nullptr, nullptr};
  auto known = variables_.find(name);
  if (known != variables_.end()) return {known->second, declaration};
  llvm::GlobalVariable* global = add_variable(*declaration);
  variables_.emplace(name, global);
  return {global, declaration};
}

llvm::GlobalVariable* ModuleLifter::add_variable(const Variable& declaration) {
  auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(context_), declaration.bytes());
  unsigned space = address_space::global;
  auto linkage = llvm::GlobalValue::ExternalLinkage;
  llvm::Constant* content = nullptr;
  if (declaration.space == StateSpace::shared) {
    space = address_space::shared;
    if (declaration.linkage != "extern") {
      linkage = llvm::GlobalValue::InternalLinkage;
      content = llvm::UndefValue::get(type);
    }
  } else if (declaration.space == StateSpace::constant) {
    space = address_space::constant;
  } else if (declaration.space != StateSpace::global) {
    refuse(unsupported(
        "variable '" + declaration.name + "' lies in a state space that Sluice does not support",
        "kernel " + kernel_ + ", PTX line " + std::to_string(declaration.location.line)));
  }
  // The compiler's own tables (for sin and cos) are never written.
  const bool is_table = declaration.name.starts_with("__cudart_");
  auto* global =
      new llvm::GlobalVariable(*module_, type, is_table, linkage, content, declaration.name,
                               nullptr, llvm::GlobalValue::NotThreadLocal, space);
  global->setAlignment(llvm::Align(declaration.aligned_to()));
  return global;
}

void ModuleLifter::annotate_kernel(llvm::Function& kernel, const Function& source) {
  llvm::NamedMDNode* annotations = module_->getOrInsertNamedMetadata("nvvm.annotations");
  auto add = [&](std::string_view key, uint32_t value) {
    annotations->addOperand(llvm::MDNode::get(
        context_, {llvm::ConstantAsMetadata::get(&kernel), llvm::MDString::get(context_, key),
                   llvm::ConstantAsMetadata::get(
                       llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), value))}));
  };
  add("kernel", 1);
  for (const Directive& directive : source.attributes) {
    const bool maximum = directive.name == "maxntid";
    if (!maximum && directive.name != "reqntid") continue;
    std::string key = directive.name + "x";
    for (const std::string& argument : directive.arguments) {
      uint32_t value = 0;
      auto [end, error] =
          std::from_chars(argument.data(), argument.data() + argument.size(), value);
      if (error != std::errc() || end != argument.data() + argument.size()) continue;
      add(key, value);
      ++key.back();
    }
  }
}

}  // namespace sluice::ptx::lift_detail
