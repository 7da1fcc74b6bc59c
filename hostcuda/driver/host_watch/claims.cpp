// What memory of the host's a piece of work may use.
#include <algorithm>
#include <optional>
#include <utility>

#include <pthread.h>

#include "base/number/divide_up.hpp"
#include "hostcuda/driver/host_watch/host_watch.hpp"
#include "hostcuda/driver/memory/allocation_table.hpp"

namespace sluice::hostcuda {
namespace {

const Span& stack_of_this_thread() {
  static thread_local Span stack;
  pthread_attr_t attributes;
  if (stack.end != 0 || pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
  void* begin = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &begin, &bytes);
  pthread_attr_destroy(&attributes);
  stack = {reinterpret_cast<uintptr_t>(begin), reinterpret_cast<uintptr_t>(begin) + bytes};
  return stack;
}

Span span_of(const Allocation& allocation) {
  return {allocation.address, allocation.address + allocation.bytes};
}

}  // namespace

void HostWatch::claim(Entry& entry) {
  const HostUse& use = entry.use;
  Spans bytes;
  if (use.is_kernel) {
    memory_.for_each_host_reachable([&](const Allocation& allocation) {
      const bool may_be_used =
          allocation.kind == MemoryKind::managed ||
          std::ranges::any_of(use.pointers, [&](uintptr_t p) { return allocation.covers(p, 1); });
      if (may_be_used) bytes.push_back(span_of(allocation));
    });
  } else if (!use.reads.empty() || !use.writes.empty()) {
    const Spans memory = host_memory();
    for (const Span& span : use.writes) {
      if (find(memory, span.begin) != nullptr) entry.writes.push_back(span);
    }
    entry.writes = joined(std::move(entry.writes));
    bytes = entry.writes;
    for (const Span& span : use.reads) {
      if (find(memory, span.begin) != nullptr) entry.reads.push_back(span);
    }
    if (use.reads.size() == 1 && entry.reads.size() == 1) entry.source = entry.reads.front();
    entry.reads = joined(std::move(entry.reads));
  }
  entry.claims = pages_of(joined(std::move(bytes)));
}

// What earlier work may still write is not yet what the copy will read.
void HostWatch::keep_source(Entry& entry) {
  const bool is_settled = std::ranges::none_of(entries_, [&](const auto& earlier) {
    const auto meets = [&](const Span& span) { return span.overlaps(entry.source); };
    return std::ranges::any_of(earlier->claims, meets) ||
           std::ranges::any_of(earlier->writes, meets);
  });
  if (!is_settled || find(protected_, entry.source.begin) != nullptr) return;
  const auto* begin = reinterpret_cast<const std::byte*>(entry.source.begin);
  entry.kept.assign(begin, begin + (entry.source.end - entry.source.begin));
}

Spans HostWatch::host_memory() const {
  Spans all;
  memory_.for_each_host_reachable(
      [&](const Allocation& allocation) { all.push_back(span_of(allocation)); });
  return joined(std::move(all));
}

// Pages of the table's own are nobody else's; of what the program has registered only whole pages
// are, and none of a stack, on which the program could not even be told of a fault.
Spans HostWatch::pages_of(const Spans& bytes) const {
  Spans pages;
  for (const Span& span : bytes) {
    const std::optional<Allocation> allocation = memory_.find(span.begin);
    if (!allocation) continue;
    const bool is_registered = allocation->kind == MemoryKind::registered;
    if (is_registered && span.overlaps(stack_of_this_thread())) continue;
    if (is_registered) {
      pages.push_back({round_up(span.begin, AllocationTable::page_bytes),
                       span.end - span.end % AllocationTable::page_bytes});
    } else {
      pages.push_back({span.begin - span.begin % AllocationTable::page_bytes,
                       round_up(span.end, AllocationTable::page_bytes)});
    }
  }
  return joined(std::move(pages));
}

}  // namespace sluice::hostcuda
