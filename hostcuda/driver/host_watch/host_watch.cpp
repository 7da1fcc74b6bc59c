#include "hostcuda/driver/host_watch/host_watch.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <sys/mman.h>

#include "base/thread/return_addresses.hpp"
#include "hostcuda/driver/memory/allocation_table.hpp"
#include "hostcuda/driver/stream/engine.hpp"

namespace sluice::hostcuda {
namespace {

constexpr size_t page_bytes = AllocationTable::page_bytes;

void access_pages(const Spans& pages, int protection) {
  for (const Span& span : pages)
    mprotect(reinterpret_cast<void*>(span.begin), span.end - span.begin, protection);
}

const char* kind_name(MemoryKind kind) {
  return kind == MemoryKind::managed ? "managed"
         : kind == MemoryKind::host  ? "pinned"
                                     : "registered";
}

// orders() is whether work of one kind of queue comes after all earlier work of the other.
bool orders(QueueKind a, QueueKind b) {
  return (a == QueueKind::legacy && b == QueueKind::blocking) ||
         (a == QueueKind::blocking && b == QueueKind::legacy);
}

}  // namespace

std::shared_ptr<HostWatch::Entry> HostWatch::made(const Work& work) {
  auto entry = std::make_shared<Entry>();
  work.describe_use(entry->use);
  entry->name = entry->use.name;
  entry->may_wait = work.may_wait_for_host();
  if (!within_work()) entry->depth = return_addresses(entry->site);
  return entry;
}

void HostWatch::submitted(std::shared_ptr<Entry> entry, const Ticket& ticket,
                          const std::vector<Ticket>& after) {
  const std::lock_guard lock(mutex_);
  entry->ticket = ticket;
  entry->after = after;
  claim(*entry);
  if (entry->source.begin != 0) keep_source(*entry);
  entries_.push_back(std::move(entry));
  protect();
}

void HostWatch::protect() {
  Spans all;
  for (const auto& entry : entries_)
    all.insert(all.end(), entry->claims.begin(), entry->claims.end());
  all = joined(std::move(all));
  access_pages(without(protected_, all), PROT_READ | PROT_WRITE);
  access_pages(without(all, protected_), PROT_NONE);
  protected_ = std::move(all);
}

HostWatch::Entries HostWatch::closure(const std::vector<Ticket>& tickets) const {
  std::map<const StreamQueue*, uint64_t> reached;
  const auto reach = [&](const Ticket& ticket) {
    if (ticket.queue == nullptr) return;
    uint64_t& number = reached[ticket.queue.get()];
    number = std::max(number, ticket.number);
  };
  std::ranges::for_each(tickets, reach);
  bool has_legacy = false, has_blocking = false;
  Entries found;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    const Ticket& ticket = (*entry)->ticket;
    const QueueKind kind = ticket.queue->kind();
    const auto number = reached.find(ticket.queue.get());
    const bool is_before = (number != reached.end() && ticket.number <= number->second) ||
                           (has_legacy && orders(QueueKind::legacy, kind)) ||
                           (has_blocking && orders(QueueKind::blocking, kind));
    if (!is_before) continue;
    reach(ticket);
    std::ranges::for_each((*entry)->after, reach);
    has_legacy |= kind == QueueKind::legacy;
    has_blocking |= kind == QueueKind::blocking;
    found.push_back(*entry);
  }
  return found;
}

std::vector<Ticket> HostWatch::release(const std::vector<Ticket>& tickets, bool* may_wait) {
  const std::lock_guard lock(mutex_);
  std::vector<Ticket> all;
  std::ranges::copy_if(tickets, std::back_inserter(all),
                       [](const Ticket& ticket) { return ticket.queue != nullptr; });
  *may_wait = false;
  for (const auto& entry : closure(tickets)) {
    *may_wait |= entry->may_wait && !entry->ticket.is_done();
    all.push_back(entry->ticket);
    entry->claims.clear();
  }
  protect();
  return all;
}

void HostWatch::seen(const std::vector<Ticket>& tickets) {
  const std::lock_guard lock(mutex_);
  const Entries known = closure(tickets);
  const std::set<std::shared_ptr<Entry>> gone(known.begin(), known.end());
  std::erase_if(entries_, [&](const auto& entry) { return gone.contains(entry); });
  protect();
}

