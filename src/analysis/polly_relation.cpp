#include "analysis/polly_relation.hpp"

#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <isl/constraint.h>
#include <isl/local_space.h>
#include <isl/map.h>
#include <isl/set.h>
#include <llvm/IR/InstIterator.h>
#include <polly/ScopInfo.h>

#include "analysis/widening_reason.hpp"

namespace sluice::analysis {
namespace {

using namespace llvm;

// What is said of an address for which no value from memory is to blame.
constexpr const char* not_affine = "is not an affine function of the indices";

std::string guard_reason(const AccessForm& form, uint32_t touch) {
  return fmt::format("the access at PTX line {} happens under a condition on data",
                     form.touches[touch].line);
}

void add_any_byte(const Specialised& kernel, const AccessForm& form, PlacedTouches& placed) {
  for (uint32_t touch : kernel.any_byte) {
    placed.touches.push_back(
        {touch, isl::map(), false, false,
         fmt::format("the address at PTX line {} may start from several pointers",
                     form.touches[touch].line)});
  }
}

PlacedTouch place_by_range(isl::ctx context, const StoreInst& store, uint32_t touch,
                           const Specialised& kernel, const AccessForm& form,
                           const ShapeFamily& family, ScalarEvolution& evolution,
                           const std::string& otherwise = not_affine) {
  PlacedTouch placed;
  placed.touch = touch;
  placed.reason = address_reason(*Specialised::offset_of(store), form, touch, otherwise);
  if (auto bounds = bound_offset(Specialised::offset_of(store), kernel, evolution)) {
    bounds->high += form.touches[touch].bytes - 1;
    placed.bytes = bounded_bytes(context, *bounds, family);
  }
  return placed;
}

// PollyReader turns Polly's access relations, whose parameters are the block and thread indices,
// into relations from blocks.
class PollyReader {
 public:
  PollyReader(polly::Scop& scop, const Specialised& kernel, const AccessForm& form,
              const ShapeFamily& family, ScalarEvolution& evolution)
      : scop_(scop), kernel_(kernel), form_(form), family_(family), evolution_(evolution) {
    const Dim3& size = family.shape.block;
    const std::array<uint32_t, 3> block = {size.x, size.y, size.z};
    box_ = scop.getContext();
    for (size_t i = 0; i < family.symbols.size(); ++i) {
      symbols_.push_back(
          confined(kernel.symbols[i], family.symbols[i].low, family.symbols[i].high));
    }
    for (unsigned i = 0; i < 3; ++i) {
      block_[i] = confined(kernel.block[i], 0, int64_t(family.largest_grid(i)) - 1);
      thread_[i] = confined(kernel.thread[i], 0, int64_t(block[i]) - 1);
      if (const auto symbol = family.grid_symbol(i)) confine_below(block_[i], symbols_[*symbol]);
    }
  }

  PlacedTouches read() {
    PlacedTouches placed;
    if (!assumptions_hold()) {
      placed.refusal = "may wrap around in this launch";
      return placed;
    }
    for (polly::ScopStmt& statement : scop_) {
      for (polly::MemoryAccess* access : statement) {
        if (!access->isArrayKind()) continue;
        auto* store = dyn_cast<StoreInst>(access->getAccessInstruction());
        if (store == nullptr) continue;
        const auto touch = Specialised::touch_of(*store);
        if (touch) read(statement, *access, *store, *touch, placed);
      }
      unite_statement();
    }
    for (auto& [kind, group] : groups_) {
      PlacedTouch together{group.touch, by_block(coalesced(group.bytes)), true,
                           std::get<bool>(kind), group.reason};
      placed.touches.push_back(std::move(together));
    }
    if (isl_ctx_last_error(scop_.getIslCtx().get()) != isl_error_none) {
      return {{}, "takes too long to describe exactly"};
    }
    add_any_byte(kernel_, form_, placed);
    return placed;
  }

 private:
  // confined() is the id of the parameter that Polly made of an argument, if any; the argument is
  // confined to its range.
  isl::id confined(Argument* argument, int64_t low, int64_t high) {
    const isl::id id = scop_.getIdForParam(evolution_.getSCEV(argument));
    if (id.is_null()) return id;
    int position = isl_set_find_dim_by_id(box_.get(), isl_dim_param, id.get());
    if (position < 0) {
      box_ = isl::manage(isl_set_add_dims(box_.copy(), isl_dim_param, 1));
      position = int(isl_set_dim(box_.get(), isl_dim_param)) - 1;
      box_ = isl::manage(
          isl_set_set_dim_id(box_.release(), isl_dim_param, unsigned(position), id.copy()));
    }
    isl_ctx* context = scop_.getIslCtx().get();
    box_ = isl::manage(isl_set_lower_bound_val(box_.release(), isl_dim_param, unsigned(position),
                                               isl_val_int_from_si(context, low)));
    box_ = isl::manage(isl_set_upper_bound_val(box_.release(), isl_dim_param, unsigned(position),
                                               isl_val_int_from_si(context, high)));
    return id;
  }

