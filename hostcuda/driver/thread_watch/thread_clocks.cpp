#include "hostcuda/driver/thread_watch/thread_clocks.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace sluice::hostcuda {
namespace {

void join(std::vector<uint32_t>& to, const std::vector<uint32_t>& from) {
  if (from.empty()) return;
  to.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    to[i] = std::max(to[i], from[i]);
}

}  // namespace

void ThreadClocks::begin_block() {
  end_phase();
  std::ranges::fill(waits_, Waits::no);
}

void ThreadClocks::end_phase() {
  ++phase_;
  std::ranges::replace(waits_, Waits::block, Waits::no);
  if (!orders_threads_) return;
  barriers_.clear();
  warps_.clear();
  words_.clear();
}

ThreadClocks::Thread& ThreadClocks::at(uint32_t thread) {
  Thread& found = all_[thread];
  if (found.phase != phase_) {
    found.phase = phase_;
    found.time = 1;
    if (!std::exchange(found.has_learnt, false)) return found;
    found.known.fill(0);
    found.others.clear();
    found.released.clear();
  }
  return found;
}

ThreadClocks::Times ThreadClocks::knowledge(uint32_t thread) {
  const Thread& of = at(thread);
  Times times = of.others;
  times.resize(threads_);
  const uint32_t first = thread - thread % lanes;
  for (uint32_t lane = 0; lane < lanes && first + lane < threads_; ++lane)
    times[first + lane] = std::max(times[first + lane], of.known[lane]);
  times[thread] = of.time;
  return times;
}

void ThreadClocks::learn(uint32_t thread, const Times& times) {
  if (times.empty()) return;
  Thread& who = at(thread);
  who.has_learnt = true;
  join(who.others, times);
  const uint32_t first = thread - thread % lanes;
  for (uint32_t lane = 0; lane < lanes && first + lane < threads_; ++lane)
    who.known[lane] = std::max(who.known[lane], times[first + lane]);
}

void ThreadClocks::come(Group& group, uint32_t thread, bool waits) {
  group.members.push_back(thread);
  if (waits) group.waiting.push_back(thread);
}

// end() tells those who waited what all brought.
void ThreadClocks::end(Group& group) {
  const uint32_t warp = group.members.front() / lanes;
  const bool is_one_warp = std::ranges::all_of(group.members, [&](uint32_t member) {
    return member / lanes == warp && at(member).others.empty();
  });
  if (is_one_warp) {
    std::array<uint32_t, lanes> known{};
    for (const uint32_t member : group.members) {
      const Thread& of = at(member);
      for (uint32_t lane = 0; lane < lanes; ++lane)
        known[lane] = std::max(known[lane], of.known[lane]);
      known[member % lanes] = std::max(known[member % lanes], of.time);
    }
    for (const uint32_t member : group.waiting) {
      Thread& who = at(member);
      who.has_learnt = true;
      who.known = known;
    }
  } else {
    Times all;
    for (const uint32_t member : group.members)
      join(all, knowledge(member));
    for (const uint32_t member : group.waiting)
      learn(member, all);
  }
  for (const uint32_t member : group.members)
    ++at(member).time;
  for (const uint32_t member : group.waiting)
    waits_[member] = Waits::no;
}

// resume() ends the meeting that the thread waited in.
void ThreadClocks::resume(uint32_t thread) {
  const Thread& who = all_[thread];
  const auto end_in = [&](auto& groups, uint64_t key) {
    const auto found =
        groups.find(static_cast<typename std::decay_t<decltype(groups)>::key_type>(key));
    if (found == groups.end()) return;
    Group group = std::move(found->second);
    groups.erase(found);
    end(group);
  };
  switch (std::exchange(waits_[thread], Waits::no)) {
    case Waits::no:
      return;
    case Waits::block:
      return end_phase();
    case Waits::named:
      return end_in(barriers_, who.at);
    case Waits::warp:
      return end_in(warps_, uint64_t{thread / lanes} << 32 | who.at);
  }
}

void ThreadClocks::meet_lanes(uint32_t thread, uint32_t mask) {
  waits_[thread] = Waits::warp;
  at(thread).at = mask;
  const uint64_t key = uint64_t{thread / lanes} << 32 | mask;
  Group& group = warps_[key];
  come(group, thread, true);
  if (group.members.size() < static_cast<size_t>(std::popcount(mask))) return;
  end(group);
  warps_.erase(key);
}

void ThreadClocks::meets(const ThreadMeeting& meeting) {
  using Kind = ThreadMeeting::Kind;
  resume(meeting.thread);
  const bool is_of_all = meeting.count == 0 || meeting.count >= threads_;
  if (meeting.kind == Kind::begin) return;
  if (meeting.kind == Kind::barrier && is_of_all) {
    waits_[meeting.thread] = Waits::block;
    return;
  }
  Thread& who = at(meeting.thread);
  switch (meeting.kind) {
    case Kind::begin:
      return;
    case Kind::warp:
      orders_threads_ = true;
      return meet_lanes(meeting.thread, meeting.number);
    case Kind::barrier:
    case Kind::barrier_arrive: {
      const bool waits = meeting.kind == Kind::barrier;
      orders_threads_ = orders_warps_ = true;
      Group& group = barriers_[meeting.number];
      come(group, meeting.thread, waits);
      if (waits) {
        waits_[meeting.thread] = Waits::named;
        who.at = meeting.number;
      }
      if (meeting.count == 0 || group.members.size() < meeting.count) return;
      end(group);
      barriers_.erase(meeting.number);
      return;
    }
    case Kind::fence:
      orders_threads_ = orders_warps_ = true;
      who.has_learnt = true;
      who.released = knowledge(meeting.thread);
      ++who.time;
      return;
    case Kind::word_arrive:
      orders_threads_ = orders_warps_ = true;
      join(words_[meeting.place], knowledge(meeting.thread));
      ++who.time;
      return;
    case Kind::async_commit:
    case Kind::async_wait:
      return;
    case Kind::word_wait:
      if (const auto word = words_.find(meeting.place); word != words_.end())
        learn(meeting.thread, word->second);
      return;
  }
}

void ThreadClocks::order(const ThreadAccess& access) {
  resume(access.thread);
  if ((access.kind & access_kind::is_strong) != 0 && (access.kind & access_kind::reads) != 0) {
    if (const auto word = words_.find(access.address); word != words_.end()) {
      learn(access.thread, word->second);
    }
  }
  at(access.thread);
}

void ThreadClocks::accessed(const ThreadAccess& access) {
  if ((access.kind & access_kind::is_strong) == 0 || (access.kind & access_kind::writes) == 0)
    return;
  Thread& who = at(access.thread);
  if ((access.kind & access_kind::releases) != 0) {
    orders_threads_ = orders_warps_ = true;
    join(words_[access.address], knowledge(access.thread));
    ++who.time;
  } else if (!who.released.empty()) {
    join(words_[access.address], who.released);
  }
}

bool ThreadClocks::is_known(const Moment& earlier, uint32_t thread) {
  const Thread& who = at(thread);
  if (earlier.thread / lanes == thread / lanes)
    return who.known[earlier.thread % lanes] >= earlier.time;
  return !who.others.empty() && who.others[earlier.thread] >= earlier.time;
}

}  // namespace sluice::hostcuda
