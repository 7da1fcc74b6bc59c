#include "ptx/link.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "ptx/parser.hpp"
#include "ptx/references.hpp"

namespace sluice::ptx {
namespace {

// Rank orders what units say about a name: the highest is what stays.
enum class Rank { declared, weak, common, strong };

struct Named {
  const std::string* name = nullptr;  // null for a directive
  std::string linkage;
  bool is_definition = false;
};

Named named(const ModuleItem& item) {
  if (const auto* function = std::get_if<Function>(&item)) {
    return {&function->name, function->linkage, function->is_definition};
  }
  if (const auto* variable = std::get_if<Variable>(&item)) {
    return {&variable->name, variable->linkage, variable->linkage != "extern"};
  }
  return {};
}

Rank rank_of(const Named& item) {
  if (!item.is_definition) return Rank::declared;
  if (item.linkage == "weak") return Rank::weak;
  return item.linkage == "common" ? Rank::common : Rank::strong;
}

uint64_t bytes_of(const ModuleItem& item) {
  const auto* variable = std::get_if<Variable>(&item);
  return variable == nullptr ? 0 : variable->bytes();
}

// Shared memory of a size that the launch tells: each unit declares it, and none defines it.
Variable* dynamic_shared(ModuleItem& item) {
  auto* variable = std::get_if<Variable>(&item);
  const bool is_one = variable != nullptr && variable->space == StateSpace::shared &&
                      variable->linkage == "extern" && variable->bytes() == 0;
  return is_one ? variable : nullptr;
}

// What an item is, for the error about two that are not the same.
std::string description(const ModuleItem& item) {
  const auto* variable = std::get_if<Variable>(&item);
  if (variable == nullptr) return "a function";
  return fmt::format("a .{} variable of {} bytes", name(variable->space), variable->bytes());
}

bool are_compatible(const ModuleItem& a, const ModuleItem& b) {
  const auto* first = std::get_if<Variable>(&a);
  const auto* second = std::get_if<Variable>(&b);
  if (first == nullptr || second == nullptr) return first == second;
  if (first->space != second->space) return false;
  // An array of unknown size fits any, and common ones may differ.
  const bool may_differ = first->bytes() == 0 || second->bytes() == 0 ||
                          first->linkage == "common" || second->linkage == "common";
  return may_differ || first->bytes() == second->bytes();
}

unsigned architecture_of(const Module& module) {
  for (const std::string& word : module.target) {
    unsigned number = 0;
    if (word.starts_with("sm_")) {
      std::from_chars(word.data() + 3, word.data() + word.size(), number);
      return number;
    }
  }
  return 0;
}

class Linking {
 public:
  Linking(std::vector<LinkUnit> units, const std::function<bool(std::string_view)>& is_provided)
      : units_(std::move(units)), is_provided_(is_provided), own_(units_.size()) {}

  Result<Module> run() {
    if (units_.empty()) return invalid_input("there is nothing to link");
    for (const LinkUnit& unit : units_) {
      if (unit.module.address_size != units_[0].module.address_size) {
        return invalid_input("units of 32-bit and 64-bit addresses can't be linked", unit.name);
      }
    }
    for (size_t unit = 0; unit < units_.size(); ++unit)
      find_own(unit);
    for (size_t unit = 0; unit < units_.size(); ++unit) {
      if (Status status = find_shared(unit); !status) return tl::unexpected(status.error());
    }
    for (size_t unit = 0; unit < units_.size(); ++unit)
      name_own(unit);
    for (size_t unit = 0; unit < units_.size(); ++unit) {
      for (ModuleItem& item : units_[unit].module.items)
        place(unit, item);
    }
    if (!unresolved_.empty()) {
      return invalid_input(fmt::format("'{}' is used, and no unit defines it", unresolved_),
                           units_[unresolved_in_].name, "give the linker the PTX that defines it");
    }
    return assemble();
  }

 private:
  struct Shared {
    size_t unit = 0;
    ModuleItem* item = nullptr;
    Rank rank = Rank::declared;
  };

  // A unit's own names are those that it defines without a linking directive.
  void find_own(size_t unit) {
    for (const ModuleItem& item : units_[unit].module.items) {
      const Named known = named(item);
      if (known.name == nullptr) continue;
      names_.insert(*known.name);
      if (known.is_definition && known.linkage.empty())
        own_[unit].emplace(*known.name, *known.name);
    }
  }

  Status find_shared(size_t unit) {
    for (ModuleItem& item : units_[unit].module.items) {
      const Named known = named(item);
      if (known.name == nullptr || own_[unit].contains(*known.name)) continue;
      Shared& shared = shared_[*known.name];
      const Rank rank = rank_of(known);
      if (shared.item == nullptr) {
        shared = {unit, &item, rank};
        continue;
      }
      if (!are_compatible(*shared.item, item)) {
        return invalid_input(
            fmt::format("'{}' is {} here and {} in {}", *known.name, description(item),
                        description(*shared.item), units_[shared.unit].name),
            units_[unit].name);
      }
      if (rank == Rank::strong && shared.rank == Rank::strong) {
        return invalid_input(
            fmt::format("'{}' is defined here and in {}", *known.name, units_[shared.unit].name),
            units_[unit].name, "make one of them .weak or rename it");
      }
      const bool is_larger = rank == Rank::common && bytes_of(item) > bytes_of(*shared.item);
      if (rank > shared.rank || (rank == shared.rank && is_larger)) shared = {unit, &item, rank};
    }
    return {};
  }

