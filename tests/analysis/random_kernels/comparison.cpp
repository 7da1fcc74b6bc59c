#include "comparison.hpp"

#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "dro/records/widening.hpp"
#include "relation/isl_relation.hpp"
#include "relation_bytes.hpp"

namespace sluice::analysis::random {
namespace {

class Comparison {
 public:
  Comparison(const Kernel& kernel, const Effects& effects, const KernelSignature& signature,
             const Footprint& footprint)
      : kernel_(kernel), effects_(effects), signature_(signature), footprint_(footprint) {}

  Verdict run() {
    if (footprint_.opaque()) {
      verdict_.opaque = true;
      verdict_.inexact = "opaque: " + dro::sentence_of(footprint_.opaque_reason);
      return verdict_;
    }
    if (!read_claims()) return verdict_;
    for (uint32_t block = 0; block < effects_.blocks.size(); ++block) {
      block_ = block;
      for (size_t i = 0; i < kernel_.parameters.size(); ++i) {
        if (kernel_.parameters[i].pointer) check(i);
      }
    }
    return verdict_;
  }

 private:
  // Claim is what the footprint says of one slot, by block; `any`: the whole buffer.
  struct Claim {
    RelationBytes reads, may_writes, must_writes;
    bool reads_any = false, writes_any = false;
  };

  bool read_claims() {
    for (const ArgumentFootprint& argument : footprint_.arguments) {
      Claim claim;
      if (!read(argument.reads, claim.reads, claim.reads_any) ||
          !read(argument.may_writes, claim.may_writes, claim.writes_any) ||
          !read(argument.must_writes, claim.must_writes, claim.writes_any)) {
        return false;
      }
      claims_.push_back(std::move(claim));
    }
    return true;
  }

  bool read(const analysis::Access& access, RelationBytes& relation, bool& any) {
    const bool whole = access.precision == Precision::whole_buffer;
    any = any || whole;
    auto bytes = RelationBytes::read(whole ? Relation() : access.relation, kernel_.grid);
    if (!bytes) {
      verdict_.unsound = "not a bounded relation: " + text_of(access.relation);
      return false;
    }
    relation = std::move(*bytes);
    return true;
  }

  void check(size_t parameter) {
    parameter_ = parameter;
    const Touched& touched = effects_.blocks[block_][parameter];
    const size_t slot = slot_of(parameter);
    if (slot == signature_.pointers.size()) {
      if (!touched.reads.empty() || !touched.writes.empty()) fail("is not known as a pointer");
      return;
    }
    const Claim& claim = claims_[slot];
    const ArgumentFootprint& argument = footprint_.arguments[slot];
    if (!claim.reads_any) covered("reads", touched.reads, {&claim.reads});
    if (!claim.writes_any) {
      covered("writes", touched.writes, {&claim.may_writes, &claim.must_writes});
    }
    if (const int64_t byte = missing(claim.must_writes.of(block_), touched.writes); byte != none) {
      fail(fmt::format("must write byte {} and does not", byte));
    }
    if (!claim.reads_any && argument.reads.precision == Precision::exact) {
      if (const int64_t byte = missing(claim.reads.of(block_), touched.reads); byte != none) {
        fail(fmt::format("does not read byte {}, which is claimed to be exact", byte));
      }
    }
    tight("reads", argument.reads, claim.reads, touched.reads);
    tight("may write", argument.may_writes, claim.may_writes, touched.writes);
    if (missing(touched.stores, claim.must_writes.of(block_)) != none) {
      loose("must write", argument.may_writes);
    }
  }

  static constexpr int64_t none = INT64_MIN;
  static int64_t missing(const ByteRuns& runs, const ByteRuns& others) {
    if (runs.empty()) return none;
    const int64_t byte = runtime::first_missing(runs, 0, others);
    return byte == runs.back().end ? none : byte;
  }

  // covered() expects that the claims together hold all that is touched.
  void covered(const char* what, const ByteRuns& touched,
               std::initializer_list<const RelationBytes*> claims) {
    ByteRuns listed;
    bool complete = true;
    for (const RelationBytes* claim : claims) {
      const ByteRuns& bytes = claim->of(block_);
      listed.insert(listed.end(), bytes.begin(), bytes.end());
      complete = complete && claim->complete();
    }
    join_ranges(listed);
    int64_t byte = missing(touched, listed);
    if (byte == none) return;
    if (!complete) byte = first_outside(touched, claims);
    if (byte != none) fail(fmt::format("{} byte {} outside the footprint", what, byte));
  }

  int64_t first_outside(const ByteRuns& touched,
                        std::initializer_list<const RelationBytes*> claims) const {
    for (const Range& run : touched) {
      for (int64_t byte = run.begin; byte < run.end; ++byte) {
        if (std::none_of(claims.begin(), claims.end(), [&](const RelationBytes* claim) {
              return claim->contains(block_, byte);
            })) {
          return byte;
        }
      }
    }
    return none;
  }

  void tight(const char* what, const analysis::Access& access, const RelationBytes& claim,
             const ByteRuns& touched) {
    if (access.precision == Precision::whole_buffer || !claim.complete() ||
        missing(claim.of(block_), touched) != none) {
      loose(what, access);
    }
  }

  void loose(const char* what, const analysis::Access& access) {
    if (!verdict_.inexact.empty()) return;
    verdict_.inexact =
        fmt::format("{} {}: {}", kernel_.parameters[parameter_].name, what,
                    access.reason.empty() ? "no reason given" : dro::sentence_of(access.reason));
  }

  void fail(const std::string& what) {
    if (!verdict_.unsound.empty()) return;
    const Dim3& grid = kernel_.grid;
    const Parameter& parameter = kernel_.parameters[parameter_];
    verdict_.unsound = fmt::format("block ({}, {}, {}), argument {}+{}: {}", block_ % grid.x,
                                   block_ / grid.x % grid.y, block_ / grid.x / grid.y,
                                   parameter.name, parameter.field, what);
  }

  size_t slot_of(size_t parameter) const {
    size_t slot = 0;
    while (slot < signature_.pointers.size() &&
           signature_.pointers[slot].offset != kernel_.parameters[parameter].offset) {
      ++slot;
    }
    return slot;
  }

  const Kernel& kernel_;
  const Effects& effects_;
  const KernelSignature& signature_;
  const Footprint& footprint_;
  Verdict verdict_;
  std::vector<Claim> claims_;  // by slot
  uint32_t block_ = 0;
  size_t parameter_ = 0;
};

}  // namespace

LaunchShape launch_shape(const Kernel& kernel, const KernelSignature& signature) {
  LaunchShape shape{kernel.grid, kernel.block, 0, {}};
  for (const ParameterSlot& slot : signature.shape_scalars) {
    uint64_t value = 0;
    for (const Parameter& parameter : kernel.parameters) {
      if (parameter.offset == slot.offset) value = parameter.value;
    }
    shape.shape_values.push_back(value);
  }
  return shape;
}

Verdict compare(const Kernel& kernel, const Effects& effects, const KernelSignature& signature,
                const Footprint& footprint) {
  return Comparison(kernel, effects, signature, footprint).run();
}

}  // namespace sluice::analysis::random
