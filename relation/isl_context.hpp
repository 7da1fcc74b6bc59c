// isl as all but the analysis use it: relations from blocks B[x, y, z] to bytes A[o], and sets of
// bytes.
//
// isl runs with errors as values: an operation that fails, or that goes past the operation budget,
// gives a null object, and every operation on a null object gives null again. So a computation is
// written straight through and looked at once at its end.
#pragma once

#include <cstdint>
#include <optional>

#include "base/dim3.hpp"
#include "base/number/range.hpp"
#include "isl/isl-noexceptions.h"
#include "relation/budget.hpp"

namespace sluice {

// IslContext owns an isl_ctx. Not thread-safe; it must outlive every object made in it.
class IslContext {
 public:
  IslContext();
  ~IslContext();
  IslContext(const IslContext&) = delete;
  IslContext& operator=(const IslContext&) = delete;

  isl::ctx get() const { return isl::ctx(context_); }

  // Budget allows the computations of its lifetime `operations` of isl's own steps; past it they
  // fail. Without one there is no limit.
  class Budget {
   public:
    Budget(IslContext& context, unsigned long operations) : context_(context) {
      context_.limit(operations);
    }
    ~Budget() { context_.limit(0); }
    Budget(const Budget&) = delete;
    Budget& operator=(const Budget&) = delete;

    // is_spent() says that some computation has failed for it.
    bool is_spent() const { return isl_ctx_last_error(context_.context_) == isl_error_quota; }

   private:
    IslContext& context_;
  };

 private:
  void limit(unsigned long operations);

  isl_ctx* context_;
};

// IslWork lets isl work, in its lifetime, for what a budget has left, and charges what it took when
// it ends. Past that isl's results are null, and the budget is spent. Within another, or within a
// Budget of the context, it does nothing.
class IslWork {
 public:
  // What one of isl's operations counts, each of which is an allocation with the arithmetic that
  // belongs to it.
  static constexpr uint64_t steps_of_operation = 10;

  IslWork(const IslContext& context, sluice::Budget& budget);
  ~IslWork();
  // has_failed() says that isl has gone past what was left.
  bool has_failed() const;
  IslWork(const IslWork&) = delete;
  IslWork& operator=(const IslWork&) = delete;

 private:
  isl_ctx* context_;
  bool is_inner_;
  sluice::Budget& budget_;
};

// yes() is true where isl said so; an error counts as no.
inline bool yes(const isl::boolean& answer) {
  return answer.is_true();
}

// grid_blocks() is { B[x, y, z] } with all positions of the grid.
isl::set grid_blocks(const IslContext& context, const Dim3& grid);

// byte_set() is { A[o] : begin <= o < end }; empty_bytes() and empty_access() hold nothing.
isl::set byte_set(const IslContext& context, const Range& bytes);
isl::set empty_bytes(const IslContext& context);
isl::map empty_access(const IslContext& context);

// shifted() adds `offset` to every byte of an access relation.
isl::map shifted(const isl::map& access, uint64_t offset);

// TidyingBudget bounds what isl may spend on a shorter form of something that is right as it is.
// Where isl's operations are bounded already, it is at most half of those that are left. Past it,
// results are null as usual.
class TidyingBudget {
 public:
  explicit TidyingBudget(isl_ctx* context);
  ~TidyingBudget();
  TidyingBudget(const TidyingBudget&) = delete;
  TidyingBudget& operator=(const TidyingBudget&) = delete;

 private:
  isl_ctx* context_;  // null where nothing is left
  unsigned long outer_;
};

// coalesced() is the same with fewer pieces where isl finds them. isl's coalescing is checked and
// not trusted: isl 0.25 with bounded wrapping (its default) was seen to add points to a union of
// three pieces with integer divisions. The check of a few pieces with several divisions may take
// isl minutes, so past a budget the pieces stay as they are. Null stays null.
template <class Relation>
Relation coalesced(const Relation& relation) {
  if (relation.is_null()) return relation;
  const TidyingBudget budget(relation.ctx().get());
  const Relation fewer = relation.coalesce();
  return yes(fewer.is_equal(relation)) ? fewer : relation;
}

// hull() is the smallest range that holds all bytes; nothing where there are none. A set whose
// bounds isl cannot tell gives the widest range.
std::optional<Range> hull(const isl::set& bytes);

}  // namespace sluice