void HostWatch::add_unseen(const StreamQueue* queue, std::vector<Ticket>& tickets) {
  const std::lock_guard lock(mutex_);
  for (const auto& entry : entries_) {
    const Ticket& ticket = entry->ticket;
    if (queue == nullptr || ticket.queue.get() == queue ||
        orders(queue->kind(), ticket.queue->kind()))
      tickets.push_back(ticket);
  }
}

CUresult HostWatch::run(const StreamQueue& queue, const Work& work, BlockPool& pool) {
  std::shared_ptr<Entry> entry;
  std::optional<AccessRecord> record;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& candidate : entries_) {
      const Ticket& ticket = candidate->ticket;
      if (ticket.queue.get() != &queue || ticket.is_done()) continue;
      entry = candidate;
      break;
    }
    if (entry != nullptr && entry->use.is_kernel && is_tracing_) record.emplace(host_memory());
  }
  WatchedRun watched;
  if (record) watched.record = &*record;
  if (entry != nullptr && !entry->kept.empty()) {
    const auto* now = reinterpret_cast<const std::byte*>(entry->source.begin);
    const auto changed = std::mismatch(entry->kept.begin(), entry->kept.end(), now);
    watched.kept_source = entry->kept.data();
    if (changed.first != entry->kept.end())
      tell(*entry, {.address = reinterpret_cast<uintptr_t>(changed.second), .writes = true}, false);
  }
  const CUresult result = work.run_watched(pool, watched);
  if (record) {
    const std::lock_guard lock(mutex_);
    entry->reads = record->reads();
    entry->writes = record->writes();
  }
  return result;
}

bool HostWatch::is_ours(uintptr_t address) {
  const std::lock_guard lock(mutex_);
  return find(protected_, address) != nullptr;
}

void HostWatch::open(uintptr_t address) {
  const std::lock_guard lock(mutex_);
  const uintptr_t begin = address - address % page_bytes;
  const Spans page = {{begin, begin + page_bytes}};
  access_pages(page, PROT_READ | PROT_WRITE);
  protected_ = without(protected_, page);
}

std::vector<Ticket> HostWatch::before(const Touch& touch) {
  const std::lock_guard lock(mutex_);
  std::vector<Ticket> tickets;
  for (const auto& entry : entries_) {
    if (find(entry->claims, touch.address) != nullptr && !entry->ticket.is_done())
      tickets.push_back(entry->ticket);
  }
  is_tracing_ = true;
  return tickets;
}

void HostWatch::end(const Touch& touch) {
  std::shared_ptr<Entry> conflict;
  bool it_writes = false;
  {
    const std::lock_guard lock(mutex_);
    is_tracing_ = false;
    for (const auto& entry : entries_) {
      if (!entry->ticket.is_done()) continue;
      const bool writes = find(entry->writes, touch.address) != nullptr;
      const bool reads = touch.writes && find(entry->reads, touch.address) != nullptr;
      if (conflict == nullptr && !entry->is_told && (writes || reads)) {
        conflict = entry;
        it_writes = writes;
      }
      Spans used = entry->writes;
      if (entry->use.is_kernel) used.insert(used.end(), entry->reads.begin(), entry->reads.end());
      entry->claims = pages_of(joined(std::move(used)));
    }
    protect();
  }
  if (conflict != nullptr) tell(*conflict, touch, it_writes);
  open(touch.address);
}

void HostWatch::give_up(const Touch& touch) {
  {
    const std::lock_guard lock(mutex_);
    is_tracing_ = false;
  }
  open(touch.address);
}

void HostWatch::open_all() {
  access_pages(protected_, PROT_READ | PROT_WRITE);
}

void HostWatch::tell(Entry& entry, const Touch& touch, bool entry_writes) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(entry.is_told, true)) return;
  }
  const std::optional<Allocation> allocation = memory_.find(touch.address);
  if (!allocation) return;
  const SluiceHostTouch told = {.work = entry.name.c_str(),
                                .memory = kind_name(allocation->kind),
                                .offset = touch.address - allocation->address,
                                .bytes = allocation->bytes,
                                .host_writes = touch.writes ? 1U : 0U,
                                .work_writes = entry_writes ? 1U : 0U,
                                .work_site = entry.site.data(),
                                .work_site_depth = entry.depth,
                                .site = touch.site.data(),
                                .site_depth = touch.depth};
  told_(data_, &told);
}

}  // namespace sluice::hostcuda
