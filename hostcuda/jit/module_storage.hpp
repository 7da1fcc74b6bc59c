// Storage of a module's .global and .const variables.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "hostcuda/jit/block_compiler.hpp"
#include "hostcuda/memory/device_memory.hpp"
#include "ptx/syntax.hpp"

namespace sluice::hostcuda::jit {

// ModuleStorage owns the memory of every variable that the module defines, with its initial
// values. Addresses of variables in initialisers are their host addresses.
class ModuleStorage {
 public:
  explicit ModuleStorage(const ptx::Module& module);

  // find() returns a variable's storage. A variable that is only declared here, and one whose
  // initialiser has no meaning on this device, is an error.
  Result<ModuleVariable> find(std::string_view name) const;

  // function_address() is the address that stands for a device function in every kernel, 0 where
  // the module defines none of that name. Nothing lies there: calls through it are told apart by
  // it.
  uint64_t function_address(std::string_view name) const;

 private:
  struct Entry {
    DeviceBytes memory;
    uint64_t bytes = 0;
    std::string problem;  // why it can't be used, empty where it can
  };
  void allocate(const ptx::Variable& variable);
  void initialise(const ptx::Variable& variable, Entry& entry);
  // element() is the bits of one element of an initialiser.
  Result<uint64_t> element(const ptx::Operand& operand, ptx::ScalarType type) const;

  std::map<std::string, Entry, std::less<>> entries_;
  std::map<std::string, std::unique_ptr<std::byte>, std::less<>> functions_;
};

}  // namespace sluice::hostcuda::jit
