#include "runtime/check/launch_check.hpp"

#include <algorithm>
#include <utility>

#include <pthread.h>

namespace sluice::runtime {
namespace {

// A kernel that is wrong is wrong at every thread: a few findings a block say it all.
constexpr size_t most_violations = 16;

Range stack_of_this_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* begin = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &begin, &bytes);
  pthread_attr_destroy(&attributes);
  const auto first = reinterpret_cast<int64_t>(begin);
  return {first, first + static_cast<int64_t>(bytes)};
}

// BlockRecorder hears of the accesses of one block.
class BlockRecorder {
 public:
  BlockRecorder(const BlockClaims& claims, const std::vector<BoundPointer>& pointers,
                const BlockIndex& block, ByteRuns own_memory)
      : claims_(claims),
        pointers_(pointers),
        block_(block),
        own_memory_(std::move(own_memory)),
        reads_(claimed(&BlockClaims::Argument::reads, &BlockClaims::Argument::reads_any)),
        writes_(claimed(&BlockClaims::Argument::writes, &BlockClaims::Argument::writes_any)) {}

  static void heard(void* recorder, uint64_t address, uint64_t bytes, uint32_t kind,
                    uint32_t line) {
    static_cast<BlockRecorder*>(recorder)->hear(address, bytes, kind, line);
  }

  BlockFindings finish();

 private:
  void hear(uint64_t address, uint64_t bytes, uint32_t kind, uint32_t line) {
    const auto first = static_cast<int64_t>(address);
    const int64_t end = first + static_cast<int64_t>(bytes);
    if (bytes == 0) return;
    if ((kind & SLUICE_ACCESS_READ) != 0) {
      if (reads_.covers(first, end)) {
        touched_reads_.add(first, end);
      } else {
        outside(Violation::Kind::read, first, end, line);
      }
    }
    if ((kind & SLUICE_ACCESS_WRITE) != 0) {
      if (writes_.covers(first, end)) {
        touched_writes_.add(first, end);
      } else {
        outside(Violation::Kind::write, first, end, line);
      }
    }
  }

  // claimed() is all that the arguments may reach, as addresses.
  ByteRuns claimed(ByteRuns BlockClaims::Argument::* bytes,
                   bool BlockClaims::Argument::* any) const {
    ByteRuns all;
    for (size_t i = 0; i < pointers_.size(); ++i) {
      const BlockClaims::Argument& argument = claims_.arguments[i];
      const auto value = static_cast<int64_t>(pointers_[i].value);
      for (const Range& run : argument.*bytes)
        all.push_back({run.begin + value, run.end + value});
      if (argument.*any) {
        all.push_back(
            {static_cast<int64_t>(pointers_[i].begin), static_cast<int64_t>(pointers_[i].end)});
      }
    }
    join_ranges(all);
    return all;
  }

  void outside(Violation::Kind kind, int64_t first, int64_t end, uint32_t line);
  Violation placed(Violation::Kind kind, int64_t first, int64_t end, uint32_t line) const;

  AccessTightness tightness(const ByteRuns& claimed, bool any, size_t argument,
                            const ByteRuns& touched) const;

  const BlockClaims& claims_;
  const std::vector<BoundPointer>& pointers_;
  const BlockIndex block_;
  ByteRuns own_memory_;
  ByteSearch reads_, writes_;
  ByteCollector touched_reads_, touched_writes_;
  std::vector<Violation> violations_;
};

void BlockRecorder::outside(Violation::Kind kind, int64_t first, int64_t end, uint32_t line) {
  for (const Range& own : own_memory_) {
    if (first >= own.begin && end <= own.end) return;
  }
  const bool told =
      std::any_of(violations_.begin(), violations_.end(),
                  [&](const Violation& known) { return known.line == line && known.kind == kind; });
  if (told || violations_.size() >= most_violations) return;
  violations_.push_back(placed(kind, first, end, line));
}

Violation BlockRecorder::placed(Violation::Kind kind, int64_t first, int64_t end,
                                uint32_t line) const {
  Violation violation{kind, {}, block_, first, static_cast<uint64_t>(end - first), line};
  for (const BoundPointer& pointer : pointers_) {
    if (first >= static_cast<int64_t>(pointer.begin) && first < static_cast<int64_t>(pointer.end)) {
      violation.argument = pointer.name;
      violation.offset = first - static_cast<int64_t>(pointer.value);
      break;
    }
  }
  return violation;
}

AccessTightness BlockRecorder::tightness(const ByteRuns& claimed, bool any, size_t argument,
                                         const ByteRuns& touched) const {
  const BoundPointer& pointer = pointers_[argument];
  const auto value = static_cast<int64_t>(pointer.value);
  if (!any) return {count_bytes(claimed), common_bytes(claimed, value, touched)};
  const ByteRuns buffer = {
      {static_cast<int64_t>(pointer.begin), static_cast<int64_t>(pointer.end)}};
  return {pointer.end - pointer.begin, common_bytes(buffer, 0, touched)};
}

BlockFindings BlockRecorder::finish() {
  BlockFindings findings;
  const ByteRuns reads = touched_reads_.take();
  const ByteRuns writes = touched_writes_.take();
  for (size_t i = 0; i < pointers_.size(); ++i) {
    const BlockClaims::Argument& claim = claims_.arguments[i];
    findings.arguments.push_back({tightness(claim.reads, claim.reads_any, i, reads),
                                  tightness(claim.writes, claim.writes_any, i, writes),
                                  count_bytes(claim.must_writes)});
    if (claim.must_writes.empty()) continue;
    const int64_t missing =
        first_missing(claim.must_writes, static_cast<int64_t>(pointers_[i].value), writes);
    if (missing != claim.must_writes.back().end) {
      violations_.push_back(
          {Violation::Kind::missing_must_write, pointers_[i].name, block_, missing, 1, 0});
    }
  }
  findings.violations = std::move(violations_);
  return findings;
}

}  // namespace

LaunchCheck::LaunchCheck(std::shared_ptr<FootprintClaims> claims,
                         std::vector<BoundPointer> pointers, BlockChoice choice,
                         size_t parameter_bytes, SetAccessSink set_sink,
                         std::shared_ptr<Findings> findings)
    : claims_(std::move(claims)),
      pointers_(std::move(pointers)),
      choice_(choice),
      parameter_bytes_(parameter_bytes),
      set_sink_(std::move(set_sink)),
      findings_(std::move(findings)) {}

void LaunchCheck::run(const SluiceBlockCode& code, const SluiceBlockLaunch& launch,
                      uint32_t first_block, uint32_t block_count, void* scratch) {
  const auto run_at = [](const void* memory, uint64_t bytes) {
    const auto first = reinterpret_cast<int64_t>(memory);
    return Range{first, first + static_cast<int64_t>(bytes)};
  };
  const ByteRuns own_memory = {stack_of_this_thread(), run_at(scratch, code.scratch_bytes),
                               run_at(launch.parameters, parameter_bytes_)};
  for (uint32_t block = first_block; block < first_block + block_count; ++block) {
    const std::shared_ptr<const BlockClaims> claims =
        choice_.has(block) ? claims_->of(block) : nullptr;
    if (claims == nullptr) {
      code.function(&launch, block, 1, scratch);
      continue;
    }
    BlockRecorder recorder(*claims, pointers_, claims_->index_of(block), own_memory);
    const SluiceAccessSink sink{&BlockRecorder::heard, &recorder};
    set_sink_(&sink);
    code.function(&launch, block, 1, scratch);
    set_sink_(nullptr);
    findings_->add(recorder.finish());
  }
}

}  // namespace sluice::runtime
