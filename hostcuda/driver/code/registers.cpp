#include "hostcuda/driver/code/registers.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/visit.hpp"

namespace sluice::hostcuda {
namespace {

constexpr unsigned least_registers = 16;
constexpr unsigned most_registers = 255;
constexpr unsigned registers_of_a_block = 65536;

struct Life {
  size_t first = 0;
  size_t last = 0;
  unsigned words = 0;
};

// "%r12" is declared as ".reg .b32 %r<20>", under the name without its number.
std::string_view without_number(std::string_view name) {
  return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

// Lives lists the registers of a function with the instructions between which each is mentioned.
class Lives {
 public:
  explicit Lives(const ptx::Function& function) {
    ptx::for_each_statement(function.body, [&](const ptx::Statement& statement) {
      if (const auto* variable = std::get_if<ptx::Variable>(&statement)) {
        if (variable->space == ptx::StateSpace::reg) declare(*variable);
      } else if (const auto* instruction = std::get_if<ptx::Instruction>(&statement)) {
        for (const ptx::Operand& operand : instruction->operands)
          ptx::for_each_name(operand, [&](const std::string& it) { mention(it); });
        ++instructions_;
      }
    });
  }

  unsigned most_at_once() const {
    std::vector<int> change(instructions_ + 1, 0);
    for (const auto& [name, life] : lives_) {
      change[life.first] += static_cast<int>(life.words);
      change[life.last] -= static_cast<int>(life.words);
    }
    int now = 0;
    int most = 0;
    for (const int each : change)
      most = std::max(most, now += each);
    return static_cast<unsigned>(most);
  }

 private:
  // Predicates have registers of their own, of no size here.
  void declare(const ptx::Variable& variable) {
    const uint64_t bytes = uint64_t{size_in_bytes(variable.type)} * variable.vector_elements;
    words_[variable.name] = static_cast<unsigned>((bytes + 3) / 4);
  }

  void mention(const std::string& name) {
    auto declared = words_.find(name);
    if (declared == words_.end()) declared = words_.find(without_number(name));
    if (declared == words_.end()) return;
    lives_.try_emplace(name, Life{instructions_, instructions_, declared->second})
        .first->second.last = instructions_;
  }

  std::unordered_map<std::string_view, unsigned> words_;
  std::unordered_map<std::string_view, Life> lives_;
  size_t instructions_ = 0;
};

unsigned limit(const ptx::Function& kernel, unsigned max_threads) {
  unsigned least = std::min(most_registers, registers_of_a_block / std::max(max_threads, 1u));
  for (const ptx::Directive& directive : kernel.attributes) {
    if (directive.name != "maxnreg" || directive.arguments.empty()) continue;
    const std::string& text = directive.arguments.front();
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && value > 0) least = std::min(least, value);
  }
  return least;
}

}  // namespace

unsigned estimated_registers(const ptx::Module& module, const std::string& kernel,
                             unsigned max_threads) {
  unsigned most = least_registers;
  for (const ptx::ModuleItem& item : module.items) {
    const auto* function = std::get_if<ptx::Function>(&item);
    if (function == nullptr || (function->is_entry && function->name != kernel)) continue;
    most = std::max(most, Lives(*function).most_at_once());
  }
  const ptx::Function* entry = module.find_function(kernel);
  return entry == nullptr ? most : std::min(most, limit(*entry, max_threads));
}

}  // namespace sluice::hostcuda