  // confine_below() says of two parameters of Polly's, if both exist, that index < extent.
  void confine_below(const isl::id& index, const isl::id& extent) {
    if (index.is_null() || extent.is_null()) return;
    const auto position = [&](const isl::id& id) {
      return isl_set_find_dim_by_id(box_.get(), isl_dim_param, id.get());
    };
    isl_constraint* below =
        isl_constraint_alloc_inequality(isl_local_space_from_space(isl_set_get_space(box_.get())));
    below = isl_constraint_set_coefficient_si(below, isl_dim_param, position(index), -1);
    below = isl_constraint_set_coefficient_si(below, isl_dim_param, position(extent), 1);
    box_ = isl::manage(
        isl_set_add_constraint(box_.release(), isl_constraint_set_constant_si(below, -1)));
  }

  bool assumptions_hold() const {
    const isl::set invalid = scop_.getInvalidContext().intersect_params(box_);
    const isl::set missing = box_.subtract(scop_.getAssumedContext());
    return isl_set_is_empty(invalid.get()) == isl_bool_true &&
           isl_set_is_empty(missing.get()) == isl_bool_true;
  }

  // Group is the touches of one kind whose place Polly knows exactly. They are united before the
  // thread indices are projected out, while neighbouring bytes still coalesce.
  struct Group {
    uint32_t touch = 0;
    isl::set bytes;
    std::string reason;
  };
  using Kind = std::tuple<uint32_t, int, bool>;  // slot, what the touch does, certain

  static Kind kind_of(const Touch& touch, bool certain) {
    return {touch.slot, int(touch.reads) + 2 * int(touch.writes) + 4 * int(touch.may_only),
            certain};
  }

  void read(polly::ScopStmt& statement, polly::MemoryAccess& access, StoreInst& store,
            uint32_t number, PlacedTouches& placed) {
    const isl::map bytes =
        all_bytes(access.getLatestAccessRelation().intersect_domain(statement.getDomain()), number);
    if (access.isAffine() && !involves_foreign(bytes)) {
      const bool certain = access.isMustWrite();
      const Kind kind = kind_of(form_.touches[number], certain);
      groups_.try_emplace(kind, Group{number, {}, certain ? "" : guard_reason(form_, number)});
      isl::map& together = of_statement_[kind];
      together = together.is_null() ? bytes : together.unite(bytes);
      return;
    }
    const isl::map places = by_block(bytes.range().intersect_params(box_));
    if (access.isAffine() && !places.is_null()) {
      placed.touches.push_back(
          {number, places, false, false,
           address_reason(*Specialised::offset_of(store), form_, number, not_affine)});
      return;
    }
    PlacedTouch touch =
        place_by_range(scop_.getIslCtx(), store, number, kernel_, form_, family_, evolution_);
    if (!touch.bytes.is_null() && !places.is_null()) {
      touch.bytes = touch.bytes.intersect_domain(places.domain());
    }
    placed.touches.push_back(std::move(touch));
  }

  // unite_statement() moves what one statement touches to the groups. Within it, neighbouring
  // bytes coalesce before its loops are projected out.
  void unite_statement() {
    for (auto& [kind, bytes] : of_statement_) {
      const isl::set all = coalesced(bytes).range().intersect_params(box_);
      isl::set& together = groups_.at(kind).bytes;
      together = together.is_null() ? all : together.unite(all);
    }
    of_statement_.clear();
  }

  // all_bytes() turns the first bytes of an access into all its bytes.
  isl::map all_bytes(const isl::map& first, uint32_t touch) const {
    const uint32_t bytes = form_.touches[touch].bytes;
    isl_map* named = isl_map_set_tuple_name(isl_map_copy(first.get()), isl_dim_out, "A");
    return isl::manage(named).apply_range(
        isl::map(scop_.getIslCtx(), fmt::format("{{ A[o] -> A[p] : o <= p < o + {} }}", bytes)));
  }

