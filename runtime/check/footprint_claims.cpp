#include "runtime/check/footprint_claims.hpp"

#include <algorithm>

namespace sluice::runtime {
namespace {

constexpr size_t most_known_runs = size_t{1} << 23;

size_t count_runs(const BlockClaims& claims) {
  size_t runs = 0;
  for (const BlockClaims::Argument& argument : claims.arguments) {
    runs += argument.reads.size() + argument.writes.size() + argument.must_writes.size();
  }
  return runs;
}

}  // namespace

Result<std::shared_ptr<RelationRuns>> RelationCache::find(const Relation& relation) {
  std::shared_ptr<RelationRuns>& known = known_[relation];
  if (known == nullptr) {
    Result<std::shared_ptr<RelationRuns>> made = RelationRuns::create(relation);
    if (!made) return made;
    known = std::move(*made);
  }
  return known;
}

Result<std::unique_ptr<FootprintClaims>> FootprintClaims::create(
    const analysis::Footprint& footprint, RelationCache& cache) {
  auto claims = std::make_unique<FootprintClaims>();
  claims->grid_ = footprint.shape.grid;
  claims->known_.resize(claims->grid_.count());
  for (const analysis::Symbol& symbol : footprint.symbols)
    claims->values_.push_back(symbol.value);
  for (const analysis::ArgumentFootprint& source : footprint.arguments) {
    Argument argument;
    const auto read = [&](const analysis::Access& access, std::shared_ptr<RelationRuns>& relation,
                          bool& any) -> Status {
      const bool whole = access.precision == analysis::Precision::whole_buffer;
      if (whole) any = true;
      if (access.relation.empty() || whole) return {};
      auto found = cache.find(access.relation);
      if (!found) return tl::unexpected(found.error());
      relation = std::move(*found);
      return {};
    };
    for (const Status& status :
         {read(source.reads, argument.reads, argument.reads_any),
          read(source.may_writes, argument.may_writes, argument.writes_any),
          read(source.must_writes, argument.must_writes, argument.writes_any)}) {
      if (!status) return tl::unexpected(status.error());
    }
    claims->arguments_.push_back(std::move(argument));
  }
  return claims;
}

BlockIndex FootprintClaims::index_of(uint32_t block) const {
  return {block % grid_.x, block / grid_.x % grid_.y, block / grid_.x / grid_.y};
}

std::shared_ptr<const BlockClaims> FootprintClaims::of(uint32_t block) {
  {
    const std::lock_guard lock(mutex_);
    if (known_[block]) return known_[block];
  }
  std::shared_ptr<const BlockClaims> claims = evaluate(index_of(block));
  if (claims == nullptr) return claims;
  const std::lock_guard lock(mutex_);
  if (!known_[block] && known_runs_ < most_known_runs) {
    known_runs_ += count_runs(*claims);
    known_[block] = claims;
  }
  return claims;
}

std::shared_ptr<const BlockClaims> FootprintClaims::evaluate(const BlockIndex& block) const {
  auto claims = std::make_shared<BlockClaims>();
  bool good = true;
  const auto runs = [&](const std::shared_ptr<RelationRuns>& relation) {
    if (relation == nullptr) return ByteRuns{};
    std::optional<ByteRuns> found = relation->of(block, values_);
    good = good && found.has_value();
    return found ? std::move(*found) : ByteRuns{};
  };
  for (const Argument& source : arguments_) {
    BlockClaims::Argument argument;
    argument.reads_any = source.reads_any;
    argument.writes_any = source.writes_any;
    argument.reads = runs(source.reads);
    argument.must_writes = runs(source.must_writes);
    argument.writes = argument.must_writes;
    const ByteRuns may = runs(source.may_writes);
    argument.writes.insert(argument.writes.end(), may.begin(), may.end());
    join_ranges(argument.writes);
    claims->arguments.push_back(std::move(argument));
  }
  return good ? claims : nullptr;
}

}  // namespace sluice::runtime
