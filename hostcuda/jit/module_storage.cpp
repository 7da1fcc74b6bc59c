#include "hostcuda/jit/module_storage.hpp"

#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace sluice::hostcuda::jit {
namespace {

bool is_defined(const ptx::Variable& variable) {
  const bool in_memory =
      variable.space == ptx::StateSpace::global || variable.space == ptx::StateSpace::constant;
  return in_memory && variable.linkage != "extern";
}

uint64_t float_bits(const ptx::FloatLiteral& literal, ptx::ScalarType type) {
  const bool wants_double = type == ptx::ScalarType::f64;
  if (literal.width == 64 && !wants_double) {
    return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(literal.bits)));
  }
  if (literal.width == 32 && wants_double) {
    const auto single = std::bit_cast<float>(static_cast<uint32_t>(literal.bits));
    return std::bit_cast<uint64_t>(static_cast<double>(single));
  }
  return literal.bits;
}

}  // namespace

ModuleStorage::ModuleStorage(const ptx::Module& module) {
  for (const ptx::ModuleItem& item : module.items) {
    const auto* function = std::get_if<ptx::Function>(&item);
    if (function && function->is_definition && !function->is_entry) {
      functions_[function->name] = std::make_unique<std::byte>();
    }
    const auto* variable = std::get_if<ptx::Variable>(&item);
    if (variable && is_defined(*variable)) allocate(*variable);
  }
  // Only now does every variable have an address for the initialisers that ask for one.
  for (const ptx::ModuleItem& item : module.items) {
    const auto* variable = std::get_if<ptx::Variable>(&item);
    if (variable && is_defined(*variable)) {
      initialise(*variable, entries_.find(variable->name)->second);
    }
  }
}

void ModuleStorage::allocate(const ptx::Variable& variable) {
  Entry& entry = entries_[variable.name];
  entry.bytes = variable.bytes();
  constexpr uint64_t most = uint64_t{1} << 40;
  if (entry.bytes > most) {
    entry.problem = "its size is beyond any memory";
    return;
  }
  entry.memory = make_device_bytes(entry.bytes);
  if (!entry.memory) entry.problem = "there is not enough memory for it";
}

void ModuleStorage::initialise(const ptx::Variable& variable, Entry& entry) {
  if (!entry.problem.empty()) return;
  const uint64_t size = ptx::size_in_bytes(variable.type);
  uint64_t offset = 0;
  for (const ptx::Operand& operand : variable.initialiser) {
    const Result<uint64_t> bits = element(operand, variable.type);
    if (!bits) {
      entry.problem = bits.error().what;
      return;
    }
    if (size == 0 || size > sizeof(uint64_t) || offset + size > entry.bytes) {
      entry.problem = "its initialiser does not fit its type";
      return;
    }
    std::memcpy(entry.memory.get() + offset, &*bits, size);
    offset += size;
  }
}

Result<uint64_t> ModuleStorage::element(const ptx::Operand& operand, ptx::ScalarType type) const {
  const auto address_of = [&](const std::string& name) -> Result<uint64_t> {
    if (const uint64_t function = function_address(name); function != 0) return function;
    auto found = entries_.find(name);
    if (found == entries_.end()) {
      return unimplemented(
          fmt::format("its initialiser takes the address of {}, which is neither a variable nor "
                      "a function of the module",
                      name));
    }
    return reinterpret_cast<uint64_t>(found->second.memory.get());
  };
  if (const auto* integer = std::get_if<ptx::IntegerLiteral>(&operand.value)) return integer->bits;
  if (const auto* number = std::get_if<ptx::FloatLiteral>(&operand.value)) {
    return float_bits(*number, type);
  }
  if (const auto* name = std::get_if<ptx::Identifier>(&operand.value)) {
    return address_of(name->name);
  }
  if (const auto* offset = std::get_if<ptx::Offset>(&operand.value)) {
    Result<uint64_t> base = address_of(offset->name);
    if (!base) return base;
    const uint64_t address = *base + static_cast<uint64_t>(offset->bytes);
    if (offset->mask == 0) return address;
    // `0xFF00(name)` is the byte of the address that the mask selects.
    return (address & offset->mask) >> std::countr_zero(offset->mask);
  }
  return unimplemented("its initialiser is of a kind that the CPU device does not know");
}

uint64_t ModuleStorage::function_address(std::string_view name) const {
  auto found = functions_.find(name);
  return found == functions_.end() ? 0 : reinterpret_cast<uint64_t>(found->second.get());
}

Result<ModuleVariable> ModuleStorage::find(std::string_view name) const {
  const std::string where = fmt::format("variable {}", name);
  auto found = entries_.find(name);
  if (found == entries_.end()) {
    return invalid_input("the module does not define this variable", where);
  }
  if (!found->second.problem.empty()) return unimplemented(found->second.problem, where);
  return ModuleVariable{found->second.memory.get(), found->second.bytes};
}

}  // namespace sluice::hostcuda::jit