  bool involves_foreign(const isl::map& bytes) const {
    const isl_size count = isl_map_dim(bytes.get(), isl_dim_param);
    for (isl_size i = 0; i < count; ++i) {
      const isl::id id = isl::manage(isl_map_get_dim_id(bytes.get(), isl_dim_param, unsigned(i)));
      const auto is_it = [&](const isl::id& known) { return known.get() == id.get(); };
      if (any_of(block_, is_it) || any_of(thread_, is_it) || any_of(symbols_, is_it)) continue;
      if (isl_map_involves_dims(bytes.get(), isl_dim_param, unsigned(i), 1) != isl_bool_false) {
        return true;
      }
    }
    return false;
  }

  // by_block() makes the block indices inputs and projects everything else out but the symbolic
  // numbers, so that the result covers all threads, and all values of parameters that are neither.
  isl::map by_block(const isl::set& touched) const {
    isl_map* map = isl_map_from_range(touched.copy());
    for (unsigned i = 0; i < 3; ++i) {
      const int position =
          block_[i].is_null() ? -1 : isl_map_find_dim_by_id(map, isl_dim_param, block_[i].get());
      map = position < 0
                ? isl_map_add_dims(map, isl_dim_in, 1)
                : isl_map_move_dims(map, isl_dim_in, i, isl_dim_param, unsigned(position), 1);
    }
    for (const isl::id& id : thread_) {
      const int position = id.is_null() ? -1 : isl_map_find_dim_by_id(map, isl_dim_param, id.get());
      if (position >= 0) map = isl_map_project_out(map, isl_dim_param, unsigned(position), 1);
    }
    map = keep_symbols(map);
    map = isl_map_set_tuple_name(map, isl_dim_in, "B");
    for (unsigned i = 0; i < 3; ++i) {
      map = isl_map_set_dim_name(map, isl_dim_in, i, std::array{"x", "y", "z"}[i]);
    }
    map = isl_map_set_dim_name(map, isl_dim_out, 0, "o");
    const isl::map result = isl::manage(map);
    return result.intersect_domain(blocks_of(scop_.getIslCtx(), family_));
  }

  // keep_symbols() projects out all parameters but the symbolic numbers, and names those.
  isl_map* keep_symbols(isl_map* map) const {
    for (isl_size i = isl_map_dim(map, isl_dim_param); i-- > 0;) {
      const isl::id id = isl::manage(isl_map_get_dim_id(map, isl_dim_param, unsigned(i)));
      const auto known = find_if(symbols_, [&](const isl::id& s) { return s.get() == id.get(); });
      if (known == symbols_.end()) {
        map = isl_map_project_out(map, isl_dim_param, unsigned(i), 1);
        continue;
      }
      const SymbolicNumber& symbol = family_.symbols[size_t(known - symbols_.begin())];
      map = isl_map_set_dim_id(
          map, isl_dim_param, unsigned(i),
          isl_id_alloc(scop_.getIslCtx().get(), symbol_name(symbol.number).c_str(), nullptr));
    }
    return map;
  }

  polly::Scop& scop_;
  const Specialised& kernel_;
  const AccessForm& form_;
  const ShapeFamily& family_;
  ScalarEvolution& evolution_;
  std::array<isl::id, 3> block_;
  std::array<isl::id, 3> thread_;
  std::vector<isl::id> symbols_;
  std::map<Kind, Group> groups_;
  std::map<Kind, isl::map> of_statement_;  // of the statement that is being read
  isl::set box_;                           // of parameters: what holds of them in this launch
};

}  // namespace

PlacedTouches place_by_polly(polly::Scop& scop, const Specialised& kernel, const AccessForm& form,
                             const ShapeFamily& family, llvm::ScalarEvolution& evolution) {
  const OperationBudget budget(scop.getIslCtx());
  return PollyReader(scop, kernel, form, family, evolution).read();
}

PlacedTouches place_by_ranges(isl::ctx context, const Specialised& kernel, const AccessForm& form,
                              const ShapeFamily& family, llvm::ScalarEvolution& evolution,
                              const std::string& refusal) {
  const std::string otherwise = refusal.empty() ? not_affine : refusal;
  PlacedTouches placed;
  for (Instruction& instruction : instructions(*kernel.function)) {
    auto* store = dyn_cast<StoreInst>(&instruction);
    if (store == nullptr) continue;
    if (const auto touch = Specialised::touch_of(*store)) {
      placed.touches.push_back(
          place_by_range(context, *store, *touch, kernel, form, family, evolution, otherwise));
    }
  }
  add_any_byte(kernel, form, placed);
  return placed;
}

}  // namespace sluice::analysis