  void name_own(size_t unit) {
    for (auto& [name, placed] : own_[unit]) {
      if (shared_.find(name) == shared_.end() && taken_.insert(name).second) continue;
      placed = fmt::format("{}${}", name, unit + 1);
      while (!names_.insert(placed).second)
        placed += '$';
    }
  }

  // Takes an item over, where it is the one that stays.
  void place(size_t unit, ModuleItem& item) {
    const Named known = named(item);
    if (known.name == nullptr) {
      const std::string& directive = std::get<Directive>(item).name;
      if (directive == "file" || directive == "section" || directive == "loc") return;
    } else if (const auto own = own_[unit].find(*known.name); own != own_[unit].end()) {
      if (!known.is_definition) return;
      std::visit([&](auto& it) { rename(it, own->second); }, item);
    } else {
      const Shared& shared = shared_.find(*known.name)->second;
      widen(shared, item);
      if (shared.item != &item) return;
    }
    visit_references(item, [&](std::string& name) { resolve(unit, name); });
    placed_.push_back(&item);
  }

  static void rename(Function& function, const std::string& name) { function.name = name; }
  static void rename(Variable& variable, const std::string& name) { variable.name = name; }
  static void rename(Directive&, const std::string&) {}

  // All units' dynamic shared memory is the same, aligned for all of them.
  static void widen(const Shared& shared, ModuleItem& item) {
    Variable* kept = dynamic_shared(*shared.item);
    const Variable* other = dynamic_shared(item);
    if (kept == nullptr || other == nullptr) return;
    kept->alignment = std::max(kept->aligned_to(), other->aligned_to());
  }

  void resolve(size_t unit, std::string& name) {
    if (const auto own = own_[unit].find(name); own != own_[unit].end()) {
      name = own->second;
      return;
    }
    const auto shared = shared_.find(name);
    if (shared == shared_.end() || shared->second.rank != Rank::declared) return;
    if (dynamic_shared(*shared->second.item) != nullptr || is_provided_(name)) return;
    if (!unresolved_.empty()) return;
    unresolved_ = name;
    unresolved_in_ = unit;
  }

  // Prototypes come first and functions last, so that whatever is named stands before.
  Module assemble() {
    Module linked;
    linked.address_size = units_[0].module.address_size;
    const LinkUnit* newest = &units_[0];
    std::pair<uint32_t, uint32_t> version;
    for (const LinkUnit& unit : units_) {
      version = std::max(version, {unit.module.version_major, unit.module.version_minor});
      if (architecture_of(unit.module) > architecture_of(newest->module)) newest = &unit;
    }
    std::tie(linked.version_major, linked.version_minor) = version;
    linked.target = newest->module.target;
    for (const ModuleItem* item : placed_) {
      const auto* function = std::get_if<Function>(item);
      if (function == nullptr || function->is_entry) continue;
      linked.items.emplace_back(prototype_of(*function));
    }
    for (ModuleItem* item : placed_) {
      if (!std::holds_alternative<Function>(*item)) linked.items.push_back(std::move(*item));
    }
    for (ModuleItem* item : placed_) {
      auto* function = std::get_if<Function>(item);
      if (function == nullptr || !function->is_definition) continue;
      drop_lines(function->body);
      linked.items.push_back(std::move(*item));
    }
    return linked;
  }

  static Function prototype_of(const Function& function) {
    Function prototype;
    prototype.linkage = function.linkage;
    prototype.name = function.name;
    prototype.results = function.results;
    prototype.parameters = function.parameters;
    for (const Directive& attribute : function.attributes) {
      if (attribute.name == "noreturn") prototype.attributes.push_back(attribute);
    }
    prototype.location = function.location;
    return prototype;
  }

  static void drop_lines(Block& block) {
    std::erase_if(block.statements, [](const Statement& statement) {
      const auto* directive = std::get_if<Directive>(&statement);
      return directive != nullptr && directive->name == "loc";
    });
    for (Statement& statement : block.statements) {
      if (auto* inner = std::get_if<Block>(&statement)) drop_lines(*inner);
    }
  }

  std::vector<LinkUnit> units_;
  const std::function<bool(std::string_view)>& is_provided_;
  std::vector<std::map<std::string, std::string, std::less<>>> own_;  // of each unit: new names
  std::map<std::string, Shared, std::less<>> shared_;
  std::set<std::string, std::less<>> names_;  // all that stand anywhere
  std::set<std::string, std::less<>> taken_;  // own names that a unit keeps
  std::vector<ModuleItem*> placed_;
  std::string unresolved_;
  size_t unresolved_in_ = 0;
};

}  // namespace

Result<Module> link_units(std::vector<LinkUnit> units,
                          const std::function<bool(std::string_view name)>& is_provided) {
  return Linking(std::move(units), is_provided).run();
}

Result<Module> link_texts(const std::vector<std::string>& texts, std::string_view file) {
  std::vector<LinkUnit> units;
  for (const std::string& text : texts) {
    Result<Module> module = parse(text, file);
    if (!module) return module;
    units.push_back(
        {fmt::format("unit {} of {}", units.size() + 1, texts.size()), std::move(*module)});
  }
  if (units.size() == 1) return std::move(units[0].module);
  return link_units(std::move(units), [](std::string_view) { return true; });
}

}  // namespace sluice::ptx
