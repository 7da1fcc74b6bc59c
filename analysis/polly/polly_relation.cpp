#include "analysis/polly/polly_relation.hpp"

#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <isl/constraint.h>
#include <isl/local_space.h>
#include <isl/map.h>
#include <isl/set.h>
#include <polly/ScopInfo.h>

#include "analysis/polly/range_relation.hpp"
#include "analysis/polly/translate_folding.hpp"
#include "analysis/polly/widening_reason.hpp"

namespace sluice::analysis {
namespace {

using namespace llvm;

// Up to so many spans are put down one by one while the thread indices are still there, since the
// bytes of neighbouring threads coalesce only then. More are added afterwards, rows as one piece.
constexpr size_t most_spans_of_a_statement = 16;

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
      placed.refusal = Widening::wraps;
      return placed;
    }
    for (polly::ScopStmt& statement : scop_) {
      for (polly::MemoryAccess* access : statement) {
        if (!access->isArrayKind()) continue;
        auto* store = dyn_cast<StoreInst>(access->getAccessInstruction());
        if (store == nullptr) continue;
        const auto* place = kernel_.place_of(*store);
        if (place != nullptr) read(statement, *access, *store, *place, placed);
      }
      unite_statement();
    }
    for (auto& [kind, group] : groups_) {
      PlacedTouch together{group.touch, by_block(coalesced(group.bytes)), true, kind.second,
                           group.reason};
      placed.touches.push_back(std::move(together));
    }
    if (isl_ctx_last_error(scop_.getIslCtx().get()) != isl_error_none) {
      return {{}, Widening::long_relation};
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

  // assumptions_hold() is true where all that Polly assumed of the parameters holds in this launch.
  // What it thinks no defined execution leaves is assumed as well, and not only what it would check
  // when the program runs: it takes a loop without signed wraps for finite, and with that an
  // unsigned comparison in it for one of numbers that are not negative.
  bool assumptions_hold() const {
    const isl::set invalid = scop_.getInvalidContext().intersect_params(box_);
    const isl::set missing = box_.subtract(scop_.getAssumedContext());
    const isl::set undefined = box_.subtract(scop_.getDefinedBehaviorContext());
    return invalid.is_empty().is_true() && missing.is_empty().is_true() &&
           undefined.is_empty().is_true();
  }

  // Group is the touches of one kind whose place Polly knows exactly. They are united before the
  // thread indices are projected out, while neighbouring bytes still coalesce.
  struct Group {
    uint32_t touch = 0;
    isl::set bytes;
    WideningReason reason;
  };
  using Kind = std::pair<TouchKind, bool>;  // whether it is certain

  void read(polly::ScopStmt& statement, polly::MemoryAccess& access, StoreInst& store,
            const std::vector<TouchesOfPlace>& place, PlacedTouches& placed) {
    const isl::map at = isl::manage(isl_map_set_tuple_name(
        access.getLatestAccessRelation().intersect_domain(statement.getDomain()).release(),
        isl_dim_out, "A"));
    const bool exact_place = access.isAffine() && !involves_foreign(at);
    for (const TouchesOfPlace& touches : place) {
      if (exact_place) {
        read_exactly(at, access.isMustWrite(), touches, placed);
      } else {
        placed.touches.push_back(widened(at, access.isAffine(), store, touches));
      }
    }
  }

  void read_exactly(const isl::map& at, bool certain, const TouchesOfPlace& touches,
                    PlacedTouches& placed) {
    const uint32_t number = touches.touch;
    const WideningReason reason =
        certain ? WideningReason()
                : WideningReason{Widening::data_guard, form_.touches[number].line};
    if (touches.bytes.size() > most_spans_of_a_statement) {
      placed.touches.push_back({number, far_bytes(at, touches.bytes), true, certain, reason});
      return;
    }
    const Kind kind = {kind_of(form_.touches[number]), certain};
    groups_.try_emplace(kind, Group{number, {}, reason});
    const isl::map bytes = spread(at, touches.bytes);
    isl::map& together = of_statement_[kind];
    together = together.is_null() ? bytes : together.unite(bytes);
  }

  PlacedTouch widened(const isl::map& at, bool affine, const StoreInst& store,
                      const TouchesOfPlace& touches) {
    const auto spans = coarsened(touches.bytes, most_spans_of_a_statement);
    const isl::map places = by_block(spread(at, spans).range().intersect_params(box_));
    if (affine && is_bounded(places)) {
      return {touches.touch, places, false, false,
              address_reason(*Specialised::offset_of(store), form_, touches.touch,
                             Widening::not_affine)};
    }
    PlacedTouch touch = place_by_range(scop_.getIslCtx(), store, touches, kernel_, form_, family_,
                                       evolution_, Widening::not_affine);
    if (!touch.bytes.is_null() && !places.is_null()) {
      touch.bytes = touch.bytes.intersect_domain(places.domain());
    }
    return touch;
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

  // spread() turns the bytes `at` which a place lies into the spans that count from there.
  isl::map spread(const isl::map& at, const std::vector<Range>& spans) const {
    std::string text;
    for (const Range& span : spans) {
      text += fmt::format("{} A[o] -> A[p] : o + {} <= p < o + {}", text.empty() ? "" : ";",
                          span.begin, span.end);
    }
    return at.apply_range(isl::map(scop_.getIslCtx(), "{" + text + " }"));
  }

  // far_bytes() is the same by block, for many spans.
  isl::map far_bytes(const isl::map& at, const std::vector<Range>& spans) const {
    std::map<int64_t, std::vector<int64_t>> starts;  // by length
    for (const Range& span : spans)
      starts[span.end - span.begin].push_back(span.begin);
    isl::map all;
    for (const auto& [length, places] : starts) {
      const isl::set first = spread(at, {{0, length}}).range().intersect_params(box_);
      const isl::map moved = translated(coalesced(by_block(coalesced(first))), places);
      all = all.is_null() ? moved : all.unite(moved);
    }
    return all;
  }

  // is_bounded() is false where a number that may have any 64-bit value takes the bytes beyond
  // what readers of relations count with; no allocation is as large.
  static bool is_bounded(const isl::map& places) {
    if (places.is_null()) return false;
    const isl::val limit = isl::manage(isl_val_2exp(isl_val_int_from_si(places.ctx().get(), 62)));
    const isl::set bytes = places.range();
    return bytes.is_empty().is_true() || (bytes.dim_max_val(0).lt(limit).is_true() &&
                                          bytes.dim_min_val(0).gt(limit.neg()).is_true());
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
  return PollyReader(scop, kernel, form, family, evolution).read();
}

}  // namespace sluice::analysis
